"""Text of LLVM IR, one instruction at a time.

Instructions of a loop nest are put at the level of the innermost loop they depend on, so nothing
is computed more often than it must be. The same instruction on the same operands is emitted once.
"""

from __future__ import annotations

import itertools
import struct
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes
from weft._src.core.dtypes import DType
from weft._src.execution.native.machine.functions import StepFunction, merged

_MEMORY_TYPES: dict[DType, str] = {
    dtypes.bool_: "i8",
    dtypes.float16: "half",
    dtypes.bfloat16: "i16",
    dtypes.float32: "float",
    dtypes.float64: "double",
    **{d: f"i{8 * d.size}" for d in dtypes.INTEGER},
}
_NARROW = frozenset({dtypes.float16, dtypes.bfloat16})


def has_memory_type(dtype: DType) -> bool:
    """Whether native code can hold numbers of a dtype."""
    return dtype in _MEMORY_TYPES


def memory_type(dtype: DType) -> str:
    """The LLVM type of an element in memory."""
    return _MEMORY_TYPES[dtype]


def compute_type(dtype: DType) -> str:
    """The LLVM type of an element in a register: narrow floats are computed in float32."""
    if dtype in _NARROW:
        return "float"
    return "i1" if dtype is dtypes.bool_ else _MEMORY_TYPES[dtype]


def is_unsigned(dtype: DType) -> bool:
    """Whether comparing and dividing treat the bits as a number without a sign."""
    return dtype.numpy_dtype.kind == "u"


class Scalar(NamedTuple):
    """One number in a register: its LLVM name, its type, and how many loops it depends on.

    A wild one was read from memory, or computed from such numbers: it may be anything. As an index
    it is kept inside of its axis (`NestWriter.offset`); that it is wrong is for a check to say.
    """

    text: str
    type: str
    level: int
    is_wild: bool = False

    @property
    def is_float(self) -> bool:
        """Whether it is float or double."""
        return self.type in ("float", "double")


def float_text(number: float, kind: str) -> str:
    """A floating-point literal, exact."""
    if kind == "float":
        number = float(np.float32(number))
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    return f"0x{bits:016X}"


class Variants(NamedTuple):
    """A function without effect, for one number and for vectors of so many."""

    stem: str
    kind: str
    operands: int
    widths: tuple[int, ...]
    is_rarely_single: bool = False  # the form for one number asks the widest one

    def symbol(self, width: int) -> str:
        """The name of the form for so many numbers at once."""
        of = f"of{self.widths[-1]}" if width == 1 and self.is_rarely_single else ""
        return f"{self.stem}_x{width}{of}"

    def declarations(self) -> list[str]:
        """Lines that make all forms known."""
        types = {width: f"<{width} x {self.kind}>" for width in self.widths}
        if not self.is_rarely_single:
            types[1] = self.kind
        lines = [
            f"declare {t} @{self.symbol(width)}({', '.join([t] * self.operands)}) "
            "nounwind willreturn memory(none)"
            for width, t in types.items()
        ]
        return [*lines, *self._single()] if self.is_rarely_single else lines

    def _single(self) -> list[str]:
        """The form for one number by that for most: less work for LLVM than a form of its own.

        It is not internal, as LLVM drops arguments of internal functions that are always the same:
        then they are no longer what vector forms stand for.
        """
        width = self.widths[-1]
        vector, numbers = f"<{width} x {self.kind}>", [f"%x{i}" for i in range(self.operands)]
        parameters = ", ".join(f"{self.kind} {x}" for x in numbers)
        head = f"define {self.kind} @{self.symbol(1)}({parameters}) nounwind noinline"
        lines = [f"{head} willreturn memory(none) {{"]
        for x in numbers:
            lines.append(f"{x}.1 = insertelement {vector} poison, {self.kind} {x}, i32 0")
            pair, first = f"{vector} {x}.1, {vector} poison", f"<{width} x i32> zeroinitializer"
            lines.append(f"{x}.v = shufflevector {pair}, {first}")
        given = ", ".join(f"{vector} {x}.v" for x in numbers)
        lines += [
            f"%all = call {vector} @{self.symbol(width)}({given})",
            f"%one = extractelement {vector} %all, i32 0",
            f"ret {self.kind} %one",
            "}",
        ]
        return ["\n".join(lines)]

    def attribute(self) -> str:
        """What tells LLVM of the vector forms: names as vector function ABIs have them."""
        scalar, letters = self.symbol(1), "v" * self.operands
        names = [f"_ZGV_LLVM_N{w}{letters}_{scalar}({self.symbol(w)})" for w in self.widths]
        return f'"vector-function-abi-variant"="{",".join(names)}"'


_FIRST_OF_VARIANTS = 10  # the number of the first group of attributes of calls


class Module:
    """What the functions of one module share: names, declarations, data."""

    def __init__(self) -> None:
        self.functions: list[str | StepFunction] = []
        self._declarations: dict[str, str] = {}
        self._data: dict[str, str] = {}
        self._shared: dict[str, str] = {}
        self._variants: dict[Variants, int] = {}  # and their numbers
        self._names = 0

    def new_name(self, stem: str) -> str:
        """A name for a function or a piece of data."""
        self._names += 1
        return f"{stem}_{self._names}"

    def declare(self, name: str, result: str, parameters: str) -> None:
        """Makes an outside function known."""
        self._declarations[name] = f"declare {result} @{name}({parameters})"

    def declare_variants(self, variants: Variants) -> str:
        """Makes an outside function known that has forms for vectors; the attributes of calls."""
        number = self._variants.setdefault(variants, len(self._variants))
        return f"#{_FIRST_OF_VARIANTS + number}"

    def define_once(self, name: str, text: str) -> None:
        """Adds a function that several steps share."""
        self._shared[name] = text

    def forget(self, name: str) -> bool:
        """Drops a declaration: the function is defined in this module; whether there was one."""
        return self._declarations.pop(name, None) is not None

    def words(self, items: list[str]) -> str:
        """A constant array of whole numbers and places of functions, each with its type."""
        kinds = ", ".join(item.partition(" ")[0] for item in items)
        text = f"private constant <{{ {kinds} }}> <{{ {', '.join(items)} }}>, align 8"
        for name, known in self._data.items():
            if known == f"@{name} = {text}":
                return f"@{name}"
        name = self.new_name("words")
        self._data[name] = f"@{name} = {text}"
        return f"@{name}"

    def text(self) -> str:
        """The whole module."""
        parts = [*self._data.values(), *self._declarations.values(), *self._shared.values()]
        parts += [*merged(self.functions), *self._variant_lines(), _METADATA]
        parts += _WIDTH_METADATA if self._variants else []
        return "\n".join(parts)

    def _variant_lines(self) -> list[str]:
        """Declarations of vector forms; LLVM only finds those that something keeps alive."""
        lines: list[str] = []
        kept: list[str] = []
        for variants, number in self._variants.items():
            lines += variants.declarations()
            lines.append(
                f"attributes #{_FIRST_OF_VARIANTS + number} = {{ {variants.attribute()} }}"
            )
            kept += [f"ptr @{variants.symbol(width)}" for width in variants.widths]
        lines, kept = list(dict.fromkeys(lines)), list(dict.fromkeys(kept))
        if kept:
            used = f"@llvm.compiler.used = appending global [{len(kept)} x ptr]"
            lines.append(f'{used} [{", ".join(kept)}], section "llvm.metadata"')
        return lines


# Accesses of one iteration do not touch what other iterations touch; sums may be reordered.
PARALLEL = "!llvm.access.group !0"
_METADATA = """
!0 = distinct !{}
!1 = !{!"llvm.loop.parallel_accesses", !0}
!2 = distinct !{!2, !1, !3, !6, !11}
!3 = !{!"llvm.loop.mustprogress"}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3, !6, !7}
!6 = !{!"llvm.loop.unroll.disable"}
!7 = !{!"llvm.loop.vectorize.enable", i1 false}
!10 = distinct !{!10, !3, !6}
!11 = !{!"llvm.loop.vectorize.followup_vectorized", !12, !3}
!12 = !{!"llvm.loop.isvectorized", i32 1}
!13 = distinct !{!13, !1, !3, !6, !14}
!14 = !{!"llvm.loop.interleave.count", i32 4}
"""
_WIDTHS = (2, 4, 8, 16, 32)
_WIDTH_METADATA = [
    '!8 = !{!"llvm.loop.vectorize.enable", i1 true}',
    '!9 = !{!"llvm.loop.interleave.count", i32 1}',
    *[f'!{100 + n} = !{{!"llvm.loop.vectorize.width", i32 {n}}}' for n in _WIDTHS],
    *[f"!{200 + n} = distinct !{{!{200 + n}, !1, !3, !6, !8, !9, !{100 + n}}}" for n in _WIDTHS],
]
# Not unrolled before it is made of vectors, but afterwards: to find the vectors among unrolled
# elements takes LLVM four times as long.
PARALLEL_LOOP = "!llvm.loop !2"
# With four vectors at once: results that are waited for, such as the largest of all.
INTERLEAVED_LOOP = "!llvm.loop !13"
# The same, with so many elements at once.
LOOPS_OF_WIDTH = {n: f"!llvm.loop !{200 + n}" for n in _WIDTHS}
SERIAL_LOOP = "!llvm.loop !4"
OUTER_LOOP = "!llvm.loop !10"  # serial, with so much inside that unrolling it gains nothing
FINISHED_LOOP = "!llvm.loop !5"  # written as it is to be: LLVM loses time trying to improve it


def filled(template: str, words: dict[str, Any]) -> str:
    """A text of LLVM IR in which `<key>` stands for a word."""
    for key, word in words.items():
        template = template.replace(f"<{key}>", str(word))
    return template


def loop_lines(
    stem: str, size: int | str, above: str, body: list[str], kind: str = SERIAL_LOOP
) -> list[str]:
    """`for %stem in range(size)`, entered from the block `above`; ends in the block `stem.end`."""
    return [
        f"br label %{stem}.head",
        f"{stem}.head:",
        f"%{stem} = phi i64 [0, %{above}], [%{stem}.next, %{stem}.latch]",
        *body,
        f"br label %{stem}.latch",
        f"{stem}.latch:",
        f"%{stem}.next = add nuw nsw i64 %{stem}, 1",
        f"%{stem}.more = icmp ult i64 %{stem}.next, {size}",
        f"br i1 %{stem}.more, label %{stem}.head, label %{stem}.end, {kind}",
        f"{stem}.end:",
    ]


class Builder:
    """Collects the instructions of one loop nest, by level; level 0 is outside of all loops.

    With several lanes each number stands for a vector of them, and what is written once is done for
    all. Vectors do without memory and functions of C.
    """

    def __init__(
        self,
        module: Module,
        levels: int = 0,
        *,
        exact: bool = True,
        calls: bool = False,
        is_long: bool = False,
        lanes: int = 1,
    ) -> None:
        self.module = module
        self.lanes = lanes
        self.calls_outside = False  # functions of C, which have no vector form
        self.called: set[str] = set()  # the types of functions that have vector forms
        self.calls = calls  # elementary functions instead of writing them out
        self.is_long = is_long  # so that hardly any numbers are left over behind the last vector
        # Not exact: forms may leave rare inputs out if they say so with a doubt; the nest is then
        # computed again, exactly.
        self.exact = exact
        self.doubts: list[Scalar] = []
        self.before: list[list[str]] = [[] for _ in range(levels + 1)]
        self.after: list[list[str]] = [[] for _ in range(levels + 1)]
        self._known: dict[tuple[str, str], Scalar] = {}
        self._numbers = itertools.count(1)

    def appending_to(self, lines: list[str]) -> Builder:
        """A builder that adds to a list of instructions, without reusing any."""
        other = Builder(self.module)
        other.before[0] = lines
        other._numbers = self._numbers
        return other

    # --- instructions ------------------------------------------------------------------------

    def fresh(self) -> str:
        """A new register name."""
        return f"%r{next(self._numbers)}"

    def spelled(self, kind: str) -> str:
        """The type of a number as instructions name it."""
        return kind if self.lanes == 1 else f"<{self.lanes} x {kind}>"

    def pure(self, text: str, kind: str, *operands: Scalar) -> Scalar:
        """An instruction without effect, reused if it was emitted before."""
        known = self._known.get((text, kind))
        if known is None:
            level = max([x.level for x in operands], default=0)
            known = Scalar(self.fresh(), kind, level, any(x.is_wild for x in operands))
            self.before[level].append(f"{known.text} = {text}")
            self._known[text, kind] = known
        return known

    def binary(self, opcode: str, x: Scalar, y: Scalar) -> Scalar:
        """`opcode x, y` of two numbers of one type."""
        if x.type != y.type:
            raise TypeError(f"{opcode} of {x} and {y}")
        return self.pure(f"{opcode} {self.spelled(x.type)} {x.text}, {y.text}", x.type, x, y)

    def compare(self, predicate: str, x: Scalar, y: Scalar) -> Scalar:
        """A comparison: `predicate` as `fcmp`/`icmp` know it."""
        opcode = "fcmp" if x.is_float else "icmp"
        text = f"{opcode} {predicate} {self.spelled(x.type)} {x.text}, {y.text}"
        return self.pure(text, "i1", x, y)

    def select(self, condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
        """x where the condition holds, else y."""
        if x.text == y.text:
            return x
        kind = self.spelled(x.type)
        text = f"select {self.spelled('i1')} {condition.text}, {kind} {x.text}, {kind} {y.text}"
        return self.pure(text, x.type, condition, x, y)

    def convert(self, opcode: str, x: Scalar, kind: str) -> Scalar:
        """A change of type."""
        if x.type == kind:
            return x
        text = f"{opcode} {self.spelled(x.type)} {x.text} to {self.spelled(kind)}"
        return self.pure(text, kind, x)

    def call(self, name: str, kind: str, *operands: Scalar) -> Scalar:
        """A call of a function without effect."""
        self.calls_outside = self.calls_outside or not name.startswith("llvm.")
        types = [self.spelled(x.type) for x in operands]
        self.module.declare(name, self.spelled(kind), ", ".join(types))
        arguments = ", ".join(f"{t} {x.text}" for t, x in zip(types, operands, strict=True))
        return self.pure(f"call {self.spelled(kind)} @{name}({arguments})", kind, *operands)

    def call_variants(self, variants: Variants, *operands: Scalar) -> Scalar:
        """A call that may become one of a vector form."""
        group = self.module.declare_variants(variants)
        self.called.add(variants.kind)
        arguments = ", ".join(f"{x.type} {x.text}" for x in operands)
        call = f"call {variants.kind} @{variants.symbol(1)}({arguments}) {group}"
        return self.pure(call, variants.kind, *operands)

    # --- numbers -----------------------------------------------------------------------------

    def number(self, kind: str, value: Any) -> Scalar:
        """A literal."""
        if kind in ("float", "double"):
            text = float_text(float(value), kind)
        elif kind == "i1":
            text = "true" if value else "false"
        else:
            text = str(int(value))
        return Scalar(text if self.lanes == 1 else f"splat ({kind} {text})", kind, 0)

    def like(self, x: Scalar, value: Any) -> Scalar:
        """A literal of the type of another number."""
        return self.number(x.type, value)

    def index(self, value: int) -> Scalar:
        """A literal index."""
        return Scalar(str(value), "i64", 0)

    def inside(self, x: Scalar, size: int) -> Scalar:
        """An index in [0, size), whatever it was; not wild any more."""
        last = self.index(size - 1)
        self.module.declare("llvm.umin.i64", "i64", "i64, i64")
        kept = self.pure(f"call i64 @llvm.umin.i64(i64 {x.text}, i64 {last.text})", "i64", x)
        return kept._replace(is_wild=False)

    def add(self, x: Scalar, y: Scalar) -> Scalar:
        """The sum, of floats or integers."""
        if x.is_float:
            return self.binary("fadd", x, y)
        if y.text == "0":
            return x
        if x.text == "0":
            return y
        return self.binary("add", x, y)

    def sub(self, x: Scalar, y: Scalar) -> Scalar:
        """The difference."""
        return self.binary("fsub" if x.is_float else "sub", x, y)

    def mul(self, x: Scalar, y: Scalar) -> Scalar:
        """The product."""
        if x.is_float:
            return self.binary("fmul", x, y)
        if y.text == "1":
            return x
        return self.binary("mul", x, y)

    def div(self, x: Scalar, y: Scalar) -> Scalar:
        """The quotient of floats."""
        return self.binary("fdiv", x, y)

    def neg(self, x: Scalar) -> Scalar:
        """The number with the other sign."""
        if x.is_float:
            return self.pure(f"fneg {self.spelled(x.type)} {x.text}", x.type, x)
        return self.sub(self.like(x, 0), x)

    def intrinsic(self, name: str, *operands: Scalar) -> Scalar:
        """One of LLVM's functions on floats, such as `sqrt` or `fma`."""
        kind = operands[0].type
        lanes = "" if self.lanes == 1 else f"v{self.lanes}"
        return self.call(
            f"llvm.{name}.{lanes}{'f32' if kind == 'float' else 'f64'}", kind, *operands
        )

    def fma(self, x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        """x * y + z, rounded once where the processor can."""
        return self.intrinsic("fmuladd", x, y, z)

    # --- memory ------------------------------------------------------------------------------

    def address(self, pointer: str, kind: str, offset: Scalar) -> Scalar:
        """The place of an element."""
        return self.pure(f"getelementptr {kind}, ptr {pointer}, i64 {offset.text}", "ptr", offset)

    def load(self, pointer: str, dtype: DType, offset: Scalar, *, parallel: bool = True) -> Scalar:
        """An element of a buffer that this nest does not change, as a number to compute with."""
        kind = memory_type(dtype)
        place = self.address(pointer, kind, offset)
        mark = f", {PARALLEL}" if parallel else ""
        raw = self.pure(
            f"load {kind}, ptr {place.text}, align {alignment(kind)}{mark}", kind, place
        )
        return self.widened(raw._replace(is_wild=True), dtype)

    def widened(self, raw: Scalar, dtype: DType) -> Scalar:
        """From memory to register."""
        if dtype is dtypes.bool_:
            return self.compare("ne", raw, self.like(raw, 0))
        if dtype is dtypes.float16:
            return self.convert("fpext", raw, "float")
        if dtype is dtypes.bfloat16:
            wide = self.convert("zext", raw, "i32")
            return self.convert(
                "bitcast", self.binary("shl", wide, self.number("i32", 16)), "float"
            )
        return raw

    def narrowed(self, x: Scalar, dtype: DType) -> Scalar:
        """From register to memory."""
        if dtype is dtypes.bool_:
            return self.convert("zext", x, "i8")
        if dtype is dtypes.float16:
            return self.convert("fptrunc", x, "half")
        if dtype is dtypes.bfloat16:
            return self._to_bfloat16(x)
        return x

    def _to_bfloat16(self, x: Scalar) -> Scalar:
        """Rounds to the nearest, ties to even; NaN stays NaN."""
        bits = self.convert("bitcast", x, "i32")
        sixteen = self.like(bits, 16)
        odd = self.binary("and", self.binary("lshr", bits, sixteen), self.like(bits, 1))
        rounded = self.add(self.add(bits, self.like(bits, 0x7FFF)), odd)
        high = self.convert("trunc", self.binary("lshr", rounded, sixteen), "i16")
        sign = self.binary("lshr", bits, sixteen)
        nan = self.binary(
            "or",
            self.convert("trunc", self.binary("and", sign, self.like(bits, 0x8000)), "i16"),
            self.number("i16", 0x7FC0),
        )
        return self.select(self.compare("uno", x, x), nan, high)

    def rounded(self, x: Scalar, dtype: DType) -> Scalar:
        """The number as memory would hold it: fused ops round as separate ones do."""
        if dtype not in _NARROW:
            return x
        return self.widened(self.narrowed(x, dtype), dtype)

    def store(self, pointer: str, dtype: DType, offset: Scalar, x: Scalar, level: int) -> None:
        """Writes an element, inside the given number of loops."""
        kind = memory_type(dtype)
        raw = self.narrowed(x, dtype)
        place = self.address(pointer, kind, offset)
        self.before[level].append(
            f"store {kind} {raw.text}, ptr {place.text}, align {alignment(kind)}, {PARALLEL}"
        )


def alignment(kind: str) -> int:
    """The alignment NumPy promises for an element."""
    sizes = {"half": 2, "float": 4, "double": 8, "ptr": 8}
    return sizes[kind] if kind in sizes else int(kind[1:]) // 8
