"""The function that goes from tile to tile: what is written for the assembler calls what LLVM's
code calls, with the same numbers.

Tiles are functions of Python's here, which note what they are told.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from weft._src.execution.native.loops.kernels import tile_assembly, tile_driver
from weft._src.execution.native.loops.kernels.tile_driver import POINTERS, WORDS
from weft._src.execution.native.machine import llvm

_TILE = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 19)


def function_of(name: str, text: str) -> Any:
    code = llvm.MachineCode(llvm.finished_code(text))
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)
    function = signature(code.address(name))
    function.code = code  # type: ignore[attr-defined]
    return function


def both(kind: str) -> list[Any]:
    name = tile_driver.symbol(kind)
    texts = [tile_driver._text(name, kind), tile_driver.driver_for_llvm(name, kind)]
    return [function_of(name, text) for text in texts]


def region(rng: Any, functions: dict[str, int]) -> tuple[list[int], int]:
    """Words that fit together, and how many blocks they tell of."""
    found = {word: int(rng.integers(-50, 50)) for word in WORDS}
    lines, panels, steps = (int(n) for n in rng.integers(1, 8, 3))
    of_lines, of_panels, chunk = (int(rng.integers(1, n + 1)) for n in (lines, panels, steps))
    line_blocks, panel_blocks = -(-lines // of_lines), -(-panels // of_panels)
    found |= {
        "blocks": line_blocks * panel_blocks, "line_blocks": line_blocks,
        "block_lines": of_lines, "lines": lines, "block_panels": of_panels, "panels": panels,
        "whole_panels": panels - int(rng.integers(2)), "n0": steps, "chunk": chunk,
        "chunks": -(-steps // chunk), "goes_on": int(rng.integers(2)),
        "low_tiles": int(rng.integers(3)), "high_tiles": int(rng.integers(1, 4)),
        **{f"count{i}": int(rng.integers(1, 4)) for i in range(tile_driver.LINE_LEVELS)},
        **functions,
    }  # fmt: skip
    return [found[word] for word in WORDS], found["blocks"]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["float", "double"])
def test_the_calls_of_llvm(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    calls: list[Any] = []
    tiles = {
        name: _TILE(lambda *numbers, name=name: calls.append((name, *numbers)))
        for name in sorted(POINTERS)
    }
    addresses = {n: ctypes.cast(f, ctypes.c_void_p).value or 0 for n, f in tiles.items()}
    regions = [region(rng, addresses) for _ in range(3)]
    words = [word for found, _ in regions for word in found]
    table, blocks = (ctypes.c_int64 * len(words))(*words), sum(n for _, n in regions)
    begin = int(rng.integers(blocks))
    end = int(rng.integers(begin, blocks)) + 1
    found = []
    for function in both(kind):
        calls.clear()
        function(ctypes.addressof(table), 1 << 20, 1 << 30, 1 << 40, begin, end)
        found.append(list(calls))
    written, of_llvm = found
    assert written
    assert written == of_llvm


def test_llvm_writes_it_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    name = tile_driver.symbol("float")
    here = tile_driver._text(name, "float")
    assert here.startswith("module asm") == tile_assembly.is_known_system()
    monkeypatch.setattr(tile_assembly, "is_known_system", lambda: False)
    assert f"define void @{name}" in tile_driver._text(name, "float")
