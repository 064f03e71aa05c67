"""Tiles as they are written for the assembler: the bits of those that LLVM makes, and no byte more.

All arrays end at a page that nobody may touch.
"""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from weft._src.execution.native.loops.kernels import tile_assembly, tile_library
from weft._src.execution.native.loops.kernels.blocking import most_rows
from weft._src.execution.native.loops.kernels.tile_library import Tile
from weft._src.execution.native.machine import guarded, llvm

rng = np.random.default_rng(11)

KINDS = {"float": np.float32, "double": np.float64}
WIDTHS = [w for w in (32, 64) if llvm.vector_bytes() >= w]
# Rows and vectors: all that fit into few registers, the most for many, and in between.
SIZES = [(1, 1), (2, 3), (3, 2), (5, 1), (6, 2), (8, 1), (9, 3), (6, 4), (11, 2), (14, 2), (15, 1)]
Function = Any


@dataclass(frozen=True)
class Call:
    """What a tile is told."""

    tiles: int
    last: int  # lanes of the last vector
    adds: int
    depth: tuple[int, int, int]
    gap: int  # between rows of a and of c, in elements


def tile_of(kind: str, width: int, rows: int, vectors: int, channels: bool) -> Tile:
    return Tile(kind, width // KINDS[kind]().itemsize, rows, vectors, channels)


def bits_of(tile: Tile) -> int:
    return 8 * KINDS[tile.kind]().itemsize


def function_of(tile: Tile, text: str) -> Function:
    code = llvm.MachineCode(llvm.finished_code(text))
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 16)
    function = signature(code.address(tile.symbol))
    function.code = code  # type: ignore[attr-defined]
    return function


def both(tile: Tile) -> list[Function]:
    written = tile_assembly.assembly(tile, bits_of(tile))
    assert written is not None, f"{tile.symbol} is not written for this processor"
    return [function_of(tile, text) for text in (written, tile_library.tile_for_llvm(tile))]


def end_at_forbidden_page(numbers: Any) -> Any:
    found = guarded.empty(numbers.shape, numbers.dtype)
    found[...] = numbers
    return found


def results(tile: Tile, call: Call) -> list[Any]:
    """Of both functions, after those that NumPy computes, row by row of memory."""
    dtype = KINDS[tile.kind]
    columns = (tile.vectors - 1) * tile.lanes + call.last
    width = columns if tile.channels else tile.vectors * tile.lanes  # that is read of b
    n0, n1, n2 = call.depth
    steps = n0 * n1 * n2
    numbers = columns if tile.channels else 1  # of a, in each step
    # Rows of a: the innermost loop reads on, the second backwards, the first over a gap.
    s2, s1 = numbers, -numbers * n2
    s0 = numbers * n1 * n2 + 1
    first = numbers * n2 * max(n1 - 1, 0)
    a_row = n0 * s0 + call.gap
    rows = call.tiles * tile.rows
    a_size = first + (rows - 1) * a_row + (n0 - 1) * s0 + (n2 - 1) * s2 + numbers
    a = end_at_forbidden_page(rng.normal(size=max(a_size, 0)).astype(dtype))
    b = end_at_forbidden_page(rng.normal(size=(max(steps, 1) - 1) * width + width).astype(dtype))
    c_row = columns + call.gap
    start = rng.normal(size=max((rows - 1) * c_row + columns, 0)).astype(dtype)

    expected = start.copy()
    for r in range(rows):
        total = (start if call.adds else np.zeros_like(start))[r * c_row :][:columns].copy()
        for i, (d0, d1, d2) in enumerate(itertools.product(range(n0), range(n1), range(n2))):
            at = first + r * a_row + d0 * s0 + d1 * s1 + d2 * s2
            total += a[at : at + numbers] * b[i * width :][:columns]
        expected[r * c_row :][:columns] = total

    out = [expected]
    for function in both(tile):
        c = end_at_forbidden_page(start)
        t0, t1, t2 = n1 * n2 * width, n2 * width, width
        item = a.itemsize
        function(
            a.ctypes.data + first * item, b.ctypes.data, c.ctypes.data,
            call.tiles, a_row, c_row, call.last, call.adds, 1000, 700,
            n0, s0, t0, n1, s1, t1, n2, s2, t2,
        )  # fmt: skip
        out.append(c)
    return out


CALLS = [
    Call(tiles=3, last=-1, adds=0, depth=(2, 3, 4), gap=0),
    Call(tiles=2, last=-1, adds=1, depth=(1, 1, 5), gap=3),
    Call(tiles=1, last=1, adds=0, depth=(3, 2, 1), gap=1),
    Call(tiles=2, last=1, adds=1, depth=(1, 2, 3), gap=0),
    Call(tiles=2, last=3, adds=1, depth=(2, 0, 3), gap=2),
    Call(tiles=2, last=3, adds=0, depth=(0, 1, 3), gap=2),
    Call(tiles=40, last=3, adds=1, depth=(1, 1, 2), gap=5),  # more than panels have parts
]


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("channels", [False, True], ids=["product", "channels"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_bits_of_llvm(width: int, kind: str, channels: bool, call: Call) -> None:
    tried = 0
    for rows, vectors in SIZES:
        tile = tile_of(kind, width, rows, vectors, channels)
        if rows > most_rows_of(width, vectors):
            continue
        last = tile.lanes if call.last < 0 else call.last
        expected, written, of_llvm = results(tile, Call(**{**vars(call), "last": last}))
        np.testing.assert_array_equal(written, of_llvm, err_msg=tile.symbol)
        tolerance = 1e-5 if kind == "float" else 1e-13
        np.testing.assert_allclose(written, expected, tolerance, tolerance, err_msg=tile.symbol)
        tried += 1
    assert tried >= 5


def most_rows_of(width: int, vectors: int) -> int:
    return {64: {1: 15, 2: 14, 3: 9, 4: 6}, 32: {1: 8, 2: 6, 3: 4, 4: 2}}[width][vectors]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_nan_and_infinity_stay_in_their_rows(width: int, kind: str) -> None:
    tile = tile_of(kind, width, 5, 2, False)
    dtype, columns = KINDS[kind], 2 * tile.lanes
    a = np.ones((5, 3), dtype)
    a[1, 2], a[3, 0] = np.nan, -np.inf
    b = np.ones((3, columns), dtype)
    for function in both(tile):
        c = np.zeros((5, columns), dtype)
        depth = [1, 0, 0, 1, 0, 0, 3, 1, columns]
        where = [x.ctypes.data for x in (a, b, c)]
        function(*where, 1, 3, columns, tile.lanes, 0, 0, 0, *depth)
        rows = np.array([3, np.nan, 3, -np.inf, 3], dtype)
        np.testing.assert_array_equal(c, np.repeat(rows[:, None], columns, 1))


def test_all_tiles_of_products_are_written_on_processors_that_are_known() -> None:
    bits = {"float": 32, "double": 64}
    known = bool(WIDTHS) and tile_assembly._is_known(WIDTHS[-1])
    for kind, channels, vectors in itertools.product(KINDS, (False, True), (1, 2, 3, 4)):
        for rows in range(1, most_rows(vectors) + 1):
            tile = tile_of(kind, llvm.vector_bytes(), rows, vectors, channels)
            assert (tile_assembly.assembly(tile, bits[kind]) is not None) == known, tile


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("sys.platform", "darwin"),
        ("platform.machine", lambda: "aarch64"),
        ("weft._src.execution.native.machine.llvm.has_features", lambda *names: False),
    ],
    ids=["system", "architecture", "processor"],
)
def test_llvm_writes_tiles_elsewhere(
    what: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what, value)
    tile = tile_of("float", llvm.vector_bytes(), 3, 1, False)
    assert tile_assembly.assembly(tile, 32) is None
    text = tile_library._text(tile.symbol, "weft_tile", "float", str(tile.lanes), "3", "1")
    assert f"define void @{tile.symbol}" in text


def test_what_does_not_fit_into_registers_is_left_to_llvm() -> None:
    for width in WIDTHS:
        assert tile_assembly.assembly(tile_of("float", width, 16, 1, False), 32) is None
        assert tile_assembly.assembly(tile_of("float", width, 8, 4, False), 32) is None
