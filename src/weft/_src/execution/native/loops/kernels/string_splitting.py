"""Strings cut into words, at separators, and into bytes, as LLVM IR.

Two functions count the pieces of each string. The others make them, from the place
"starts" of each string on, and tell the string and the number of each piece within it ("targets"),
as the indices of a sparse tensor. There is "room" for so many: more than that is 1, as if an object
were no bytes. `ops/strings/packed.py` tells the rest.
"""

from __future__ import annotations

_COUNT = """
; Where the next word begins, or the end; and where that ends.
define internal i64 @word_from(ptr %data, i64 %size, i64 %from) alwaysinline {
entry:
br label %next
next:
%i = phi i64 [%from, %entry], [%i.next, %skip]
%more = icmp slt i64 %i, %size
br i1 %more, label %look, label %done
look:
%is.space = call i1 @is_space(ptr %data, i64 %i)
br i1 %is.space, label %skip, label %done
skip:
%i.next = add i64 %i, 1
br label %next
done:
ret i64 %i
}

define internal i64 @word_end(ptr %data, i64 %size, i64 %from) alwaysinline {
entry:
br label %next
next:
%i = phi i64 [%from, %entry], [%i.next, %go.on]
%more = icmp slt i64 %i, %size
br i1 %more, label %look, label %done
look:
%is.space = call i1 @is_space(ptr %data, i64 %i)
br i1 %is.space, label %done, label %go.on
go.on:
%i.next = add i64 %i, 1
br label %next
done:
ret i64 %i
}

define internal i64 @count_words_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
<ptr sizes>
var i64 %count = 0
var i8 %was.space = 1
for %i < %size
  %is.space = call i1 @is_space(ptr %data, i64 %i)
  %space = zext i1 %is.space to i8
  %before = load i8, ptr %was.space
  store i8 %space, ptr %was.space
  %is.new = icmp ugt i8 %before, %space
  %new = zext i1 %is.new to i64
  %so.far = load i64, ptr %count
  %sum = add i64 %so.far, %new
  store i64 %sum, ptr %count
end
%all = load i64, ptr %count
%out.p = getelementptr i64, ptr %sizes, i64 %k
store i64 %all, ptr %out.p
ret i64 0
}
"""

_SPLIT = """
; Puts a piece in its place.
define internal i64 @keep_piece(
  ptr %job, i64 %k, i64 %column, ptr %data, i64 %begin, i64 %end) alwaysinline {
entry:
<ptr starts>
<ptr targets>
<i64 room>
%start.p = getelementptr i64, ptr %starts, i64 %k
%start = load i64, ptr %start.p
%place = add i64 %start, %column
%fits = icmp ult i64 %place, %room
br i1 %fits, label %make, label %other
make:
%pair = shl i64 %place, 1
%row.p = getelementptr i64, ptr %targets, i64 %pair
store i64 %k, ptr %row.p
%column.p = getelementptr i64, ptr %row.p, i64 1
store i64 %column, ptr %column.p
%from = getelementptr i8, ptr %data, i64 %begin
%size = sub i64 %end, %begin
%new = call ptr @string_of(ptr %job, ptr %from, i64 %size)
%status = call i64 @keep(ptr %job, i64 %place, ptr %new)
ret i64 %status
other:
ret i64 1
}

define internal i64 @split_words_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
br label %next
next:
%at = phi i64 [0, %entry], [%end, %kept]
%column = phi i64 [0, %entry], [%column.next, %kept]
%begin = call i64 @word_from(ptr %data, i64 %size, i64 %at)
%more = icmp slt i64 %begin, %size
br i1 %more, label %word, label %done
word:
%end = call i64 @word_end(ptr %data, i64 %size, i64 %begin)
%status = call i64 @keep_piece(
  ptr %job, i64 %k, i64 %column, ptr %data, i64 %begin, i64 %end)
%is.fine = icmp eq i64 %status, 0
br i1 %is.fine, label %kept, label %failed
kept:
%column.next = add i64 %column, 1
br label %next
done:
ret i64 0
failed:
ret i64 %status
}

define internal i64 @split_bytes_of(ptr %job, i64 %k, ptr %data, i64 %size) alwaysinline {
entry:
for %i < %size
  %behind = add i64 %i, 1
  %status = call i64 @keep_piece(
    ptr %job, i64 %k, i64 %i, ptr %data, i64 %i, i64 %behind)
  %is.fine = icmp eq i64 %status, 0
  br i1 %is.fine, label %kept, label %failed
  kept:
end
ret i64 0
failed:
ret i64 %status
}
"""

# At most "limit" times at the separator, which is "data" of "target room" bytes.
_CUT = """
; Where the separator stands next, -1 if nowhere.
define internal i64 @cut_from(ptr %job, ptr %text, i64 %size, i64 %from) alwaysinline {
entry:
<ptr data>
<i64 target room>
%first = load i8, ptr %data
%last = sub i64 %size, %target.room
br label %next
next:
%i = phi i64 [%from, %entry], [%i.next, %go.on]
%more = icmp sle i64 %i, %last
br i1 %more, label %look, label %none
look:
%byte.p = getelementptr i8, ptr %text, i64 %i
%byte = load i8, ptr %byte.p
%is.first = icmp eq i8 %byte, %first
br i1 %is.first, label %compare, label %go.on
compare:
%n = phi i64 [1, %look], [%n.next, %same]
%is.more = icmp slt i64 %n, %target.room
br i1 %is.more, label %letter, label %found
letter:
%here = add i64 %i, %n
%here.p = getelementptr i8, ptr %text, i64 %here
%here.byte = load i8, ptr %here.p
%there.p = getelementptr i8, ptr %data, i64 %n
%there.byte = load i8, ptr %there.p
%is.same = icmp eq i8 %here.byte, %there.byte
br i1 %is.same, label %same, label %go.on
same:
%n.next = add i64 %n, 1
br label %compare
go.on:
%i.next = add i64 %i, 1
br label %next
found:
ret i64 %i
none:
ret i64 -1
}

define internal i64 @count_cuts_of(ptr %job, i64 %k, ptr %data.of, i64 %size) alwaysinline {
entry:
<ptr sizes>
<i64 limit>
<i64 target room>
br label %next
next:
%at = phi i64 [0, %entry], [%behind, %cut]
%count = phi i64 [0, %entry], [%count.next, %cut]
%may = icmp slt i64 %count, %limit
br i1 %may, label %find, label %done
find:
%place = call i64 @cut_from(ptr %job, ptr %data.of, i64 %size, i64 %at)
%is.found = icmp sge i64 %place, 0
br i1 %is.found, label %cut, label %done
cut:
%behind = add i64 %place, %target.room
%count.next = add i64 %count, 1
br label %next
done:
%pieces = add i64 %count, 1
%out.p = getelementptr i64, ptr %sizes, i64 %k
store i64 %pieces, ptr %out.p
ret i64 0
}

define internal i64 @split_cuts_of(ptr %job, i64 %k, ptr %data.of, i64 %size) alwaysinline {
entry:
<i64 limit>
<i64 target room>
br label %next
next:
%at = phi i64 [0, %entry], [%behind, %kept]
%count = phi i64 [0, %entry], [%count.next, %kept]
%may = icmp slt i64 %count, %limit
br i1 %may, label %find, label %last
find:
%place = call i64 @cut_from(ptr %job, ptr %data.of, i64 %size, i64 %at)
%is.found = icmp sge i64 %place, 0
br i1 %is.found, label %cut, label %last
cut:
%status = call i64 @keep_piece(
  ptr %job, i64 %k, i64 %count, ptr %data.of, i64 %at, i64 %place)
%is.fine = icmp eq i64 %status, 0
br i1 %is.fine, label %kept, label %failed
kept:
%behind = add i64 %place, %target.room
%count.next = add i64 %count, 1
br label %next
last:
%last.status = call i64 @keep_piece(
  ptr %job, i64 %k, i64 %count, ptr %data.of, i64 %at, i64 %size)
ret i64 %last.status
failed:
ret i64 %status
}
"""

OF_STRINGS = ("count_words", "split_words", "split_bytes", "count_cuts", "split_cuts")
TEXT = _COUNT + _SPLIT + _CUT
