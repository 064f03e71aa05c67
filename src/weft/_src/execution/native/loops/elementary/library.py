"""Elementary functions as functions of their own, which long programs call instead of repeating.

Each is there for one number, and for as many as a vector holds (`machine/library.py`). LLVM is told
of the vector forms, so that loops with calls vectorise.
"""

from __future__ import annotations

from collections.abc import Callable

from weft._src.execution.native.machine import library, llvm
from weft._src.execution.native.machine.builder import (
    FINISHED_LOOP,
    PARALLEL,
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
_ONE_VECTOR = """
!20 = distinct !{{!20, !1, !3, !6, !21, !22, !23}}
!21 = !{{!"llvm.loop.vectorize.width", i32 {width}}}
!22 = !{{!"llvm.loop.vectorize.enable", i1 true}}
!23 = !{{!"llvm.loop.interleave.count", i32 1}}
!24 = !{{!"branch_weights", i32 1, i32 1000}}
"""


def offered(name: str, form: Form, operands: int = 1) -> Form:
    """A form that is a call where the builder wants calls, and written out elsewhere."""
    _forms[name] = (form, operands)

    def function(b: Builder, *numbers: Scalar) -> Scalar:
        if not b.calls:
            return form(b, *numbers)
        return b.call_variants(variants_of(name, numbers[0].type), *numbers)

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
    module, width = Module(), int(lanes)
    fast = _Writer(module, name, kind, width, exact=False)
    head = fast.lines()
    if not fast.doubts:
        module.functions.append(fast.function(symbol, [*head, *fast.result("out")]))
        return module.text() + _ONE_VECTOR.format(width=width)
    # Numbers for which the fast form is wrong are rare: what they need is kept out of its way.
    exact = _Writer(module, name, kind, width, exact=True)
    body = [*exact.lines(), *exact.result("out")]
    module.functions.append(exact.function(f"{symbol}_exact", body, "internal ", "noinline cold"))
    arguments = ", ".join(f"{fast.vector} %{x}" for x in fast.letters)
    lines = [
        "%in.doubt = load i1, ptr %doubt",
        "br i1 %in.doubt, label %again, label %done, !prof !24",
        "again:",
        f"%precise = tail call {fast.vector} @{symbol}_exact({arguments})",
        f"ret {fast.vector} %precise",
        "done:",
    ]
    module.functions.append(fast.function(symbol, [*head, *lines, *fast.result("out")]))
    return module.text() + _ONE_VECTOR.format(width=width)


library.offer(_PREFIX + r"(\w+?)_(float|double)_x(\d+)", _text)


class _Writer:
    """Applies a form to every lane, in a loop that becomes one vector."""

    def __init__(self, module: Module, name: str, kind: str, width: int, *, exact: bool) -> None:
        self.form, count = _forms[name]
        self.kind, self.width, self.exact = kind, width, exact
        self.letters = "xy"[:count]
        self.vector = kind if width == 1 else f"<{width} x {kind}>"
        self.aligned = width * alignment(kind)
        self._b = Builder(module, exact=exact)

    @property
    def doubts(self) -> list[Scalar]:
        """Which numbers the fast form does not know."""
        return self._b.doubts

    def lines(self) -> list[str]:
        """From the operands to the results in memory."""
        b, kind = self._b, self.kind
        i = Scalar("%i", "i64", 0)
        mark = f", align {alignment(kind)}, {PARALLEL}"
        numbers = []
        for letter in self.letters:
            place = b.address(f"%{letter}.all", kind, i)
            numbers.append(b.pure(f"load {kind}, ptr {place.text}{mark}", kind))
        out = self.form(b, *numbers)
        place = b.address("%out.all", kind, i)
        body = [*b.before[0], f"store {kind} {out.text}, ptr {place.text}{mark}"]
        for number, doubt in enumerate(b.doubts):
            old, new = f"%doubt.old.{number}", f"%doubt.new.{number}"
            body += [
                f"{old} = load i1, ptr %doubt",
                f"{new} = or i1 {old}, {doubt.text}",
                f"store i1 {new}, ptr %doubt",
            ]
        vector, aligned = self.vector, self.aligned
        is_vector = self.width > 1 and not self.exact
        words = {
            "body": "\n".join(body),
            "width": self.width,
            "kind": "!llvm.loop !20" if is_vector else FINISHED_LOOP,
        }
        return [
            *[f"%{x}.all = alloca {vector}, align {aligned}" for x in (*self.letters, "out")],
            "%doubt = alloca i1",
            "store i1 false, ptr %doubt",
            *[f"store {vector} %{x}, ptr %{x}.all, align {aligned}" for x in self.letters],
            filled(_LOOP, words),
        ]

    def result(self, name: str) -> list[str]:
        """Returns what lies in memory."""
        load = f"load {self.vector}, ptr %{name}.all, align {self.aligned}"
        return [f"%{name} = {load}", f"ret {self.vector} %{name}"]

    def function(
        self, symbol: str, lines: list[str], linkage: str = "", attributes: str = ""
    ) -> str:
        """The text of a function with these instructions."""
        parameters = ", ".join(f"{self.vector} %{x}" for x in self.letters)
        head = f"define {linkage}{self.vector} @{symbol}({parameters}) nounwind {attributes} {{"
        return "\n".join([head, "entry:", *lines, "}"])
