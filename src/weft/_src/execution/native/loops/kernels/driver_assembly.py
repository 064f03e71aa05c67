"""The function that goes from tile to tile, in the assembler of x86-64: see `tile_driver.py`.

It has a hundred numbers and hardly any work, which is what compilers take longest for: LLVM 8 ms,
and 1 to encode this. Numbers stay in the table and on the stack; where tiles begin is worked out
again for each line, as LLVM's code did.
"""

from __future__ import annotations

from collections.abc import Sequence

_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")  # whoever is called keeps these, too
# What stays in registers: the words of a region, which panel, which line, where a, b and c begin.
_WORDS, _PANEL, _LINE = "rbx", "rbp", "r12"
_AT = {"a": "r13", "b": "r14", "c": "r15"}
_DEPTH = {"a": "s0", "b": "t0"}  # the word that says how far the next step lies

# What tiles are given on the stack: numbers of this function, and words.
_GIVEN = [
    "lanes", "adds", "ahead", "ahead_a", "step_count", "s0", "t0", "n1", "s1", "t1", "n2", "s2",
    "t2",
]  # fmt: skip
_KEPT = [
    "table", "a", "b", "c", "u", "end", "panel_first", "panel_stop", "line_first", "line_stop",
    "k", "step_first", "step_count", "adds", "lanes", "high_f", "low_f",
]  # fmt: skip
_PLACES = {name: 8 * (len(_GIVEN) + i) for i, name in enumerate(_KEPT)}
_FRAME = 8 * (len(_GIVEN) + len(_KEPT) + (len(_GIVEN) + len(_KEPT) + 1) % 2)  # 8 mod 16


def _kept(name: str) -> str:
    """The place of a number of this function."""
    return f"{_PLACES[name]}(%rsp)"


class DriverWriter:
    """Writes the function for numbers of a size, with a table of these words."""

    def __init__(self, symbol: str, size: int, words: Sequence[str]) -> None:
        self._symbol, self._shift = symbol, size.bit_length() - 1
        self._words = {name: 8 * i for i, name in enumerate(words)}
        self._region = 8 * len(words)

    def lines(self) -> list[str]:
        """All of it."""
        name = self._symbol
        given = {"table": "rdi", "a": "rsi", "b": "rdx", "c": "rcx", "u": "r8", "end": "r9"}
        return [
            ".text", ".p2align 4", f".globl {name}", f".type {name},@function", f"{name}:",
            *[f"pushq %{register}" for register in _SAVED],
            f"subq ${_FRAME}, %rsp",
            *[f"movq %{register}, {_kept(what)}" for what, register in given.items()],
            ".Lu:",
            *self._find_region(),
            *self._range("rax", "panel", "block_panels", "panels"),
            *self._range("rdx", "line", "block_lines", "lines"),
            f"movq $0, {_kept('k')}",
            ".Lk:",
            *self._begin_chunk(),
            f"movq {_kept('panel_first')}, %{_PANEL}",
            ".Lp:",
            *self._begin_panel(),
            f"movq {_kept('line_first')}, %{_LINE}",
            ".Lo:",
            *self._line(),
            f"incq %{_LINE}", f"cmpq {_kept('line_stop')}, %{_LINE}", "jl .Lo",
            f"incq %{_PANEL}", f"cmpq {_kept('panel_stop')}, %{_PANEL}", "jl .Lp",
            f"movq {_kept('k')}, %rax", "incq %rax", f"movq %rax, {_kept('k')}",
            f"cmpq {self._word('chunks')}, %rax", "jb .Lk",
            f"movq {_kept('u')}, %rax", "incq %rax", f"movq %rax, {_kept('u')}",
            f"cmpq {_kept('end')}, %rax", "jb .Lu",
            f"addq ${_FRAME}, %rsp",
            *[f"popq %{register}" for register in reversed(_SAVED)],
            "retq", f".size {name}, .-{name}",
        ]  # fmt: skip

    def _word(self, name: str) -> str:
        """The place of a word of the region."""
        return f"{self._words[name]}(%{_WORDS})"

    def _find_region(self) -> list[str]:
        """The region of a block, and in rax and rdx where the block is among panels and lines."""
        return [
            f"movq {_kept('table')}, %{_WORDS}",
            f"movq {_kept('u')}, %rax",
            ".Lregion:",
            f"cmpq {self._word('blocks')}, %rax",
            "jb .Lfound",
            f"subq {self._word('blocks')}, %rax",
            f"addq ${self._region}, %{_WORDS}",
            "jmp .Lregion",
            ".Lfound:",
            "xorl %edx, %edx",
            f"divq {self._word('line_blocks')}",
        ]

    def _range(self, register: str, stem: str, size: str, total: str) -> list[str]:
        """The first of some equal parts of a range, and where it stops, by its number."""
        return [
            f"imulq {self._word(size)}, %{register}",
            f"movq %{register}, {_kept(f'{stem}_first')}",
            f"addq {self._word(size)}, %{register}",
            f"movq {self._word(total)}, %rcx",
            f"cmpq %rcx, %{register}",
            f"cmovgq %rcx, %{register}",
            f"movq %{register}, {_kept(f'{stem}_stop')}",
        ]

    def _begin_chunk(self) -> list[str]:
        """Which steps come at once, and whether sums go on."""
        return [
            f"movq {_kept('k')}, %rax",
            f"imulq {self._word('chunk')}, %rax",
            f"movq %rax, {_kept('step_first')}",
            f"movq {self._word('n0')}, %rcx",
            "subq %rax, %rcx",
            f"movq {self._word('chunk')}, %rdx",
            "cmpq %rdx, %rcx",
            "cmovgq %rdx, %rcx",
            f"movq %rcx, {_kept('step_count')}",
            "xorl %ecx, %ecx",
            f"movq {_kept('k')}, %rax",
            f"orq {self._word('goes_on')}, %rax",
            "setne %cl",
            f"movq %rcx, {_kept('adds')}",
        ]

    def _begin_panel(self) -> list[str]:
        """Which functions, and for how many lanes of the last vector."""
        names = {"lanes": ("last", "rax"), "high_f": ("high", "rcx"), "low_f": ("low", "rdx")}
        return [
            *[f"movq {self._word(word)}, %{register}" for word, register in names.values()],
            f"cmpq {self._word('whole_panels')}, %{_PANEL}",
            "jne .Lwhole",
            *[f"movq {self._word(f'{w}_of_rest')}, %{register}" for w, register in names.values()],
            ".Lwhole:",
            *[f"movq %{register}, {_kept(name)}" for name, (_, register) in names.items()],
        ]

    def _line(self) -> list[str]:
        """The tiles of one line in one panel."""
        lines = [
            f"movq %{_LINE}, %rax",
            "xorl %edx, %edx", f"divq {self._word('count2')}", "movq %rdx, %r8",
            "xorl %edx, %edx", f"divq {self._word('count1')}", "movq %rdx, %r9",
            "movq %rax, %r10",
        ]  # fmt: skip
        for letter, at in _AT.items():
            lines.append(f"movq {self._word(f'{letter}_first')}, %{at}")
            terms = [(f"line_{letter}{i}", f"%r{10 - i}") for i in range(3)]
            terms.append((f"{letter}_panel", f"%{_PANEL}"))
            if letter in _DEPTH:
                terms.append((_DEPTH[letter], _kept("step_first")))
            for word, factor in terms:
                lines += [
                    f"movq {self._word(word)}, %rax", f"imulq {factor}, %rax", f"addq %rax, %{at}"
                ]  # fmt: skip
            lines += [f"shlq ${self._shift}, %{at}", f"addq {_kept(letter)}, %{at}"]
        return [
            *lines,
            *[f"movq %{_AT[x]}, %{r}" for x, r in (("a", "rdi"), ("c", "rdx"))],
            *self._call("high"),
            f"cmpq $0, {self._word('low_tiles')}",
            "je .Ldone",
            *self._below("a", "rdi"),
            *self._below("c", "rdx"),
            *self._call("low"),
            ".Ldone:",
        ]

    def _below(self, letter: str, register: str) -> list[str]:
        """Where the second kind of tiles begins."""
        return [
            f"movq {self._word(f'low_{letter}')}, %{register}",
            f"shlq ${self._shift}, %{register}",
            f"addq %{_AT[letter]}, %{register}",
        ]

    def _call(self, kind: str) -> list[str]:
        """Calls a function; what it finds on the stack it may change."""
        lines = []
        for i, name in enumerate(_GIVEN):
            place = _kept(name) if name in _PLACES else self._word(name)
            lines += [f"movq {place}, %rax", f"movq %rax, {8 * i}(%rsp)"]
        return [
            *lines,
            f"movq %{_AT['b']}, %rsi",
            f"movq {self._word(f'{kind}_tiles')}, %rcx",
            f"movq {self._word('a_row')}, %r8",
            f"movq {self._word('c_row')}, %r9",
            f"callq *{_kept(f'{kind}_f')}",
        ]
