"""Numbers that go one by one to the next place of their part: see `ops/arrays/partitions.py`."""

from __future__ import annotations

import functools

from weft._src.execution.native.machine.builder import filled

# `next` has the next place of each part; ids are known to be parts.
_PARTITION = """
define void @weft_partition_<ids>_<size>(ptr %job, i64 %from, i64 %to) {
entry:
<array x>
<array out>
<array ids>
<array next>
for %i from %from < %to
%id.p = getelementptr i<ids>, ptr %ids, i64 %i
%id.short = load i<ids>, ptr %id.p
%id = <widen>
%here.p = getelementptr i64, ptr %next, i64 %id
%place = load i64, ptr %here.p
%place.next = add i64 %place, 1
store i64 %place.next, ptr %here.p
%from.p = getelementptr <kind>, ptr %x, i64 %i
%number = load <kind>, ptr %from.p
%to.p = getelementptr <kind>, ptr %out, i64 %place
store <kind> %number, ptr %to.p
end
ret void
}
"""


def _text(ids: int, size: int) -> str:
    widen = "add i64 %id.short, 0" if ids == 64 else "sext i32 %id.short to i64"
    return filled(_PARTITION, {"ids": ids, "size": size, "widen": widen, "kind": f"i{8 * size}"})


TEXTS = {
    f"partition_{ids}_{size}": functools.partial(_text, ids, size)
    for ids in (32, 64)
    for size in (1, 2, 4, 8)
}
