"""Tiles of a matrix product, as a function that all products of all programs call.

A tile is a few rows of the result times a few vectors of its columns, all in registers. A call does
some of them, one below the other. Each step down the depth loads the vectors of one row of b, and
one number of a for every row of the tile:

    c[r, :] = sum over steps of a[r * a_row + place(step)] * b[place(step), :]

Sizes and strides are arguments, so there are few functions: one for each number of rows and
vectors. Written into each product they were nine tenths of the text of a transformer block, and of
the time that LLVM took for it. A tile of a convolution that treats each channel apart ("channels")
has vectors of a in place of its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft._src.execution.native.loops.kernels.tile_assembly import assembly
from weft._src.execution.native.machine import library
from weft._src.execution.native.machine.builder import FINISHED_LOOP, Module, alignment, loop_lines

_PREFIX, _CHANNELS = "weft_tile", "weft_channels_tile"
LEVELS = 3  # loops over the depth
PREFETCH = "llvm.prefetch.p0"
_CACHE_LINE = 64  # bytes
_TO_READ_FROM_SECOND_CACHE = "i32 0, i32 2, i32 1"


@dataclass(frozen=True)
class Tile:
    """One of the functions.

    Its parameters are where a, b and c begin; the number of tiles; the distances of rows in a and
    c, in elements; how many lanes of the last vector of a row belong to the result; whether sums
    begin with what is there (1) or with 0; how far ahead in b lies what is read next, of which each
    tile fetches a part (0: nothing), and how far ahead in a; and for each of three loops over the
    depth, the innermost last, the number of steps and their distances in a and b.
    """

    kind: str  # "float" or "double"
    lanes: int  # of a vector
    rows: int
    vectors: int
    channels: bool = False  # a is vectors, too

    @property
    def symbol(self) -> str:
        """Its name."""
        prefix = _CHANNELS if self.channels else _PREFIX
        return f"{prefix}_{self.kind}x{self.lanes}_{self.rows}_{self.vectors}"

    @property
    def parameter_types(self) -> str:
        """What it takes, for a declaration."""
        return ", ".join(["ptr"] * 3 + ["i64"] * len(self._numbers))

    @property
    def vector(self) -> str:
        """The type of a vector."""
        return f"<{self.lanes} x {self.kind}>"

    @property
    def _numbers(self) -> list[str]:
        """Its parameters that are numbers."""
        depth = [f"{name}{i}" for i in range(LEVELS) for name in ("n", "s", "t")]
        return ["tiles", "a.row", "c.row", "last", "adds", "ahead", "a.ahead", *depth]

    @property
    def fetches_a(self) -> bool:
        """Whether it fetches what is read of a later: where steps have time for one more load."""
        return self.vectors > 1 and not self.channels

    def text(self) -> str:
        """The function."""
        pointers = [f"ptr noalias %{letter}.0" for letter in "abc"]
        parameters = ", ".join([*pointers, *[f"i64 %{name}" for name in self._numbers]])
        lines = [f"%sum.{r}.{v} = alloca {self.vector}" for r, v in self._sums]
        for letter in "ac":
            lines += [
                f"%{letter}.off.{r} = mul nsw i64 %{letter}.row, {r}" for r in range(self.rows + 1)
            ]
        lines += [
            f"%is.whole = icmp eq i64 %last, {self.lanes}",
            "%begins.anew = icmp eq i64 %adds, 0",
            "%steps.1 = mul nsw i64 %n0, %n1",
            "%steps.2 = mul nsw i64 %steps.1, %n2",
            "%no.steps = icmp eq i64 %steps.2, 0",
            *self._mask(),
            *loop_lines("m", "%tiles", "entry", self._tile(), FINISHED_LOOP),
            "ret void",
        ]
        head = f"define void @{self.symbol}({parameters}) nounwind {{"
        return "\n".join([head, "entry:", *lines, "}"])

    @property
    def _sums(self) -> list[tuple[int, int]]:
        return [(r, v) for r in range(self.rows) for v in range(self.vectors)]

    def _tile(self) -> list[str]:
        """The tile with the number %m."""
        line = _CACHE_LINE // alignment(self.kind)
        lines = [
            f"%m.part = urem i64 %m, {max(1, self.vectors * self.lanes // line)}",
            f"%m.line = mul nuw nsw i64 %m.part, {line}",
            "%fetched = add nsw i64 %ahead, %m.line",
        ]
        for letter in "ac":
            lines += [
                f"%{letter}.shift.m = mul nsw i64 %m, %{letter}.off.{self.rows}",
                f"%{letter} = getelementptr {self.kind}, ptr %{letter}.0, i64 %{letter}.shift.m",
            ]
        for r, v in self._sums:
            if v == 0:
                lines.append(f"%c.{r}.0 = getelementptr {self.kind}, ptr %c, i64 %c.off.{r}")
            else:
                at = f"getelementptr {self.kind}, ptr %c.{r}.0, i64 {v * self.lanes}"
                lines.append(f"%c.{r}.{v} = {at}")
        lines += [*self._beginnings(), *self._down()]
        lines += [f"%all.{r}.{v} = load {self.vector}, ptr %sum.{r}.{v}" for r, v in self._sums]
        return [*lines, *self._stores()]

    def _beginnings(self) -> list[str]:
        """The sums of the tile before the first step: 0, or what the result holds already."""
        anew, there = [], []
        for r, v in self._sums:
            anew.append(f"store {self.vector} zeroinitializer, ptr %sum.{r}.{v}")
            found = f"load {self.vector}, ptr %c.{r}.{v}, align 4"
            if v == self.vectors - 1:
                found = self._some_lanes(f"%c.{r}.{v}")
            there += [
                f"%before.{r}.{v} = {found}",
                f"store {self.vector} %before.{r}.{v}, ptr %sum.{r}.{v}",
            ]
        return [
            "br i1 %begins.anew, label %anew, label %there",
            "anew:",
            *anew,
            "br label %begun",
            "there:",
            *there,
            "br label %begun",
            "begun:",
        ]

    def _down(self) -> list[str]:
        """The loops over the depth."""
        heads = ["some", *[f"d{i}.head" for i in range(LEVELS)]]
        places = {"s": "0", "t": "0"}
        begins: list[list[str]] = []
        for i in range(LEVELS):
            begin: list[str] = []
            for which, before in places.items():
                begin += [
                    f"%{which}.step.{i} = mul nsw i64 %d{i}, %{which}{i}",
                    f"%{which}.place.{i} = add nsw i64 {before}, %{which}.step.{i}",
                ]
                places[which] = f"%{which}.place.{i}"
            begins.append(begin)
        lines = self._step(places["s"], places["t"])
        for i in reversed(range(LEVELS)):
            lines = loop_lines(f"d{i}", f"%n{i}", heads[i], [*begins[i], *lines], FINISHED_LOOP)
        return [
            "br i1 %no.steps, label %summed, label %some",
            "some:",
            *lines,
            "br label %summed",
            "summed:",
        ]

    def _step(self, in_a: str, in_b: str) -> list[str]:
        """One step down the depth, for all rows and vectors."""
        kind, vector = self.kind, self.vector
        lines = [
            f"%b.at = getelementptr {kind}, ptr %b.0, i64 {in_b}",
            f"%a.at = getelementptr {kind}, ptr %a, i64 {in_a}",
        ]
        for v in range(self.vectors):
            lines.append(f"%b.p.{v} = getelementptr {kind}, ptr %b.at, i64 {v * self.lanes}")
            lines.append(f"%b.v.{v} = {self._loaded(f'%b.p.{v}', v)}")
        if not self.channels:
            lines += self._fetched()
        for r in range(self.rows):
            lines.append(f"%a.p.{r} = getelementptr {kind}, ptr %a.at, i64 %a.off.{r}")
            lines += self._channels(r) if self.channels else self._number(r)
            for v in range(self.vectors):
                at, factor = f"{r}.{v}", f"%a.v.{r}.{v}" if self.channels else f"%a.v.{r}"
                lines += [
                    f"%old.{at} = load {vector}, ptr %sum.{at}",
                    f"%times.{at} = fmul contract {vector} {factor}, %b.v.{v}",
                    f"%new.{at} = fadd contract {vector} %old.{at}, %times.{at}",
                    f"store {vector} %new.{at}, ptr %sum.{at}",
                ]
        return lines

    def _fetched(self) -> list[str]:
        """Brings a line of the same step of the next panel of b into the second-level cache.

        And one of a step of a that is as far away.
        """
        lines = [
            f"%b.next = getelementptr {self.kind}, ptr %b.at, i64 %fetched",
            f"call void @{PREFETCH}(ptr %b.next, {_TO_READ_FROM_SECOND_CACHE})",
        ]
        if self.fetches_a:
            lines += [
                f"%a.next = getelementptr {self.kind}, ptr %a.at, i64 %a.ahead",
                f"call void @{PREFETCH}(ptr %a.next, {_TO_READ_FROM_SECOND_CACHE})",
            ]
        return lines

    def _loaded(self, place: str, v: int) -> str:
        """A vector of b, which goes on behind the columns of a product, but not of channels."""
        if self.channels and v == self.vectors - 1:
            return self._some_lanes(place)
        return f"load {self.vector}, ptr {place}, align 4"

    def _some_lanes(self, place: str) -> str:
        """The lanes that the last vector of a row has."""
        mask = f"<{self.lanes} x i1> %mask"
        rest = f"{self.vector} zeroinitializer"
        return f"call {self.vector} @{self.masked_load}(ptr {place}, i32 4, {mask}, {rest})"

    def _number(self, r: int) -> list[str]:
        """The number of a for a row, in all lanes of %a.v.r."""
        kind, vector, zeros = self.kind, self.vector, f"<{self.lanes} x i32> zeroinitializer"
        return [
            f"%a.x.{r} = load {kind}, ptr %a.p.{r}",
            f"%a.1.{r} = insertelement {vector} poison, {kind} %a.x.{r}, i32 0",
            f"%a.v.{r} = shufflevector {vector} %a.1.{r}, {vector} poison, {zeros}",
        ]

    def _channels(self, r: int) -> list[str]:
        """The vectors of a for a row: %a.v.r.v."""
        lines = []
        for v in range(self.vectors):
            place = f"%a.p.{r}.{v}"
            lines.append(f"{place} = getelementptr {self.kind}, ptr %a.p.{r}, i64 {v * self.lanes}")
            lines.append(f"%a.v.{r}.{v} = {self._loaded(place, v)}")
        return lines

    def _mask(self) -> list[str]:
        """Which lanes of the last vector of a row are stored."""
        lanes, wide = self.lanes, f"<{self.lanes} x i64>"
        counts = ", ".join(f"i64 {i}" for i in range(lanes))
        zeros = f"<{lanes} x i32> zeroinitializer"
        return [
            f"%last.1 = insertelement {wide} poison, i64 %last, i32 0",
            f"%last.v = shufflevector {wide} %last.1, {wide} poison, {zeros}",
            f"%mask = icmp ult {wide} <{counts}>, %last.v",
        ]

    def _stores(self) -> list[str]:
        """Stores the tile from left to right and row by row: another order takes much longer."""
        whole, partial = [], []
        mask = f"<{self.lanes} x i1> %mask"
        for r, v in self._sums:
            value, place = f"{self.vector} %all.{r}.{v}", f"ptr %c.{r}.{v}"
            all_lanes = f"store {value}, {place}, align 4"
            some_lanes = f"call void @{self.masked_store}({value}, {place}, i32 4, {mask})"
            whole.append(all_lanes)
            partial.append(some_lanes if v == self.vectors - 1 else all_lanes)
        return [
            "br i1 %is.whole, label %whole, label %partial",
            "whole:",
            *whole,
            "br label %stored",
            "partial:",
            *partial,
            "br label %stored",
            "stored:",
        ]

    @property
    def masked_store(self) -> str:
        """LLVM's name of what stores some lanes of a vector."""
        return f"llvm.masked.store.v{self.lanes}f{8 * alignment(self.kind)}.p0"

    @property
    def masked_load(self) -> str:
        """LLVM's name of what loads some lanes of a vector."""
        return f"llvm.masked.load.v{self.lanes}f{8 * alignment(self.kind)}.p0"


def _text(symbol: str, prefix: str, kind: str, *numbers: str) -> str:
    lanes, rows, vectors = map(int, numbers)
    tile = Tile(kind, lanes, rows, vectors, prefix == _CHANNELS)
    return assembly(tile, 8 * alignment(kind)) or tile_for_llvm(tile)


def tile_for_llvm(tile: Tile) -> str:
    """A module with the function, for processors whose assembler is not written here."""
    module = Module()
    mask = f"<{tile.lanes} x i1>"
    module.declare(tile.masked_store, "void", f"{tile.vector}, ptr, i32, {mask}")
    module.declare(PREFETCH, "void", "ptr, i32, i32, i32")
    module.declare(tile.masked_load, tile.vector, f"ptr, i32, {mask}, {tile.vector}")
    module.functions.append(tile.text())
    return module.text()


library.offer(rf"({_PREFIX}|{_CHANNELS})_(float|double)x(\d+)_(\d+)_(\d+)", _text, finished=True)
