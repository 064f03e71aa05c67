"""Tiles in the assembler of x86 processors, which LLVM only has to encode.

A tile is hundreds of instructions of a few forms, and all that a compiler decides about them is
known beforehand: sums stay in vector registers, and the rows of a are reached from one pointer by
odd multiples of their distance, which a processor multiplies by 1, 2, 4 or 8 by itself. To find
that out takes LLVM 7 to 12 ms for each of the ten tiles of a small network; encoding it takes 1.

Where a processor or system is not known here, `tile_library.py` writes the same function for LLVM.
Both compute each number by the same steps, so they give the same bits.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from weft._src.execution.native.machine import llvm

if TYPE_CHECKING:
    from weft._src.execution.native.loops.kernels.tile_library import Tile

# What a processor has to offer for vectors of so many bytes.
_FEATURES = {64: ("avx512f", "bmi2"), 32: ("avx2", "fma", "bmi2")}
_REGISTERS = {64: 32, 32: 16}
_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")  # whoever is called keeps these
_LINE = 64  # bytes of a cache line

# Odd multiples of the distance between rows of a.
_MULTIPLES = {1: "r8", 3: "r9", 5: "r10", 7: "r11", 9: "r12", 11: "r13", 13: "r14"}
# Of the innermost loop: where it is in a and b, steps that are left, their distances, what is read
# next from b.
_A, _B, _LEFT, _A_STEP, _B_STEP, _FETCHED = "rax", "rbx", "rcx", "rdx", "rsi", "rdi"
_ROW, _FREE = "r15", "rbp"  # a row of c; anything for a moment
_A_FETCHED = _ROW  # while no rows of c are at hand: what is read next from a

# What does not fit into registers, by its place on the stack.
_KEPT = [
    "a", "b", "c", "tiles", "a_tile", "c_row", "steps", "part",
    "left0", "left1", "a0", "b0", "a1", "b1",
]  # fmt: skip
_MASK = 8 * len(_KEPT)  # behind them: which lanes of a last vector count, of AVX2
_FRAME = _MASK + 40  # with the saved registers and the return address a multiple of 16
_ARGUMENTS = [
    "last",
    "adds",
    "ahead",
    "ahead_a",
    "n0",
    "s0",
    "t0",
    "n1",
    "s1",
    "t1",
    "n2",
    "s2",
    "t2",
]
_PLACES = {
    **{name: 8 * i for i, name in enumerate(_KEPT)},
    **{name: _FRAME + 8 * (len(_SAVED) + 1 + i) for i, name in enumerate(_ARGUMENTS)},
}


def assembly(tile: Tile, bits: int) -> str | None:
    """A module with the function of a tile, None if it has to be written for LLVM.

    Args:
      tile: which one.
      bits: of one of its numbers.
    """
    size = bits // 8
    width = tile.lanes * size
    if not _is_known(width) or not _fits(tile, _REGISTERS[width]):
        return None
    return module_of(_Writer(tile, size).lines())


def module_of(lines: Iterable[str]) -> str:
    """A module for LLVM that is nothing but instructions."""
    return "\n".join([f'module asm "{line}"' for line in lines])


def is_known_system() -> bool:
    """Whether this system runs x86-64 code, and passes arguments as is thought here."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _is_known(width: int) -> bool:
    """Whether this processor has such vectors, too."""
    return is_known_system() and width in _FEATURES and llvm.has_features(*_FEATURES[width])


def _fits(tile: Tile, registers: int) -> bool:
    return (
        tile.rows * tile.vectors + tile.vectors + 1 <= registers
        and (tile.rows - 1) <= max(_MULTIPLES) + 1
    )


def _at(name: str) -> str:
    """The place of something on the stack."""
    return f"{_PLACES[name]}(%rsp)"


class _Writer:
    """Writes the function of one tile."""

    def __init__(self, tile: Tile, size: int) -> None:
        self._tile = tile
        self._size = size
        self._wide = tile.lanes * size == 64  # AVX-512: masks in registers, factors in memory
        self._letter = "z" if self._wide else "y"
        self._suffix = "s" if size == 4 else "d"
        self._sums = tile.rows * tile.vectors
        self._factor = self._sums + tile.vectors  # the register of what b is multiplied by

    def lines(self) -> list[str]:
        """All of it."""
        name = self._tile.symbol
        lines = [".text", ".p2align 6", f".globl {name}", f".type {name},@function", f"{name}:"]
        lines += [
            *self._entry(),
            ".Ltile:",
            *self._beginnings(),
            *self._down(),
            *self._stores(),
            *self._to_the_next_tile(),
        ]
        lines += ["vzeroupper", f"addq ${_FRAME}, %rsp"]
        lines += [f"popq %{register}" for register in reversed(_SAVED)]
        lines += ["retq", f".size {name}, .-{name}"]
        return lines if self._wide else [*lines, *self._lane_numbers()]

    def _vector(self, register: int) -> str:
        return f"%{self._letter}mm{register}"

    def _sum(self, row: int, vector: int) -> str:
        return self._vector(row * self._tile.vectors + vector)

    def _of_b(self, vector: int) -> str:
        return self._vector(self._sums + vector)

    def _op(self, stem: str) -> str:
        """An instruction for all numbers of a vector."""
        return f"{stem}p{self._suffix}"

    def _behind(self, vector: int) -> str:
        """How far a vector of a row lies behind its beginning."""
        return str(vector * self._tile.lanes * self._size) if vector else ""

    # --- once for all tiles --------------------------------------------------------------------

    def _entry(self) -> list[str]:
        shift = self._size.bit_length() - 1
        lines = [f"pushq %{register}" for register in _SAVED]
        lines += [f"subq ${_FRAME}, %rsp"]
        given = {"a": "rdi", "b": "rsi", "c": "rdx", "tiles": "rcx"}
        lines += [f"movq %{register}, {_at(name)}" for name, register in given.items()]
        lines += [f"shlq ${shift}, %r8", f"shlq ${shift}, %r9", f"movq %r9, {_at('c_row')}"]
        lines += [f"imulq ${self._tile.rows}, %r8, %r9", f"movq %r9, {_at('a_tile')}"]
        odd = [n for n in _MULTIPLES if n < self._tile.rows and n > 1]
        lines += [f"imulq ${n}, %r8, %{_MULTIPLES[n]}" for n in odd]
        distances = ["ahead", "ahead_a", *[f"{letter}{i}" for letter in "st" for i in range(3)]]
        lines += [f"shlq ${shift}, {_at(name)}" for name in distances]
        lines += [f"movq {_at('n0')}, %rax"]
        lines += [f"imulq {_at(name)}, %rax" for name in ("n1", "n2")]
        lines += [f"movq %rax, {_at('steps')}", f"movq $0, {_at('part')}"]
        return lines + self._mask()

    def _mask(self) -> list[str]:
        """Notes which lanes of the last vector of a row belong to the result."""
        if self._wide:
            return [
                f"movq {_at('last')}, %rax",
                "movl $-1, %ebp",
                "bzhil %eax, %ebp, %ebp",
                "kmovw %ebp, %k1",
            ]
        kind = "d" if self._size == 4 else "q"
        return [
            f"vpbroadcast{kind} {_at('last')}, %ymm0",
            f"vpcmpgt{kind} .Llanes(%rip), %ymm0, %ymm0",
            f"vmovdqu %ymm0, {_MASK}(%rsp)",
        ]

    def _lane_numbers(self) -> list[str]:
        word = ".long" if self._size == 4 else ".quad"
        numbers = ", ".join(str(lane) for lane in range(self._tile.lanes))
        return [".p2align 5", ".Llanes:", f"{word} {numbers}"]

    # --- vectors that may be partial -----------------------------------------------------------

    def _load(self, place: str, register: str, *, partial: bool) -> list[str]:
        move = self._op("vmovu")
        if not partial:
            return [f"{move} {place}, {register}"]
        if self._wide:
            return [f"{move} {place}, {register}{{%k1}}{{z}}"]
        return [
            f"vmovdqu {_MASK}(%rsp), {register}",
            f"{self._op('vmaskmov')} {place}, {register}, {register}",
        ]

    def _store(self, register: str, place: str, *, partial: bool) -> list[str]:
        move = self._op("vmovu")
        if not partial:
            return [f"{move} {register}, {place}"]
        if self._wide:
            return [f"{move} {register}, {place}{{%k1}}"]
        mask = self._vector(self._factor)
        return [
            f"vmovdqu {_MASK}(%rsp), {mask}",
            f"{self._op('vmaskmov')} {register}, {mask}, {place}",
        ]

    def _rows_of_c(self, *, storing: bool, partial: bool) -> list[str]:
        """Loads or stores all sums, from left to right and row by row."""
        last = self._tile.vectors - 1
        lines = [f"movq {_at('c')}, %{_ROW}"]
        for r in range(self._tile.rows):
            for v in range(self._tile.vectors):
                place, some = f"{self._behind(v)}(%{_ROW})", partial and v == last
                register = self._sum(r, v)
                lines += (
                    self._store(register, place, partial=some)
                    if storing
                    else self._load(place, register, partial=some)
                )
            lines.append(f"addq {_at('c_row')}, %{_ROW}")
        return lines

    # --- a tile --------------------------------------------------------------------------------

    def _beginnings(self) -> list[str]:
        """The sums before the first step: 0, or what the result holds already."""
        clear = "vpxord" if self._wide else "vpxor"
        zeros = [self._vector(i) for i in range(self._sums)]
        return [
            f"cmpq $0, {_at('adds')}",
            "jne .Lthere",
            *[f"{clear} {register}, {register}, {register}" for register in zeros],
            "jmp .Lbegun",
            ".Lthere:",
            *self._rows_of_c(storing=False, partial=True),
            ".Lbegun:",
        ]

    def _down(self) -> list[str]:
        """The loops over the depth."""
        return [
            f"cmpq $0, {_at('steps')}",
            "je .Lsummed",
            *self._begin_loop(0),
            ".Ld0:",
            *self._begin_loop(1),
            f"movq {_at('s2')}, %{_A_STEP}",
            f"movq {_at('t2')}, %{_B_STEP}",
            f"movq {_at('part')}, %{_FETCHED}",
            f"shlq ${_LINE.bit_length() - 1}, %{_FETCHED}",
            f"addq {_at('ahead')}, %{_FETCHED}",
            f"movq {_at('ahead_a')}, %{_A_FETCHED}",
            ".Ld1:",
            f"movq {_at('a1')}, %{_A}",
            f"movq {_at('b1')}, %{_B}",
            f"movq {_at('n2')}, %{_LEFT}",
            ".p2align 5",
            ".Ld2:",
            *self._step(),
            f"addq %{_A_STEP}, %{_A}",
            f"addq %{_B_STEP}, %{_B}",
            f"decq %{_LEFT}",
            "jnz .Ld2",
            *self._end_loop(1),
            *self._end_loop(0),
            ".Lsummed:",
        ]

    def _begin_loop(self, level: int) -> list[str]:
        lines = [f"movq {_at(f'n{level}')}, %{_FREE}", f"movq %{_FREE}, {_at(f'left{level}')}"]
        for letter in "ab":
            above = f"{letter}{level - 1}" if level else letter
            lines.append(f"movq {_at(above)}, %{_FREE}")
            lines.append(f"movq %{_FREE}, {_at(f'{letter}{level}')}")
        return lines

    def _end_loop(self, level: int) -> list[str]:
        lines = []
        for letter, distance in (("a", "s"), ("b", "t")):
            lines.append(f"movq {_at(f'{distance}{level}')}, %{_FREE}")
            lines.append(f"addq %{_FREE}, {_at(f'{letter}{level}')}")
        return [*lines, f"decq {_at(f'left{level}')}", f"jnz .Ld{level}"]

    def _step(self) -> list[str]:
        """One step down the depth, for all rows and vectors."""
        tile = self._tile
        lines = []
        for v in range(tile.vectors):
            partial = tile.channels and v == tile.vectors - 1
            place = f"{self._behind(v)}(%{_B})"
            lines += self._load(place, self._of_b(v), partial=partial)
        if not tile.channels:
            lines.append(f"prefetcht1 (%{_B},%{_FETCHED})")
        if tile.fetches_a:
            lines.append(f"prefetcht1 (%{_A},%{_A_FETCHED})")
        for r in range(tile.rows):
            lines += self._channels(r) if tile.channels else self._number(r)
        return lines

    def _number(self, r: int) -> list[str]:
        """Adds the number of a for a row, times the vectors of b."""
        add, place = self._op("vfmadd231"), f"({self._row(r)})"
        if self._wide and self._tile.vectors == 1:
            repeated = f"{place}{{1to{self._tile.lanes}}}"
            return [f"{add} {repeated}, {self._of_b(0)}, {self._sum(r, 0)}"]
        factor = self._vector(self._factor)
        return [
            f"vbroadcasts{self._suffix} {place}, {factor}",
            *[
                f"{add} {self._of_b(v)}, {factor}, {self._sum(r, v)}"
                for v in range(self._tile.vectors)
            ],
        ]

    def _channels(self, r: int) -> list[str]:
        """Adds the vectors of a for a row, times those of b."""
        add, factor = self._op("vfmadd231"), self._vector(self._factor)
        lines = []
        for v in range(self._tile.vectors):
            partial = v == self._tile.vectors - 1
            lines += self._load(f"{self._behind(v)}({self._row(r)})", factor, partial=partial)
            lines.append(f"{add} {self._of_b(v)}, {factor}, {self._sum(r, v)}")
        return lines

    def _row(self, r: int) -> str:
        """The address of a row of a, as a base and a multiple of what a register holds."""
        if r == 0:
            return f"%{_A}"
        scale = min(r & -r, 8)
        return f"%{_A},%{_MULTIPLES[r // scale]},{scale}"

    def _stores(self) -> list[str]:
        return [
            f"cmpq ${self._tile.lanes}, {_at('last')}",
            "jne .Lpartial",
            *self._rows_of_c(storing=True, partial=False),
            "jmp .Lstored",
            ".Lpartial:",
            *self._rows_of_c(storing=True, partial=True),
            ".Lstored:",
        ]

    def _to_the_next_tile(self) -> list[str]:
        """The one below, which fetches the next part of the panel that follows."""
        parts = max(1, self._tile.vectors * self._tile.lanes * self._size // _LINE)
        return [
            f"movq %{_ROW}, {_at('c')}",
            f"movq {_at('a_tile')}, %{_FREE}",
            f"addq %{_FREE}, {_at('a')}",
            f"movq {_at('part')}, %{_FREE}",
            f"incq %{_FREE}",
            f"cmpq ${parts}, %{_FREE}",
            "jb .Lnext",
            "xorl %ebp, %ebp",
            ".Lnext:",
            f"movq %{_FREE}, {_at('part')}",
            f"decq {_at('tiles')}",
            "jnz .Ltile",
        ]
