"""The compressed pixels of usual JPEG files, as LLVM IR: see `media/jpeg_scans.py`.

Codes are read bit by bit and looked up, coefficients are multiplied by the steps they were divided
by, and each block of 8 x 8 of them is transformed in numbers of 16 bits that wrap around, by the
steps of libjpeg's fast transform. Whatever is not as it should be ends in a status that is not 0:
then libjpeg reads the file.
"""

from __future__ import annotations

LOOKUP_BITS = 10  # codes that are not longer are found at once
BLOCK_WORDS = 7  # numbers that describe a block of a unit: where it lies, and its tables

# The words of a job. `planes` is room for the samples of all components. For each table of codes:
# `lookup` has the length of a code times 256 plus its symbol for all that begins with it, or 0;
# `most` the largest code of each length, `offset` what leads from a code to its symbol in
# `symbols`. A unit has `count` blocks, of which `blocks` tells: the first byte, how far it moves
# with a unit to the right and down, the length of a row, the tables of codes, the component, which
# has its own steps. `status` is written: 0 if all went well.
JOB = (
    "data", "start", "size", "planes", "lookup", "most", "offset", "symbols", "steps", "blocks",
    "count", "across", "down", "status",
)  # fmt: skip

# Where the coefficients of a block go, in the order of the file.
ORDER = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
]  # fmt: skip

_DECLARATIONS = f"""
@order = private constant [64 x i8] [{", ".join([f"i8 {place}" for place in ORDER])}]
declare i32 @llvm.bswap.i32(i32)
declare <8 x i16> @llvm.smax.v8i16(<8 x i16>, <8 x i16>)
declare <8 x i16> @llvm.smin.v8i16(<8 x i16>, <8 x i16>)
"""

# Bytes are taken until 57 bits are there or more. Behind 255 comes 0, which is skipped; anything
# else is a marker, at which zeros are read, and counted in `made.up`.
_FILL = """
define internal {i64, i64, i64, i64} @fill(ptr %data, i64 %size, i64 %bits.0, i64 %left.0,
                                           i64 %at.0, i64 %made.up.0) noinline {
entry:
br label %next
next:
%bits = phi i64 [%bits.0, %entry], [%bits.more, %put]
%left = phi i64 [%left.0, %entry], [%left.more, %put]
%at = phi i64 [%at.0, %entry], [%at.more, %put]
%made.up = phi i64 [%made.up.0, %entry], [%made.up.more, %put]
%has.room = icmp ule i64 %left, 56
br i1 %has.room, label %take, label %done
take:
%is.in = icmp ult i64 %at, %size
br i1 %is.in, label %look, label %marker
look:
%p = getelementptr i8, ptr %data, i64 %at
%first = load i8, ptr %p
%after = add i64 %at, 1
%is.escape = icmp eq i8 %first, -1
br i1 %is.escape, label %escape, label %put
escape:
%after.is.in = icmp ult i64 %after, %size
br i1 %after.is.in, label %behind, label %marker
behind:
%q = getelementptr i8, ptr %data, i64 %after
%second = load i8, ptr %q
%after.two = add i64 %at, 2
%is.byte = icmp eq i8 %second, 0
br i1 %is.byte, label %put, label %marker
marker:
%one.more = add i64 %made.up, 8
br label %put
put:
%byte = phi i8 [%first, %look], [-1, %behind], [0, %marker]
%at.more = phi i64 [%after, %look], [%after.two, %behind], [%at, %marker]
%made.up.more = phi i64 [%made.up, %look], [%made.up, %behind], [%one.more, %marker]
%wide = zext i8 %byte to i64
%up = sub i64 56, %left
%placed = shl i64 %wide, %up
%bits.more = or i64 %bits, %placed
%left.more = add i64 %left, 8
br label %next
done:
%r.0 = insertvalue {i64, i64, i64, i64} poison, i64 %bits, 0
%r.1 = insertvalue {i64, i64, i64, i64} %r.0, i64 %left, 1
%r.2 = insertvalue {i64, i64, i64, i64} %r.1, i64 %at, 2
%r.3 = insertvalue {i64, i64, i64, i64} %r.2, i64 %made.up, 3
ret {i64, i64, i64, i64} %r.3
}
"""

# A code longer than `LOOKUP_BITS`: its length times 256 plus its symbol, 0 if there is none.
_LONG_CODE = f"""
define internal i64 @long_code(i64 %bits, ptr %most, ptr %offset, ptr %symbols) noinline {{
entry:
for %length from {LOOKUP_BITS + 1} < 17
%down = sub i64 64, %length
%code = lshr i64 %bits, %down
%most.p = getelementptr i32, ptr %most, i64 %length
%most.32 = load i32, ptr %most.p
%most.64 = sext i32 %most.32 to i64
%is.it = icmp sle i64 %code, %most.64
br i1 %is.it, label %found, label %longer
found:
%offset.p = getelementptr i32, ptr %offset, i64 %length
%offset.32 = load i32, ptr %offset.p
%offset.64 = sext i32 %offset.32 to i64
%sum = add i64 %code, %offset.64
%number = and i64 %sum, 255
%symbol.p = getelementptr i8, ptr %symbols, i64 %number
%symbol.8 = load i8, ptr %symbol.p
%symbol = zext i8 %symbol.8 to i64
%high = shl i64 %length, 8
%both = or i64 %high, %symbol
ret i64 %both
longer:
end
ret i64 0
}}
"""

# The next symbol, -1 if there is none; then at least 16 bits are left. The state of reading is in
# variables, which LLVM keeps in registers.
_SYMBOL = f"""
define internal i64 @symbol(ptr %bits.v, ptr %left.v, ptr %at.v, ptr %made.up.v, ptr %data,
                            i64 %size, ptr %lookup, ptr %most, ptr %offset, ptr %symbols)
                            alwaysinline {{
entry:
%left.0 = load i64, ptr %left.v
%is.low = icmp ult i64 %left.0, 32
br i1 %is.low, label %refill, label %ready
refill:
%at.0 = load i64, ptr %at.v
%at.4 = add i64 %at.0, 4
%are.there = icmp ule i64 %at.4, %size
br i1 %are.there, label %four, label %slowly
four:
%w.p = getelementptr i8, ptr %data, i64 %at.0
%w = load i32, ptr %w.p, align 1
%w.not = xor i32 %w, -1
%w.less = sub i32 %w.not, {0x01010101}
%w.high = and i32 %w.less, %w
%w.escapes = and i32 %w.high, {0x80808080 - (1 << 32)}
%has.escape = icmp ne i32 %w.escapes, 0
br i1 %has.escape, label %slowly, label %quickly
quickly:
%w.turned = call i32 @llvm.bswap.i32(i32 %w)
%w.64 = zext i32 %w.turned to i64
%up = sub i64 32, %left.0
%w.placed = shl i64 %w.64, %up
%bits.0 = load i64, ptr %bits.v
%bits.1 = or i64 %bits.0, %w.placed
store i64 %bits.1, ptr %bits.v
%left.1 = add i64 %left.0, 32
store i64 %left.1, ptr %left.v
store i64 %at.4, ptr %at.v
br label %ready
slowly:
%bits.2 = load i64, ptr %bits.v
%made.up.2 = load i64, ptr %made.up.v
%all = call {{i64, i64, i64, i64}} @fill(ptr %data, i64 %size, i64 %bits.2, i64 %left.0,
                                         i64 %at.0, i64 %made.up.2)
%all.0 = extractvalue {{i64, i64, i64, i64}} %all, 0
%all.1 = extractvalue {{i64, i64, i64, i64}} %all, 1
%all.2 = extractvalue {{i64, i64, i64, i64}} %all, 2
%all.3 = extractvalue {{i64, i64, i64, i64}} %all, 3
store i64 %all.0, ptr %bits.v
store i64 %all.1, ptr %left.v
store i64 %all.2, ptr %at.v
store i64 %all.3, ptr %made.up.v
br label %ready
ready:
%bits = load i64, ptr %bits.v
%top = lshr i64 %bits, {64 - LOOKUP_BITS}
%entry.p = getelementptr i16, ptr %lookup, i64 %top
%entry.16 = load i16, ptr %entry.p
%is.short = icmp ne i16 %entry.16, 0
br i1 %is.short, label %short, label %long
short:
%entry.64 = zext i16 %entry.16 to i64
br label %done
long:
%found = call i64 @long_code(i64 %bits, ptr %most, ptr %offset, ptr %symbols)
br label %done
done:
%both = phi i64 [%entry.64, %short], [%found, %long]
%length = lshr i64 %both, 8
%number = and i64 %both, 255
%bits.rest = shl i64 %bits, %length
store i64 %bits.rest, ptr %bits.v
%left = load i64, ptr %left.v
%left.rest = sub i64 %left, %length
store i64 %left.rest, ptr %left.v
%is.none = icmp eq i64 %both, 0
%symbol = select i1 %is.none, i64 -1, i64 %number
ret i64 %symbol
}}
"""

# A number of `size` bits, 0 to 15: those that begin with 0 are negative.
_NUMBER = """
define internal i64 @number(ptr %bits.v, ptr %left.v, i64 %size) alwaysinline {
entry:
%bits = load i64, ptr %bits.v
%half = lshr i64 %bits, 1
%down = sub i64 63, %size
%x = lshr i64 %half, %down
%is.positive = ashr i64 %bits, 63
%is.negative = xor i64 %is.positive, -1
%mask = shl i64 -1, %size
%less = add i64 %mask, 1
%change = and i64 %less, %is.negative
%value = add i64 %x, %change
%bits.rest = shl i64 %bits, %size
store i64 %bits.rest, ptr %bits.v
%left = load i64, ptr %left.v
%left.rest = sub i64 %left, %size
store i64 %left.rest, ptr %left.v
ret i64 %value
}
"""

# Factors of the fast transform, as parts of 256.
_1_414, _1_847, _1_082, _1_613 = 362, 473, 277, 413


class _Lines:
    """Writes operations on vectors of eight numbers of 16 bits."""

    def __init__(self) -> None:
        self.text: list[str] = []

    def _named(self, line: str) -> str:
        name = f"%v{len(self.text)}"
        self.text.append(f"{name} = {line}")
        return name

    def op(self, op: str, a: str, b: str) -> str:
        return self._named(f"{op} <8 x i16> {a}, {b}")

    def times(self, x: str, factor: int) -> str:
        """The product, without its lower 8 bits; of what is left of four times the number."""
        four = self.op("shl", x, "splat (i16 2)")
        wide = self._named(f"sext <8 x i16> {four} to <8 x i32>")
        product = self._named(f"mul <8 x i32> {wide}, splat (i32 {factor << 6})")
        high = self._named(f"ashr <8 x i32> {product}, splat (i32 16)")
        return self._named(f"trunc <8 x i32> {high} to <8 x i16>")

    def interleaved(self, a: str, b: str, first: int) -> str:
        places = [i // 2 + first + 8 * (i % 2) for i in range(8)]
        order = ", ".join([f"i32 {place}" for place in places])
        return self._named(f"shufflevector <8 x i16> {a}, <8 x i16> {b}, <8 x i32> <{order}>")

    def transposed(self, rows: list[str]) -> list[str]:
        for _ in range(3):
            rows = [
                self.interleaved(rows[i], rows[i + 4], first) for i in range(4) for first in (0, 4)
            ]
        return rows

    def turned(self, x: list[str]) -> list[str]:
        """The transform along the vectors."""
        add, sub = [lambda a, b, op=op: self.op(op, a, b) for op in ("add", "sub")]
        a, b = add(x[0], x[4]), sub(x[0], x[4])
        d = add(x[2], x[6])
        c = sub(self.times(sub(x[2], x[6]), _1_414), d)
        even = [add(a, d), add(b, c), sub(b, c), sub(a, d)]
        e, f, g, h = sub(x[5], x[3]), add(x[1], x[7]), sub(x[1], x[7]), add(x[5], x[3])
        last = add(f, h)
        middle = self.times(sub(f, h), _1_414)
        both = self.times(add(e, g), _1_847)
        low = sub(self.times(g, _1_082), both)
        high = add(sub(self.times(e, -_1_613), e), both)
        third = sub(high, last)
        second = sub(middle, third)
        first = add(low, second)
        odd = [last, third, second]
        out = [add(even[i], odd[i]) for i in range(3)] + [sub(even[3], first), add(even[3], first)]
        return out + [sub(even[i], odd[i]) for i in (2, 1, 0)]


def _transform() -> str:
    lines = _Lines()
    rows = [lines.op("mul", f"%c.{i}", f"%s.{i}") for i in range(8)]
    columns = lines.transposed(lines.turned(rows))
    done = lines.transposed(lines.turned(columns))
    loads, stores = [], []
    for i, x in enumerate(done):
        for name, given in (("c", "coefficients"), ("s", "steps")):
            loads += [
                f"%{name}.{i}.p = getelementptr i16, ptr %{given}, i64 {8 * i}",
                f"%{name}.{i} = load <8 x i16>, ptr %{name}.{i}.p, align 2",
            ]
        stores += [
            f"%x.{i} = call <8 x i8> @sample(<8 x i16> {x})",
            f"%o.{i}.at = mul i64 %line, {i}",
            f"%o.{i}.p = getelementptr i8, ptr %out, i64 %o.{i}.at",
            f"store <8 x i8> %x.{i}, ptr %o.{i}.p, align 1",
        ]
    return "\n".join([*loads, *lines.text, *stores])


_BLOCK = f"""
define internal <8 x i8> @sample(<8 x i16> %x) alwaysinline {{
entry:
%y = ashr <8 x i16> %x, splat (i16 5)
%low = call <8 x i16> @llvm.smax.v8i16(<8 x i16> %y, <8 x i16> splat (i16 -128))
%in = call <8 x i16> @llvm.smin.v8i16(<8 x i16> %low, <8 x i16> splat (i16 127))
%up = add <8 x i16> %in, splat (i16 128)
%byte = trunc <8 x i16> %up to <8 x i8>
ret <8 x i8> %byte
}}
define internal void @block(ptr noalias %coefficients, ptr noalias %steps, ptr noalias %out,
                            i64 %line) {{
entry:
{_transform()}
ret void
}}
define internal void @flat_block(i16 %number, ptr noalias %out, i64 %line) {{
entry:
%one = insertelement <8 x i16> poison, i16 %number, i64 0
%all = shufflevector <8 x i16> %one, <8 x i16> poison, <8 x i32> zeroinitializer
%x = call <8 x i8> @sample(<8 x i16> %all)
for %y < 8
%at = mul i64 %y, %line
%p = getelementptr i8, ptr %out, i64 %at
store <8 x i8> %x, ptr %p, align 1
end
ret void
}}
"""

_NEXT_SYMBOL = (
    "call i64 @symbol(ptr %bits, ptr %left, ptr %at, ptr %made.up, ptr %data, i64 %size, "
    "ptr %<kind>.lookup, ptr %<kind>.most, ptr %<kind>.offset, ptr %<kind>.symbols)"
)
_TABLES = f"""
%<kind>.lookup.at = mul i64 %<kind>, {1 << LOOKUP_BITS}
%<kind>.lookup = getelementptr i16, ptr %lookup, i64 %<kind>.lookup.at
%<kind>.lengths = mul i64 %<kind>, 17
%<kind>.most = getelementptr i32, ptr %most, i64 %<kind>.lengths
%<kind>.offset = getelementptr i32, ptr %offset, i64 %<kind>.lengths
%<kind>.symbols.at = mul i64 %<kind>, 256
%<kind>.symbols = getelementptr i8, ptr %symbols, i64 %<kind>.symbols.at
"""
_BLOCK_FIELDS = ("first", "right", "below", "line", "dc", "ac", "component")


def _fields() -> str:
    assert len(_BLOCK_FIELDS) == BLOCK_WORDS, "numbers of a block"
    return "\n".join([
        f"%{name}.p = getelementptr i64, ptr %about, i64 {i}\n%{name} = load i64, ptr %{name}.p"
        for i, name in enumerate(_BLOCK_FIELDS)
    ])  # fmt: skip


_END = int.from_bytes(b"\xff\xd9", "little", signed=True)  # the marker behind the last scan
_NUMBERS = {"start", "size", "count", "across", "down"}
_WORDS = "\n".join([f"<{'i64' if word in _NUMBERS else 'ptr'} {word}>" for word in JOB[:-1]])
_SCAN = f"""
define void @weft_jpeg_scan(ptr %job) {{
entry:
%coefficients = alloca [64 x i16], align 16
%before = alloca [4 x i64], align 16
{_WORDS}
store [4 x i64] zeroinitializer, ptr %before
%status = getelementptr i64, ptr %job, i64 <word status>
store i64 1, ptr %status
var i64 %bits = 0
var i64 %left = 0
var i64 %at = %start
var i64 %made.up = 0
var i64 %k = 1
for %my < %down
for %mx < %across
for %b < %count
%about.at = mul i64 %b, {BLOCK_WORDS}
%about = getelementptr i64, ptr %blocks, i64 %about.at
{_fields()}
{_TABLES.replace("<kind>", "dc")}
{_TABLES.replace("<kind>", "ac")}
%steps.at = mul i64 %component, 64
%own.steps = getelementptr i16, ptr %steps, i64 %steps.at
store [64 x i16] zeroinitializer, ptr %coefficients
; how much brighter the block is than the one before
%dc.size = {_NEXT_SYMBOL.replace("<kind>", "dc")}
%dc.is.known = icmp ult i64 %dc.size, 16
br i1 %dc.is.known, label %dc.number, label %unusual
dc.number:
%difference = call i64 @number(ptr %bits, ptr %left, i64 %dc.size)
%before.p = getelementptr i64, ptr %before, i64 %component
%dc.before = load i64, ptr %before.p
%dc.new = add i64 %dc.before, %difference
store i64 %dc.new, ptr %before.p
%dc.16 = trunc i64 %dc.new to i16
store i16 %dc.16, ptr %coefficients
store i64 1, ptr %k
br label %ac.next
ac.next:
%k.0 = load i64, ptr %k
%k.more = icmp ult i64 %k.0, 64
br i1 %k.more, label %ac.symbol, label %ac.done
ac.symbol:
%both = {_NEXT_SYMBOL.replace("<kind>", "ac")}
%is.none = icmp slt i64 %both, 0
br i1 %is.none, label %unusual, label %ac.run
ac.run:
%zeros = lshr i64 %both, 4
%ac.size = and i64 %both, 15
%is.zero = icmp eq i64 %ac.size, 0
br i1 %is.zero, label %ac.zeros, label %ac.number
ac.zeros:
%is.long = icmp eq i64 %zeros, 15
%k.16 = add i64 %k.0, 16
%k.skipped = select i1 %is.long, i64 %k.16, i64 %k.0
store i64 %k.skipped, ptr %k
br i1 %is.long, label %ac.next, label %ac.done
ac.number:
%k.1 = add i64 %k.0, %zeros
%is.in = icmp ult i64 %k.1, 64
br i1 %is.in, label %ac.put, label %unusual
ac.put:
%value = call i64 @number(ptr %bits, ptr %left, i64 %ac.size)
%value.16 = trunc i64 %value to i16
%place.p = getelementptr i8, ptr @order, i64 %k.1
%place.8 = load i8, ptr %place.p
%place = zext i8 %place.8 to i64
%c.p = getelementptr i16, ptr %coefficients, i64 %place
store i16 %value.16, ptr %c.p
%k.2 = add i64 %k.1, 1
store i64 %k.2, ptr %k
br label %ac.next
ac.done:
%out.x = mul i64 %mx, %right
%out.y = mul i64 %my, %below
%out.xy = add i64 %out.x, %out.y
%out.at = add i64 %first, %out.xy
%out = getelementptr i8, ptr %planes, i64 %out.at
%k.end = load i64, ptr %k
%is.flat = icmp eq i64 %k.end, 1
br i1 %is.flat, label %flat, label %full
flat:
%step = load i16, ptr %own.steps
%brightness = mul i16 %dc.16, %step
call void @flat_block(i16 %brightness, ptr %out, i64 %line)
br label %b.done
full:
call void @block(ptr %coefficients, ptr %own.steps, ptr %out, i64 %line)
br label %b.done
b.done:
end
end
; what lies behind the end was used
%left.now = load i64, ptr %left
%made.up.now = load i64, ptr %made.up
%is.short = icmp ugt i64 %made.up.now, %left.now
br i1 %is.short, label %unusual, label %row.done
row.done:
end
; the file ends here, or libjpeg has to look at what follows
%at.end = load i64, ptr %at
%at.two = add i64 %at.end, 2
%two.are.in = icmp ule i64 %at.two, %size
br i1 %two.are.in, label %look.behind, label %unusual
look.behind:
%behind.p = getelementptr i8, ptr %data, i64 %at.end
%behind = load i16, ptr %behind.p, align 1
%is.end = icmp eq i16 %behind, {_END}
br i1 %is.end, label %whole, label %unusual
whole:
store i64 0, ptr %status
ret void
unusual:
ret void
}}
"""

SCAN = _DECLARATIONS + _FILL + _LONG_CODE + _SYMBOL + _NUMBER + _BLOCK + _SCAN
