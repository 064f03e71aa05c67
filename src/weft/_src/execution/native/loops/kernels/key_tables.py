"""What tables of integers and of strings share, as LLVM IR (`int_keys.py`, `string_keys.py`).

Keys are entered into slots, and found again, by open addressing; at least every other slot is
empty. All that the functions are given is a job.
"""

from __future__ import annotations

# The words of a job: addresses, and numbers. Keys are entered with the rows in "out". What is found
# goes there: values of a size of 1, 4 or 8 bytes, or rows if that is 0. A key that is not there has
# the last row. "failed" becomes 1 if a key is no bytes object.
JOB = (
    "keys", "count", "slots", "shift", "bytes type", "out", "values", "last row", "size", "failed",
)  # fmt: skip
SIZES = {0: "i64", 1: "i8", 4: "i32", 8: "i64"}

_ADDRESSES = {"keys", "slots", "bytes type", "out", "values"}
_FACTOR = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio, as an odd number
_PIECE = 1 << 14  # keys; threads share lookups of four such pieces or more

COMMON = f"""
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare void @weft_parallel(ptr, ptr, i64, i64)

define internal i64 @mixed(i64 %hash, i64 %word) alwaysinline {{
%both = xor i64 %hash, %word
%high = lshr i64 %both, 32
%folded = xor i64 %both, %high
%product = mul i64 %folded, {_FACTOR}
%top = lshr i64 %product, 32
%out = xor i64 %product, %top
ret i64 %out
}}
"""


def words(*names: str) -> str:
    """Loads words of the job."""
    lines = []
    for name in names:
        word, kind = name.replace(" ", "."), "ptr" if name in _ADDRESSES else "i64"
        lines += [
            f"%{word}.p = getelementptr i64, ptr %job, i64 {JOB.index(name)}",
            f"%{word} = load {kind}, ptr %{word}.p",
        ]
    return "\n".join(lines)


def find(keys: str) -> str:
    """Finds keys: alone, or with the threads of the pool."""
    cases = "\n".join([f"  i64 {size}, label %of.{size}" for size in SIZES])
    made = "\n".join([f"of.{size}:\nbr label %begin" for size in SIZES])
    picked = ", ".join([f"[@find_{keys}_{size}, %of.{size}]" for size in SIZES])
    return f"""
define void @weft_find_{keys}(ptr %job) {{
entry:
{words("count", "size")}
switch i64 %size, label %done [
{cases}
]
{made}
begin:
%function = phi ptr {picked}
%is.much = icmp sge i64 %count, {4 * _PIECE}
br i1 %is.much, label %share, label %alone
share:
call void @weft_parallel(ptr %function, ptr %job, i64 %count, i64 {_PIECE})
br label %done
alone:
call void %function(ptr %job, i64 0, i64 %count)
br label %done
done:
ret void
}}
"""


def write(size: int) -> str:
    """Writes the row or value of key %k, from its row."""
    element = SIZES[size]
    value = "%value = add i64 %row, 0"
    if size:
        value = f"%value.p = getelementptr {element}, ptr %values, i64 %row\n"
        value += f"%value = load {element}, ptr %value.p"
    return f"""
{value}
%written.p = getelementptr {element}, ptr %out, i64 %k
store {element} %value, ptr %written.p"""
