"""From tile to tile: one function for all products, led by a table of numbers.

A product is some regions of its result that are computed alike, and a region is cut into blocks.
`weft_tiles_float(table, a, b, c, begin, end)` computes the blocks from begin to end, counted
through all regions. For each region the table holds what `WORDS` names, in this order. So a product
adds some constants to a program and no loops: there is nothing in it that LLVM would have to do.
"""

from __future__ import annotations

from weft._src.execution.native.loops.kernels import tile_assembly
from weft._src.execution.native.loops.kernels.driver_assembly import DriverWriter
from weft._src.execution.native.loops.kernels.tile_library import LEVELS
from weft._src.execution.native.machine import library
from weft._src.execution.native.machine.builder import FINISHED_LOOP, Module, alignment, loop_lines

LINE_LEVELS = 3

WORDS = [
    "blocks",
    "line_blocks", "block_lines", "lines",
    "block_panels", "whole_panels", "panels",
    "chunk", "chunks", "goes_on",
    *[f"{what}{i}" for i in range(LINE_LEVELS) for what in ("count", "line_a", "line_b", "line_c")],
    "a_panel", "b_panel", "c_panel", "ahead", "ahead_a",
    "a_first", "b_first", "c_first",
    "a_row", "c_row",
    *[f"{what}{i}" for i in range(LEVELS) for what in ("n", "s", "t")],
    "last", "last_of_rest",
    # Two kinds of tiles below each other: how many, how far the second kind lies behind the first,
    # and functions for whole panels and for the last one.
    "high_tiles", "low_tiles", "low_a", "low_c",
    "high", "high_of_rest", "low", "low_of_rest",
]  # fmt: skip
POINTERS = frozenset({"high", "high_of_rest", "low", "low_of_rest"})
_PREFIX = "weft_tiles"


def symbol(kind: str) -> str:
    """The function for numbers of a kind."""
    return f"{_PREFIX}_{kind}"


def caller(kind: str) -> str:
    """The function that finds its four pointers in a table: `void name(table, begin, end)`."""
    return f"{_PREFIX}_of_{kind}"


PARAMETERS = "ptr, ptr, ptr, ptr, i64, i64"


def _text(name: str, kind: str) -> str:
    if tile_assembly.is_known_system():
        return tile_assembly.module_of(DriverWriter(name, alignment(kind), WORDS).lines())
    return driver_for_llvm(name, kind)


def driver_for_llvm(name: str, kind: str) -> str:
    """A module with the function, for systems whose assembler is not written here."""
    module = Module()
    module.declare("llvm.smin.i64", "i64", "i64, i64")
    module.functions.append(_function(name, kind))
    return module.text()


def _function(name: str, kind: str) -> str:
    head = f"define void @{name}(ptr %table, ptr %a, ptr %b, ptr %c, i64 %begin, i64 %end) nounwind"
    lines = [
        "br label %u.head",
        "u.head:",
        "%u = phi i64 [%begin, %entry], [%u.next, %u.latch]",
        *_region(),
        *[line for word in WORDS if word != "blocks" for line in _load(word)],
        "%of.panels = udiv i64 %block, %line_blocks",
        "%of.lines = urem i64 %block, %line_blocks",
        *_range("panel", "%of.panels", "%block_panels", "%panels"),
        *_range("line", "%of.lines", "%block_lines", "%lines"),
        *loop_lines("k", "%chunks", "region.found", _chunk(kind), FINISHED_LOOP),
        "br label %u.latch",
        "u.latch:",
        "%u.next = add nuw nsw i64 %u, 1",
        "%u.more = icmp ult i64 %u.next, %end",
        f"br i1 %u.more, label %u.head, label %u.end, {FINISHED_LOOP}",
        "u.end:",
        "ret void",
    ]
    return "\n".join([f"{head} {{", "entry:", *lines, "}"])


def _region() -> list[str]:
    """Finds the region of the block %u: %words, and the number %block of the block there."""
    return [
        "br label %region",
        "region:",
        "%block = phi i64 [%u, %u.head], [%block.less, %region.next]",
        "%words = phi ptr [%table, %u.head], [%words.next, %region.next]",
        "%blocks = load i64, ptr %words",
        "%here = icmp ult i64 %block, %blocks",
        "br i1 %here, label %region.found, label %region.next",
        "region.next:",
        "%block.less = sub nuw nsw i64 %block, %blocks",
        f"%words.next = getelementptr i64, ptr %words, i64 {len(WORDS)}",
        "br label %region",
        "region.found:",
    ]


def _load(word: str) -> list[str]:
    kind = "ptr" if word in POINTERS else "i64"
    return [
        f"%{word}.p = getelementptr i64, ptr %words, i64 {WORDS.index(word)}",
        f"%{word} = load {kind}, ptr %{word}.p",
    ]


def _range(stem: str, number: str, size: str, total: str) -> list[str]:
    """The numbers from %stem.first to %stem.stop, %stem.count of them: one of some equal parts."""
    return [
        f"%{stem}.first = mul nuw nsw i64 {number}, {size}",
        f"%{stem}.full = add nuw nsw i64 %{stem}.first, {size}",
        f"%{stem}.stop = call i64 @llvm.smin.i64(i64 %{stem}.full, i64 {total})",
        f"%{stem}.count = sub nsw i64 %{stem}.stop, %{stem}.first",
    ]


def _chunk(kind: str) -> list[str]:
    """A part of the depth, for all panels and lines of a block."""
    panel = [
        "%panel = add nuw nsw i64 %panel.first, %p",
        "%is.rest = icmp eq i64 %panel, %whole_panels",
        "%lanes = select i1 %is.rest, i64 %last_of_rest, i64 %last",
        "%high.f = select i1 %is.rest, ptr %high_of_rest, ptr %high",
        "%low.f = select i1 %is.rest, ptr %low_of_rest, ptr %low",
        *loop_lines("o", "%line.count", "p.head", _line(kind), FINISHED_LOOP),
    ]
    return [
        *_range("step", "%k", "%chunk", "%n0"),
        "%adds.bits = or i64 %k, %goes_on",
        "%adds.bit = icmp ne i64 %adds.bits, 0",
        "%adds = zext i1 %adds.bit to i64",
        *loop_lines("p", "%panel.count", "k.head", panel, FINISHED_LOOP),
    ]


def _line(kind: str) -> list[str]:
    """The tiles of one line in one panel."""
    lines = ["%line = add nuw nsw i64 %line.first, %o"]
    left, indices = "%line", []
    for i in reversed(range(1, LINE_LEVELS)):
        lines += [
            f"%index{i} = urem i64 {left}, %count{i}",
            f"%above{i} = udiv i64 {left}, %count{i}",
        ]
        indices.append(f"%index{i}")
        left = f"%above{i}"
    indices = [left, *reversed(indices)]
    for letter, depth in (("a", "%s0"), ("b", "%t0"), ("c", "0")):
        terms = [(index, f"%line_{letter}{i}") for i, index in enumerate(indices)]
        terms += [("%panel", f"%{letter}_panel"), ("%step.first", depth)]
        total = f"%{letter}_first"
        for i, (index, distance) in enumerate(terms):
            lines += [
                f"%{letter}.shift.{i} = mul nsw i64 {index}, {distance}",
                f"%{letter}.place.{i} = add nsw i64 {total}, %{letter}.shift.{i}",
            ]
            total = f"%{letter}.place.{i}"
        lines.append(f"%{letter}.at = getelementptr {kind}, ptr %{letter}, i64 {total}")
    depth_numbers = [f"{what}{i}" for i in range(LEVELS) for what in ("n", "s", "t")]
    depth_numbers[0] = "step.count"
    numbers = ", ".join(
        f"i64 %{x}" for x in ["a_row", "c_row", "lanes", "adds", "ahead", "ahead_a", *depth_numbers]
    )
    return [
        *lines,
        f"call void %high.f(ptr %a.at, ptr %b.at, ptr %c.at, i64 %high_tiles, {numbers})",
        "%no.low = icmp eq i64 %low_tiles, 0",
        "br i1 %no.low, label %o.done, label %lower",
        "lower:",
        f"%a.low = getelementptr {kind}, ptr %a.at, i64 %low_a",
        f"%c.low = getelementptr {kind}, ptr %c.at, i64 %low_c",
        f"call void %low.f(ptr %a.low, ptr %b.at, ptr %c.low, i64 %low_tiles, {numbers})",
        "br label %o.done",
        "o.done:",
    ]


def _caller_text(name: str, kind: str) -> str:
    module = Module()
    module.declare(symbol(kind), "void", PARAMETERS)
    lines = [f"define void @{name}(ptr %t, i64 %begin, i64 %end) nounwind {{", "entry:"]
    for i in range(4):
        lines.append(f"%p.{i} = getelementptr ptr, ptr %t, i64 {i}")
        lines.append(f"%x.{i} = load ptr, ptr %p.{i}")
    pointers = ", ".join(f"ptr %x.{i}" for i in range(4))
    lines += [f"call void @{symbol(kind)}({pointers}, i64 %begin, i64 %end)", "ret void", "}"]
    module.functions.append("\n".join(lines))
    return module.text()


library.offer(_PREFIX + "_(float|double)", _text, finished=True)
library.offer(_PREFIX + "_of_(float|double)", _caller_text, finished=True)
