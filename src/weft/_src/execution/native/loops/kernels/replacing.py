"""Strings with matches replaced, as LLVM IR; by RE2's rules for empty matches.

In the text `<ptr name>` loads a word of the job, and `<stop STATUS, place>` leaves it with a status
(see `string_search.py`). What is made lies in a buffer of the job until it is complete.
"""

# How many bytes the character at the front of some has; one if it is none. As for RE2, half a
# surrogate is a character here.
CHARACTER = """
define internal i64 @character(ptr %data, i64 %left) {
entry:
%is.some = icmp sgt i64 %left, 1
br i1 %is.some, label %look, label %one
look:
%b0 = load i8, ptr %data
%is.lead = icmp uge i8 %b0, 194
%is.valid = icmp ule i8 %b0, 244
%is.long = and i1 %is.lead, %is.valid
br i1 %is.long, label %count, label %one
count:
%is.three = icmp uge i8 %b0, 224
%is.four = icmp uge i8 %b0, 240
%three = zext i1 %is.three to i64
%four = zext i1 %is.four to i64
%size.2 = add i64 2, %three
%size = add i64 %size.2, %four
%fits = icmp sle i64 %size, %left
br i1 %fits, label %second, label %one
second:
%b1.p = getelementptr i8, ptr %data, i64 1
%b1 = load i8, ptr %b1.p
%is.e0 = icmp eq i8 %b0, 224
%is.f0 = icmp eq i8 %b0, 240
%is.f4 = icmp eq i8 %b0, 244
%low.e0 = select i1 %is.e0, i8 160, i8 128
%low = select i1 %is.f0, i8 144, i8 %low.e0
%high = select i1 %is.f4, i8 143, i8 191
%b1.low = icmp uge i8 %b1, %low
%b1.high = icmp ule i8 %b1, %high
%b1.fine = and i1 %b1.low, %b1.high
br i1 %b1.fine, label %rest, label %one
rest:
%i = phi i64 [2, %second], [%i.next, %another]
%is.more = icmp slt i64 %i, %size
br i1 %is.more, label %another, label %whole
another:
%b.p = getelementptr i8, ptr %data, i64 %i
%b = load i8, ptr %b.p
%top = and i8 %b, 192
%b.fine = icmp eq i8 %top, 128
%i.next = add i64 %i, 1
br i1 %b.fine, label %rest, label %one
whole:
ret i64 %size
one:
ret i64 1
}
"""

REPLACE = """
define internal i64 @append(ptr %job, i64 %at, ptr %text, i64 %size) {
entry:
<ptr buffer>
<i64 capacity>
%end = add i64 %at, %size
%fits = icmp sle i64 %end, %capacity
br i1 %fits, label %copy, label %full
copy:
%place = getelementptr i8, ptr %buffer, i64 %at
call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %text, i64 %size, i1 false)
ret i64 %end
full:
<stop NEEDS_BUFFER, %end>
ret i64 -1
}

; Appends what stands for a match; -1 if the job has stopped.
define internal i64 @append_parts(ptr %job, i64 %at, ptr %data, ptr %slots) {
entry:
<ptr parts>
<i64 part count>
br label %part
part:
%k = phi i64 [0, %entry], [%k.next, %appended]
%out = phi i64 [%at, %entry], [%out.next, %appended]
%more = icmp slt i64 %k, %part.count
br i1 %more, label %look, label %done
look:
%k.two = shl i64 %k, 1
%what.p = getelementptr i64, ptr %parts, i64 %k.two
%size.p = getelementptr i64, ptr %what.p, i64 1
%text = load ptr, ptr %what.p
%text.size = load i64, ptr %size.p
%is.text = icmp sge i64 %text.size, 0
br i1 %is.text, label %append, label %group
group:
%number = load i64, ptr %what.p
%number.two = shl i64 %number, 1
%first.p = getelementptr i64, ptr %slots, i64 %number.two
%last.p = getelementptr i64, ptr %first.p, i64 1
%first = load i64, ptr %first.p
%last = load i64, ptr %last.p
%has.first = icmp sge i64 %first, 0
%has.last = icmp sge i64 %last, %first
%has.group = and i1 %has.first, %has.last
%length = sub i64 %last, %first
%group.size = select i1 %has.group, i64 %length, i64 0
%group.first = select i1 %has.group, i64 %first, i64 0
%group.text = getelementptr i8, ptr %data, i64 %group.first
br label %append
append:
%source = phi ptr [%text, %look], [%group.text, %group]
%size = phi i64 [%text.size, %look], [%group.size, %group]
%out.next = call i64 @append(ptr %job, i64 %out, ptr %source, i64 %size)
%fits = icmp sge i64 %out.next, 0
br i1 %fits, label %appended, label %failed
appended:
%k.next = add i64 %k, 1
br label %part
done:
ret i64 %out
failed:
ret i64 -1
}

; A string with its matches replaced, or itself; null if the job has stopped.
define internal ptr @replaced(ptr %job, ptr %object, ptr %data, i64 %size, ptr %slots) {
entry:
<i64 trace capacity>
<i64 has groups>
<i64 all matches>
%wants.groups = icmp ne i64 %has.groups, 0
%wants.all = icmp ne i64 %all.matches, 0
%slot.end = getelementptr i64, ptr %slots, i64 1
%trace.size = add i64 %size, 1
%traced = icmp sle i64 %trace.size, %trace.capacity
br i1 %traced, label %search, label %longer
longer:
<stop NEEDS_TRACE, %trace.size>
ret ptr null

search:
%p = phi i64 [0, %entry], [%p.skipped, %skipped], [%end, %again]
%out = phi i64 [0, %entry], [%out.skipped, %skipped], [%out.parts, %again]
%last = phi i64 [-1, %entry], [%last, %skipped], [%end, %again]
%inside = icmp sle i64 %p, %size
br i1 %inside, label %find, label %finish
find:
%end = call i64 @find_end(ptr %job, ptr %data, i64 %size, i64 %p)
%is.match = icmp sge i64 %end, 0
br i1 %is.match, label %found, label %not.found
not.found:
%is.stopped = icmp eq i64 %end, -2
br i1 %is.stopped, label %failed, label %finish
found:
%start = call i64 @find_start(ptr %job, ptr %data, i64 %size, i64 %p, i64 %end)
%has.start = icmp sge i64 %start, 0
br i1 %has.start, label %choose, label %failed
choose:
%is.empty = icmp eq i64 %start, %end
%is.behind = icmp eq i64 %end, %last
%is.skipped = and i1 %is.empty, %is.behind
%here = getelementptr i8, ptr %data, i64 %p
br i1 %is.skipped, label %skip, label %take

skip:
%rest = sub i64 %size, %p
%width = call i64 @character(ptr %here, i64 %rest)
%is.short = icmp slt i64 %rest, %width
%skip.size = select i1 %is.short, i64 %rest, i64 %width
%out.skipped = call i64 @append(ptr %job, i64 %out, ptr %here, i64 %skip.size)
%p.skipped = add i64 %p, %width
%skip.fits = icmp sge i64 %out.skipped, 0
br i1 %skip.fits, label %skipped, label %failed
skipped:
br label %search

take:
%between = sub i64 %start, %p
%out.between = call i64 @append(ptr %job, i64 %out, ptr %here, i64 %between)
%between.fits = icmp sge i64 %out.between, 0
br i1 %between.fits, label %match, label %failed
match:
br i1 %wants.groups, label %groups, label %parts
groups:
%has.all = call i1 @find_groups(ptr %job, ptr %data, i64 %start, i64 %end, ptr %slots)
br i1 %has.all, label %parts, label %failed
parts:
store i64 %start, ptr %slots
store i64 %end, ptr %slot.end
%out.parts = call i64 @append_parts(ptr %job, i64 %out.between, ptr %data, ptr %slots)
%parts.fit = icmp sge i64 %out.parts, 0
br i1 %parts.fit, label %replaced, label %failed
replaced:
br i1 %wants.all, label %again, label %finish
again:
br label %search

finish:
%p.last = phi i64 [%p, %search], [%p, %not.found], [%end, %replaced]
%out.last = phi i64 [%out, %search], [%out, %not.found], [%out.parts, %replaced]
%matched = phi i64 [%last, %search], [%last, %not.found], [%end, %replaced]
%is.changed = icmp sge i64 %matched, 0
br i1 %is.changed, label %tail, label %same
same:
<ptr incref>
call void %incref(ptr %object)
ret ptr %object
tail:
%tail.size = sub i64 %size, %p.last
%is.tail = icmp sgt i64 %tail.size, 0
%tail.bytes = select i1 %is.tail, i64 %tail.size, i64 0
%tail.at = getelementptr i8, ptr %data, i64 %p.last
%total = call i64 @append(ptr %job, i64 %out.last, ptr %tail.at, i64 %tail.bytes)
%tail.fits = icmp sge i64 %total, 0
br i1 %tail.fits, label %make, label %failed
make:
<ptr new bytes>
<ptr buffer>
%made = call ptr %new.bytes(ptr %buffer, i64 %total)
%is.made = icmp ne ptr %made, null
br i1 %is.made, label %ready, label %no.memory
ready:
ret ptr %made
no.memory:
<stop FAILED, %total>
br label %failed
failed:
ret ptr null
}

define void @weft_replace(ptr %job) {
entry:
%slots = alloca [<slots> x i64], align 16
<ptr objects>
<i64 at>
<i64 stop>
<ptr results>
<ptr decref>
br label %string
string:
%k = phi i64 [%at, %entry], [%k.next, %store]
%read = phi i64 [0, %entry], [%read.next, %store]
%some = icmp slt i64 %k, %stop
%not.long = icmp slt i64 %read, <pause>
%more = and i1 %some, %not.long
br i1 %more, label %look, label %done
look:
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%data = call ptr @look(ptr %job, ptr %object)
%is.string = icmp ne ptr %data, null
br i1 %is.string, label %replace, label %leave
replace:
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
%new = call ptr @replaced(ptr %job, ptr %object, ptr %data, i64 %size, ptr %slots)
%is.new = icmp ne ptr %new, null
br i1 %is.new, label %store, label %leave
store:
%result.p = getelementptr ptr, ptr %results, i64 %k
%old = load ptr, ptr %result.p
store ptr %new, ptr %result.p
call void %decref(ptr %old)
%read.next = add i64 %read, %size
%k.next = add i64 %k, 1
br label %string
done:
<stop DONE, 0>
br label %leave
leave:
store i64 %k, ptr %at.p
ret void
}
"""
