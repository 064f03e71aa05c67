"""How attention is cut into blocks of scores, and the code that goes from block to block.

A piece of work, which one thread does, is some places of the batch (heads), or some queries of one.
There keys become stripes once. Then come some queries after the other, and for these some keys
after the other: a block of scores, which stays in the second-level cache while it is computed, is
changed, and meets the values. All products are tiles (`tile_driver.py`); no matrix is copied that
lies as they read it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.core.processors import second_cache_bytes, threads_per_op
from weft._src.execution.native.loops.kernels import tile_driver
from weft._src.execution.native.loops.kernels.blocking import (
    Blocks,
    Level,
    Places,
    fewest_loops,
    lanes_of,
)
from weft._src.execution.native.loops.kernels.tile_library import Tile
from weft._src.execution.native.loops.kernels.tiles import region_words, table_of
from weft._src.execution.native.machine import library
from weft._src.execution.native.machine.builder import FINISHED_LOOP, Module, filled
from weft._src.ops.nn.attention import Axes, batch_of, sizes_of

_ROWS = 64  # queries of a block
_LEAST_COLUMNS = 128  # keys of a block, if there are as many
_PER_THREAD = 4  # pieces, where there are as many queries
_MASKED_COLUMNS = 128  # keys of a block where some blocks may be left out


class Writer:
    """Lines of LLVM IR, with names of their own for registers and blocks."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = 0
        self._block = "entry"

    def let(self, instruction: str) -> str:
        """A register that holds what an instruction gives."""
        self._names += 1
        self.lines.append(f"%x{self._names} = {instruction}")
        return f"%x{self._names}"

    def line(self, instruction: str) -> None:
        """An instruction that gives nothing."""
        self.lines.append(instruction)

    @contextmanager
    def loop(self, count: int | str) -> Iterator[str]:
        """What is written meanwhile is done so often, at least once; gives the number."""
        self._names += 1
        name, above = f"i{self._names}", self._block
        self._block = f"{name}.head"
        self.lines += [
            f"br label %{name}.head",
            f"{name}.head:",
            f"%{name} = phi i64 [0, %{above}], [%{name}.next, %{name}.latch]",
        ]
        yield f"%{name}"
        self.lines += [
            f"br label %{name}.latch",
            f"{name}.latch:",
            f"%{name}.next = add nuw nsw i64 %{name}, 1",
            f"%{name}.more = icmp ult i64 %{name}.next, {count}",
            f"br i1 %{name}.more, label %{name}.head, label %{name}.end, {FINISHED_LOOP}",
            f"{name}.end:",
        ]
        self._block = f"{name}.end"

    @contextmanager
    def unless(self, condition: str) -> Iterator[None]:
        """What is written meanwhile is left out where a condition holds."""
        self._names += 1
        name = f"b{self._names}"
        self._block = f"{name}.then"
        self.lines += [f"br i1 {condition}, label %{name}.end, label %{name}.then", f"{name}.then:"]
        yield
        self.lines += [f"br label %{name}.end", f"{name}.end:"]
        self._block = f"{name}.end"

    def sum_of(self, *terms: tuple[str, int]) -> str:
        """The sum of registers times numbers."""
        total = "0"
        for register, factor in terms:
            if factor == 0:
                continue
            product = self.let(f"mul nsw i64 {register}, {factor}")
            total = product if total == "0" else self.let(f"add nsw i64 {total}, {product}")
        return total

    def place(self, kind: str, pointer: str, *terms: tuple[str, int]) -> str:
        """A pointer to an element further on."""
        offset = self.sum_of(*terms)
        if offset == "0":
            return pointer
        return self.let(f"getelementptr {kind}, ptr {pointer}, i64 {offset}")

    def part(self, number: str, size: int, total: int) -> tuple[str, str, str]:
        """Of equal parts of a range: where one begins, its size, and 1 if that is less than all."""
        first = self.let(f"mul nuw nsw i64 {number}, {size}")
        left = self.let(f"sub nsw i64 {total}, {first}")
        count = self.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {size})")
        is_less = self.let(f"icmp ult i64 {count}, {size}")
        return first, count, self.let(f"zext i1 {is_less} to i64")


@dataclass(frozen=True)
class Attention:
    """The sizes of an attention, and where the numbers of its tensors lie."""

    dtype: DType
    axes: Axes
    dims: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # of q, k and v

    @property
    def kind(self) -> str:
        """The LLVM type of a number."""
        return "float" if self.dtype is dtypes.float32 else "double"

    @property
    def lanes(self) -> int:
        """Numbers of a vector."""
        return lanes_of(self.dtype)

    @property
    def sizes(self) -> dict[str, int]:
        """By the letters of `ops.nn.attention`."""
        return sizes_of(self.axes, *self.dims)

    @property
    def batch(self) -> tuple[int, ...]:
        """The sizes of its batch, heads among them."""
        sizes = self.sizes
        return tuple([sizes[letter] for letter in batch_of(self.axes)])

    def strides(self, i: int) -> dict[str, int]:
        """How far apart elements of q, k, v or the result lie along each axis."""
        found, step, sizes = {}, 1, self.sizes
        for letter in reversed(self.axes[i]):
            found[letter] = step
            step *= sizes[letter]
        return found

    def padded(self, size: int) -> int:
        """A number of columns, up to whole vectors."""
        return -(-size // self.lanes) * self.lanes

    def vectors(self, columns: int) -> int:
        """Of a panel with so many columns: two, so that a panel stays in the first-level cache."""
        return 2 if columns > self.lanes else 1

    def lies_ready(self, i: int) -> bool:
        """Whether rows of q, k, v or the result are whole vectors, one behind the other."""
        row = self.sizes[self.axes[i][-1]]
        return (
            row % self.lanes == 0
            and self.strides(i)[self.axes[i][-2]] == row
            and (self.axes[i][-2] in "mn")
        )


class Cut:
    """The blocks of an attention that has so many matrices of scores at a time."""

    def __init__(
        self, of: Attention, matrices: int, *, splits_queries: bool, masked: bool = False
    ) -> None:
        self.of = of
        m, n = of.sizes["m"], of.sizes["n"]
        self.rows = -(-m // -(-m // _ROWS))
        self.width = of.lanes * of.vectors(n)
        room = second_cache_bytes() // 8 // (self.rows * of.dtype.size * matrices)
        most = max(_LEAST_COLUMNS, room) // self.width * self.width
        most = min(most, _MASKED_COLUMNS) if masked else most
        evenly = -(-n // -(-n // max(most, self.width)))
        self.columns = -(-evenly // self.width) * self.width
        self.column_blocks = -(-n // self.columns)
        # Rows that lie a power of two apart fall into a few lines of a cache.
        self.pitch = of.padded(self.columns) + of.lanes
        self.heads = math.prod(of.batch)
        wanted = _PER_THREAD * threads_per_op()
        row_blocks = -(-m // self.rows)
        self.chunks = min(row_blocks, -(-wanted // self.heads)) if splits_queries else 1
        self.chunk_rows = -(-row_blocks // self.chunks) * self.rows
        self.chunks = -(-m // self.chunk_rows)
        self.items = self.heads * self.chunks
        self.piece_items = -(-self.items // min(self.items, wanted))
        self.pieces = -(-self.items // self.piece_items)
        self.scratch: dict[str, int] = {}  # what lies in the memory of a piece, and where
        self.scratch_size = 0

    def reserve(self, name: str, size: int) -> None:
        """Makes room for so many numbers in the memory of each piece."""
        self.scratch[name] = self.scratch_size
        self.scratch_size += self.of.padded(size) + self.of.lanes

    @property
    def stripe_size(self) -> int:
        """Columns of all stripes of keys."""
        return -(-self.of.sizes["n"] // self.width) * self.width


@dataclass(frozen=True)
class Factor:
    """A matrix of a product: from row to row, and from step to step down the depth."""

    row: int
    step: int


class Products:
    """Products of blocks, which are full or what is left at the end; written as calls of tiles."""

    def __init__(self, module: Module, cut: Cut) -> None:
        self._module, self._cut = module, cut
        module.declare(tile_driver.symbol(cut.of.kind), "void", tile_driver.PARAMETERS)

    def call(
        self, w: Writer, pointers: tuple[str, str, str], sizes: tuple[str | int, ...],
        a: Factor, b_row: int, b_panel: int | None, c_row: int,
        rests: tuple[str, str], adds: str | None = None,
    ) -> None:  # fmt: skip
        """c = a b, or c += a b where the register `adds` is 1.

        Rows, columns and depth are numbers, or "m" and "n" for the queries and keys of a block,
        of which `rests` tell whether they are fewer than usual.
        """
        variants: list[int | Tile] = []
        for added in (False, True) if adds is not None else (False,):
            for fewer_keys in (False, True):
                for fewer_queries in (False, True):
                    known = self._sizes(fewer_queries, fewer_keys)
                    rows, columns, depth = [known.get(str(n), n) for n in sizes]
                    variants += self._words(
                        int(rows), int(columns), int(depth), a, b_row, b_panel, c_row, added
                    )
        table, length = table_of(self._module, variants), len(tile_driver.WORDS)
        terms = [(rests[0], length), (rests[1], 2 * length)]
        if adds is not None:
            terms.append((adds, 4 * length))
        words = w.place("i64", table, *terms)
        given = ", ".join(f"ptr {pointer}" for pointer in (words, *pointers))
        w.line(f"call void @{tile_driver.symbol(self._cut.of.kind)}({given}, i64 0, i64 1)")

    def clear(
        self, w: Writer, c: str, sizes: tuple[str | int, ...], c_row: int, rests: tuple[str, str]
    ) -> None:
        """c = 0: the product of nothing."""
        nowhere = Factor(0, 0)
        self.call(w, (c, c, c), (*sizes, 0), nowhere, 0, None, c_row, rests)

    def _sizes(self, fewer_queries: bool, fewer_keys: bool) -> dict[str, int]:
        cut, sizes = self._cut, self._cut.of.sizes
        return {
            "m": (fewer_queries and sizes["m"] % cut.rows) or cut.rows,
            "n": (fewer_keys and sizes["n"] % cut.columns) or cut.columns,
        }

    def _words(
        self, rows: int, columns: int, depth: int, a: Factor, b_row: int, b_panel: int | None,
        c_row: int, adds: bool,
    ) -> list[int | Tile]:  # fmt: skip
        of = self._cut.of
        vectors = of.vectors(columns) if b_panel is None else self._cut.width // of.lanes
        width = of.lanes * vectors
        places = Places(
            levels=(Level(1, 0, 0, 0),), rows=rows, columns=columns, vectors=vectors,
            depth=((depth, a.step, b_row),), a_row=a.row,
            b_panel=width if b_panel is None else b_panel, c_row=c_row,
            line_elements=rows * depth, goes_on=adds,
        )  # fmt: skip
        loops, panels = fewest_loops(places.depth), -(-columns // width)
        whole = Blocks(1, panels, 1, 1, loops, loops[0][0], 1)
        return region_words(places, whole, of.dtype)


# --- rows as tiles read them ---------------------------------------------------------------------

# Rows of n numbers, and zeros behind them until they are full.

_PACK = """
define void @<name>(ptr noalias %to, ptr noalias %from, i64 %rows, i64 %row, i64 %n,
  i64 %full, i64 %pitch) nounwind {
entry:
br label %i.head
i.head:
%i = phi i64 [0, %entry], [%i.next, %i.latch]
%from.shift = mul nsw i64 %i, %row
%from.row = getelementptr <kind>, ptr %from, i64 %from.shift
%to.shift = mul nsw i64 %i, %pitch
%to.row = getelementptr <kind>, ptr %to, i64 %to.shift
br label %j.head
j.head:
%j = phi i64 [0, %i.head], [%j.next, %j.head]
%from.p = getelementptr <kind>, ptr %from.row, i64 %j
%x = load <kind>, ptr %from.p, align <bytes>
%to.p = getelementptr <kind>, ptr %to.row, i64 %j
store <kind> %x, ptr %to.p, align <bytes>
%j.next = add nuw nsw i64 %j, 1
%j.more = icmp ult i64 %j.next, %n
br i1 %j.more, label %j.head, label %rest
rest:
%k = phi i64 [%j.next, %j.head], [%k.next, %zero]
%k.more = icmp ult i64 %k, %full
br i1 %k.more, label %zero, label %i.latch
zero:
%zero.p = getelementptr <kind>, ptr %to.row, i64 %k
store <kind> 0.0, ptr %zero.p, align <bytes>
%k.next = add nuw nsw i64 %k, 1
br label %rest
i.latch:
%i.next = add nuw nsw i64 %i, 1
%i.more = icmp ult i64 %i.next, %rows
br i1 %i.more, label %i.head, label %done
done:
ret void
}
"""
_PACK_PREFIX = "weft_pack_rows"
_PACK_PARAMETERS = "ptr, ptr, i64, i64, i64, i64, i64"


def _pack_text(name: str, kind: str) -> str:
    return filled(_PACK, {"name": name, "kind": kind, "bytes": 4 if kind == "float" else 8})


library.offer(_PACK_PREFIX + "_(float|double)", _pack_text)


def packed(
    module: Module, w: Writer, cut: Cut, tensor: int, name: str, pointer: str, rows: str | int,
    memory: dict[str, str],
) -> tuple[str, int]:  # fmt: skip
    """Rows as whole vectors one behind the other: where, and from row to row; copied if need be."""
    of = cut.of
    if of.lies_ready(tensor):
        return pointer, of.sizes[of.axes[tensor][-1]]
    row_letter = "m" if "m" in of.axes[tensor] else "n"
    columns = of.sizes[of.axes[tensor][-1]]
    full = of.padded(columns)
    numbers = (rows, of.strides(tensor)[row_letter], columns, full, full)
    _copy(module, w, of.kind, memory[name], pointer, numbers)
    return memory[name], full


def unpacked(
    module: Module, w: Writer, cut: Cut, tensor: int, pointer: str, memory: str, row: int
) -> None:
    """Copies what has a row for each key to where it has to be."""
    of = cut.of
    columns = of.sizes[of.axes[tensor][-1]]
    numbers = (of.sizes["n"], row, columns, columns, of.strides(tensor)["n"])
    _copy(module, w, of.kind, pointer, memory, numbers)


def _copy(
    module: Module, w: Writer, kind: str, to: str, source: str, numbers: tuple[str | int, ...]
) -> None:
    symbol = f"{_PACK_PREFIX}_{kind}"
    module.declare(symbol, "void", _PACK_PARAMETERS)
    given = ", ".join(f"i64 {number}" for number in numbers)
    w.line(f"call void @{symbol}(ptr {to}, ptr {source}, {given})")
