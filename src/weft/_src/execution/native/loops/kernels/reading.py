"""Serialized Examples as columns of values, as LLVM IR.

Two passes over the bytes objects: `weft_scan` finds the lists of the wanted features and counts
their values, `weft_fill` writes these into arrays. In the text `<ptr name>` loads a word of the job
(see `example_reading.py`).

Whatever is unusual, wrong or not, ends a pass: Python then reads the examples and knows what to
say. How places are followed stands in `wire_lists.py`.
"""

# Which of the wanted features has a name: -1 for none. They are sorted, and so are features in
# files mostly, so the search begins behind the one that was found before.
NAMED = """
define internal i64 @named(ptr %names, i64 %count, i64 %from, ptr %name, i64 %size) {
entry:
br label %next
next:
%tried = phi i64 [0, %entry], [%tried.next, %other]
%i = phi i64 [%from, %entry], [%i.next, %other]
%some = icmp ult i64 %tried, %count
br i1 %some, label %wrap, label %none
wrap:
%is.over = icmp uge i64 %i, %count
%k = select i1 %is.over, i64 0, i64 %i
%pair = shl i64 %k, 1
%text.p = getelementptr i64, ptr %names, i64 %pair
%size.p = getelementptr i64, ptr %text.p, i64 1
%wanted.size = load i64, ptr %size.p
%same.size = icmp eq i64 %wanted.size, %size
br i1 %same.size, label %compare, label %other
compare:
%text = load ptr, ptr %text.p
br label %byte
byte:
%j = phi i64 [0, %compare], [%j.next, %equal]
%is.inside = icmp ult i64 %j, %size
br i1 %is.inside, label %look, label %found
look:
%a.p = getelementptr i8, ptr %text, i64 %j
%b.p = getelementptr i8, ptr %name, i64 %j
%a = load i8, ptr %a.p
%b = load i8, ptr %b.p
%is.equal = icmp eq i8 %a, %b
br i1 %is.equal, label %equal, label %other
equal:
%j.next = add i64 %j, 1
br label %byte
other:
%i.next = add i64 %k, 1
%tried.next = add i64 %tried, 1
br label %next
found:
ret i64 %k
none:
ret i64 -1
}
"""

# Notes in a row of the table (three words: begin and end of the list, number of values) what a
# feature holds: a list of the kind that is wanted, or nothing at all.
FEATURE = """
define internal i1 @feature(ptr %begin, i64 %size, i64 %kind, ptr %row) {
entry:
%cursor = alloca ptr
%end = getelementptr i8, ptr %begin, i64 %size
%count.p = getelementptr i64, ptr %row, i64 2
%end.p = getelementptr i64, ptr %row, i64 1
%is.empty = icmp eq i64 %size, 0
br i1 %is.empty, label %missing, label %read
missing:
store i64 -1, ptr %count.p
ret i1 true
read:
store ptr %begin, ptr %cursor
%key = call i64 @key(ptr %cursor, ptr %end)
%field = shl i64 %kind, 3
%expected = or i64 %field, 2
%is.expected = icmp eq i64 %key, %expected
%p = load ptr, ptr %cursor
%is.key = icmp ne ptr %p, null
%is.list = and i1 %is.expected, %is.key
br i1 %is.list, label %sized, label %wrong
sized:
%list.size = call i64 @size(ptr %cursor, ptr %end)
%list = load ptr, ptr %cursor
%is.sized = icmp ne ptr %list, null
%list.end = getelementptr i8, ptr %list, i64 %list.size
%is.last = icmp eq ptr %list.end, %end
%is.fine = and i1 %is.sized, %is.last
br i1 %is.fine, label %values, label %wrong
values:
%count = call i64 @count(ptr %list, ptr %list.end, i64 %kind)
store ptr %list, ptr %row
store ptr %list.end, ptr %end.p
store i64 %count, ptr %count.p
%is.counted = icmp sge i64 %count, 0
ret i1 %is.counted
wrong:
ret i1 false
}
"""

# The features of one example into a row for each that is wanted.
EXAMPLE = """
define internal i1 @pair(ptr %job, ptr %begin, i64 %size, ptr %rows, ptr %place) {
entry:
<ptr names>
<ptr kinds>
<i64 wanted>
%cursor = alloca ptr
%end = getelementptr i8, ptr %begin, i64 %size
store ptr %begin, ptr %cursor
br label %field
field:
%name = phi ptr [%begin, %entry], [%name, %value], [%content, %named], [%name, %skipped]
%name.size = phi i64 [0, %entry], [%name.size, %value], [%content.size, %named],
 [%name.size, %skipped]
%feature = phi ptr [%begin, %entry], [%content, %value], [%feature, %named], [%feature, %skipped]
%feature.size = phi i64 [0, %entry], [%content.size, %value], [%feature.size, %named],
 [%feature.size, %skipped]
%p = load ptr, ptr %cursor
%is.inside = icmp ult ptr %p, %end
br i1 %is.inside, label %read, label %done
read:
%key = call i64 @key(ptr %cursor, ptr %end)
%q = load ptr, ptr %cursor
%is.key = icmp ne ptr %q, null
br i1 %is.key, label %ask, label %wrong
ask:
%is.name = icmp eq i64 %key, 10
%is.value = icmp eq i64 %key, 18
%is.known = or i1 %is.name, %is.value
br i1 %is.known, label %sized, label %other
sized:
%content.size = call i64 @size(ptr %cursor, ptr %end)
%content = load ptr, ptr %cursor
%is.sized = icmp ne ptr %content, null
br i1 %is.sized, label %take, label %wrong
take:
%behind = getelementptr i8, ptr %content, i64 %content.size
store ptr %behind, ptr %cursor
br i1 %is.name, label %named, label %value
named:
br label %field
value:
br label %field
other:
%r = call ptr @skip(ptr %q, ptr %end, i64 %key)
store ptr %r, ptr %cursor
%is.skipped = icmp ne ptr %r, null
br i1 %is.skipped, label %skipped, label %wrong
skipped:
br label %field
done:
%from = load i64, ptr %place
%k = call i64 @named(ptr %names, i64 %wanted, i64 %from, ptr %name, i64 %name.size)
%is.wanted = icmp sge i64 %k, 0
br i1 %is.wanted, label %note, label %unwanted
unwanted:
ret i1 true
note:
%next = add i64 %k, 1
store i64 %next, ptr %place
%kind.p = getelementptr i64, ptr %kinds, i64 %k
%kind = load i64, ptr %kind.p
%words = mul i64 %k, 3
%row = getelementptr i64, ptr %rows, i64 %words
%is.fine = call i1 @feature(ptr %feature, i64 %feature.size, i64 %kind, ptr %row)
ret i1 %is.fine
wrong:
ret i1 false
}

define internal i1 @level(ptr %job, ptr %begin, i64 %size, ptr %rows, ptr %place, i1 %inner) {
entry:
%cursor = alloca ptr
%end = getelementptr i8, ptr %begin, i64 %size
store ptr %begin, ptr %cursor
br label %field
field:
%p = load ptr, ptr %cursor
%is.inside = icmp ult ptr %p, %end
br i1 %is.inside, label %read, label %done
read:
%key = call i64 @key(ptr %cursor, ptr %end)
%q = load ptr, ptr %cursor
%is.key = icmp ne ptr %q, null
br i1 %is.key, label %ask, label %wrong
ask:
%is.known = icmp eq i64 %key, 10
br i1 %is.known, label %sized, label %other
sized:
%content.size = call i64 @size(ptr %cursor, ptr %end)
%content = load ptr, ptr %cursor
%is.sized = icmp ne ptr %content, null
br i1 %is.sized, label %take, label %wrong
take:
%behind = getelementptr i8, ptr %content, i64 %content.size
store ptr %behind, ptr %cursor
br i1 %inner, label %pairs, label %features
pairs:
%pair.fine = call i1 @pair(ptr %job, ptr %content, i64 %content.size, ptr %rows, ptr %place)
br i1 %pair.fine, label %field, label %wrong
features:
%inner.fine = call i1 @level(
 ptr %job, ptr %content, i64 %content.size, ptr %rows, ptr %place, i1 true)
br i1 %inner.fine, label %field, label %wrong
other:
%r = call ptr @skip(ptr %q, ptr %end, i64 %key)
store ptr %r, ptr %cursor
%is.skipped = icmp ne ptr %r, null
br i1 %is.skipped, label %field, label %wrong
done:
ret i1 true
wrong:
ret i1 false
}
"""

SCAN = """
define i64 @weft_scan(ptr %job) {
entry:
<ptr objects>
<i64 at>
<i64 stop>
<ptr bytes type>
<i64 wanted>
<ptr table>
%place = alloca i64
%row.words = mul i64 %wanted, 3
br label %example
example:
%k = phi i64 [%at, %entry], [%k.next, %fine]
%some = icmp slt i64 %k, %stop
br i1 %some, label %look, label %done
look:
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%is.there = icmp ne ptr %object, null
br i1 %is.there, label %ask, label %unusual
ask:
%type.at = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.at
%is.bytes = icmp eq ptr %type, %bytes.type
br i1 %is.bytes, label %bytes, label %unusual
bytes:
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
%begin = mul i64 %k, %row.words
%rows = getelementptr i64, ptr %table, i64 %begin
store i64 0, ptr %place
br label %clear
clear:
%i = phi i64 [0, %bytes], [%i.next, %clear]
%word = mul i64 %i, 3
%count.at = add i64 %word, 2
%count.p = getelementptr i64, ptr %rows, i64 %count.at
store i64 -1, ptr %count.p
%i.next = add i64 %i, 1
%has.more = icmp ult i64 %i.next, %wanted
br i1 %has.more, label %clear, label %read
read:
%is.fine = call i1 @level(
 ptr %job, ptr %data, i64 %size, ptr %rows, ptr %place, i1 false)
br i1 %is.fine, label %fine, label %unusual
fine:
%k.next = add i64 %k, 1
br label %example
done:
ret i64 1
unusual:
ret i64 0
}
"""

FILL = """
define i64 @weft_fill(ptr %job) {
entry:
<i64 at>
<i64 stop>
<i64 wanted>
<ptr table>
<ptr kinds>
<ptr outputs>
<ptr output ends>
br label %example
example:
%k = phi i64 [%at, %entry], [%k.next, %behind]
%some = icmp slt i64 %k, %stop
br i1 %some, label %start, label %done
start:
%first = mul i64 %k, %wanted
br label %feature
feature:
%i = phi i64 [0, %start], [%i.next, %next]
%is.inside = icmp ult i64 %i, %wanted
br i1 %is.inside, label %look, label %behind
look:
%row = add i64 %first, %i
%word = mul i64 %row, 3
%begin.p = getelementptr i64, ptr %table, i64 %word
%end.p = getelementptr i64, ptr %begin.p, i64 1
%count.p = getelementptr i64, ptr %begin.p, i64 2
%count = load i64, ptr %count.p
%has.some = icmp sgt i64 %count, 0
br i1 %has.some, label %values, label %next
values:
%begin = load ptr, ptr %begin.p
%end = load ptr, ptr %end.p
%kind.p = getelementptr i64, ptr %kinds, i64 %i
%kind = load i64, ptr %kind.p
%to.p = getelementptr ptr, ptr %outputs, i64 %i
%to = load ptr, ptr %to.p
%limit.p = getelementptr ptr, ptr %output.ends, i64 %i
%limit = load ptr, ptr %limit.p
%to.next = call ptr @copy(ptr %job, ptr %begin, ptr %end, i64 %kind, ptr %to, ptr %limit)
%is.fine = icmp ne ptr %to.next, null
br i1 %is.fine, label %filled, label %unusual
filled:
store ptr %to.next, ptr %to.p
br label %next
next:
%i.next = add i64 %i, 1
br label %feature
behind:
%k.next = add i64 %k, 1
br label %example
done:
ret i64 1
unusual:
ret i64 0
}
"""
