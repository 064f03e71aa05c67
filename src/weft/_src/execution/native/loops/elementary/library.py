"""Elementary functions as functions of their own, which long programs call instead of repeating.

Each is there for one number, and for as many as a vector holds (`machine/library.py`). LLVM is told
of the vector forms, so that loops with calls vectorise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from weft._src.execution.native.machine import library, llvm
from weft._src.execution.native.machine.builder import (
    FINISHED_LOOP,
    Builder,
    Module,
    Scalar,
    Variants,
    alignment,
    filled,
)

Form = Callable[..., Scalar]

_PREFIX = "weft_math_"
_forms: dict[str, tuple[Form, int]] = {}  # by name: how to write it, and its number of operands

_LOOP = """br label %loop
loop:
%i = phi i64 [0, %entry], [%i.next, %loop]
<body>
%i.next = add nuw nsw i64 %i, 1
%i.more = icmp ult i64 %i.next, <width>
br i1 %i.more, label %loop, label %end, <kind>
end:"""
_HARDLY_EVER = "!prof !24"
_WEIGHTS = '\n!24 = !{!"branch_weights", i32 1, i32 1000}\n'


def offered(name: str, form: Form, operands: int = 1, *, doubts: bool = False) -> Form:
    """A form that is a call where the builder wants calls, and written out elsewhere.

    One that `doubts` some numbers is called where the result has to be exact, too: the function
    looks at its numbers itself.
    """
    _forms[name] = (form, operands)

    def function(b: Builder, *numbers: Scalar) -> Scalar:
        if not b.calls and not (doubts and b.exact):
            return form(b, *numbers)
        called = variants_of(name, numbers[0].type)._replace(is_rarely_single=b.is_long)
        return b.call_variants(called, *numbers)

    return function


def variants_of(name: str, kind: str) -> Variants:
    """The functions of a form that is offered."""
    return Variants(f"{_PREFIX}{name}_{kind}", kind, _forms[name][1], _widths(kind))


def _widths(kind: str) -> tuple[int, ...]:
    """The numbers of lanes for which loops may want a function."""
    most = llvm.vector_bytes() // alignment(kind)
    return most, 2 * most


def _text(symbol: str, name: str, kind: str, lanes: str) -> str:
    """A module with one function, for so many numbers at once."""
    form, operands = _forms[name]
    module, width = Module(), int(lanes)
    b = Builder(module, exact=False, lanes=width)
    numbers = [Scalar(f"%{letter}", kind, 0) for letter in "xyz"[:operands]]
    vector = b.spelled(kind)
    parameters = ", ".join(f"{vector} {x.text}" for x in numbers)
    out = form(b, *numbers)
    body = b.before[0]
    if b.doubts:
        # Numbers for which this form is wrong are rare: what they need is kept out of its way.
        lines, doubt = _any_of(b)
        body += [*lines, f"br i1 {doubt}, label %again, label %done, {_HARDLY_EVER}"]
        body += ["again:", f"%precise = tail call {vector} @{symbol}_exact({parameters})"]
        body += [f"ret {vector} %precise", "done:"]
        exact = _one_by_one(module, form, kind, width, numbers)
        head = f"define internal {vector} @{symbol}_exact({parameters}) nounwind noinline cold {{"
        module.functions.append("\n".join([head, "entry:", *exact, "}"]))
    head = f"define {vector} @{symbol}({parameters}) nounwind {{"
    body = [head, "entry:", *body, f"ret {vector} {out.text}", "}"]
    module.functions.append("\n".join(body))
    return module.text() + _WEIGHTS


library.offer(_PREFIX + r"(\w+?)_(float|double)_x(\d+)", _text, finished=True)


def _any_of(b: Builder) -> tuple[list[str], str]:
    """Instructions, and the name of what they tell: whether any number is in doubt."""
    doubt, width = functools.reduce(lambda x, y: b.binary("or", x, y), b.doubts), b.lanes
    if width == 1:
        return [], doubt.text
    # As one integer: asking for it lane by lane takes many instructions.
    return [
        f"%doubt.bits = bitcast <{width} x i1> {doubt.text} to i{width}",
        f"%doubt = icmp ne i{width} %doubt.bits, 0",
    ], "%doubt"


def _one_by_one(
    module: Module, form: Form, kind: str, width: int, numbers: list[Scalar]
) -> list[str]:
    """The exact form of each of the numbers, which may call the C library."""
    b = Builder(module)
    if width == 1:
        out = form(b, *numbers)
        return [*b.before[0], f"ret {kind} {out.text}"]
    vector, aligned = f"<{width} x {kind}>", width * alignment(kind)
    places = [f"{x.text}.all" for x in numbers]
    i = Scalar("%i", "i64", 0)
    elements = [
        b.pure(f"load {kind}, ptr {b.address(place, kind, i).text}, align {alignment(kind)}", kind)
        for place in places
    ]
    out = form(b, *elements)
    place = b.address("%out.all", kind, i)
    body = [*b.before[0], f"store {kind} {out.text}, ptr {place.text}, align {alignment(kind)}"]
    words = {"body": "\n".join(body), "width": width, "kind": FINISHED_LOOP}
    return [
        *[f"{place} = alloca {vector}, align {aligned}" for place in (*places, "%out.all")],
        *[
            f"store {vector} {x.text}, ptr {place}, align {aligned}"
            for x, place in zip(numbers, places, strict=True)
        ],
        filled(_LOOP, words),
        f"%out = load {vector}, ptr %out.all, align {aligned}",
        f"ret {vector} %out",
    ]
