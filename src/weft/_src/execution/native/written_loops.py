"""LLVM IR written by hand, with loops and variables in place of blocks and their phis.

A line `for %i < %n` begins a loop over whole numbers from 0 on (`for %i from %a < %n`: from %a on),
and `end` ends it. `var i64 %x = 5` is a variable, whose register is the place in memory; LLVM makes
registers of both.
"""

from __future__ import annotations

import re

_FOR = re.compile(r"for %([\w.]+)(?: from ([%\w.]+))? < ([%\w.]+)$")
_VAR = re.compile(r"var (.+) %([\w.]+) = (.+)$")


def with_loops(text: str) -> str:
    """The text as LLVM takes it; each function begins with a line `entry:`."""
    out: list[str] = []
    entry = 0  # where memory for variables is taken: in the first block of a function
    loops: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if line == "entry:":
            out.append(line)
            entry = len(out)
        elif found := _FOR.match(line):
            name, size = found[1], found[3]
            out.insert(entry, f"%{name}.var = alloca i64")
            loops.append(name)
            out += [
                f"store i64 {found[2] or 0}, ptr %{name}.var",
                f"br label %{name}.head",
                f"{name}.head:",
                f"%{name} = load i64, ptr %{name}.var",
                f"%{name}.more = icmp slt i64 %{name}, {size}",
                f"br i1 %{name}.more, label %{name}.body, label %{name}.end",
                f"{name}.body:",
            ]
        elif line == "end":
            name = loops.pop()
            out += [
                f"%{name}.next = add nuw nsw i64 %{name}, 1",
                f"store i64 %{name}.next, ptr %{name}.var",
                f"br label %{name}.head",
                f"{name}.end:",
            ]
        elif found := _VAR.match(line):
            out.insert(entry, f"%{found[2]} = alloca {found[1]}")
            out.append(f"store {found[1]} {found[3]}, ptr %{found[2]}")
        else:
            out.append(line)
    assert not loops, f"the loop over {loops} has no end"
    return "\n".join(out)
