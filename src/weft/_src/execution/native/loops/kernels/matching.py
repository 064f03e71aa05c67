"""Where a pattern matches in strings, as LLVM IR: automata are followed along their tables.

In the text `<ptr name>` loads a word of the job, and `<stop STATUS, place>` leaves it with a status
(see `string_search.py`). A search never reads outside of a string: behind the last byte, and
before the first, an automaton is asked about the border.
"""

# Where the bytes of a string lie; null if it is none.
LOOK = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.cttz.i64(i64, i1)

define internal ptr @look(ptr %job, ptr %object) {
entry:
<ptr bytes type>
%is.there = icmp ne ptr %object, null
br i1 %is.there, label %ask, label %none
ask:
%type.at = getelementptr i8, ptr %object, i64 <offset type>
%type = load ptr, ptr %type.at
%is.bytes = icmp eq ptr %type, %bytes.type
br i1 %is.bytes, label %bytes, label %none
bytes:
%data = getelementptr i8, ptr %object, i64 <offset bytes data>
ret ptr %data
none:
<stop NOT_BYTES, 0>
ret ptr null
}

define internal i64 @kind_of(ptr %kinds, ptr %data, i64 %i) {
%byte.p = getelementptr i8, ptr %data, i64 %i
%byte = load i8, ptr %byte.p
%wide = zext i8 %byte to i64
%kind.p = getelementptr i8, ptr %kinds, i64 %wide
%kind = load i8, ptr %kind.p
%out = zext i8 %kind to i64
ret i64 %out
}

define internal i64 @class_of(ptr %classes, ptr %data, i64 %i) {
%byte.p = getelementptr i8, ptr %data, i64 %i
%byte = load i8, ptr %byte.p
%wide = zext i8 %byte to i64
%class.p = getelementptr i8, ptr %classes, i64 %wide
%class = load i8, ptr %class.p
%out = zext i8 %class to i64
ret i64 %out
}
"""

FULL_MATCH = """
define void @weft_full_match(ptr %job) {
entry:
<ptr objects>
<i64 at>
<i64 stop>
<ptr results>
<ptr classes>
<i64 border>
<ptr forward>
<ptr forward starts>
%begin.p = getelementptr i32, ptr %forward.starts, i64 3
%begin.row = load i32, ptr %begin.p
%begin = zext i32 %begin.row to i64
br label %string
string:
%k = phi i64 [%at, %entry], [%k.next, %answer]
%read = phi i64 [0, %entry], [%read.next, %answer]
%some = icmp slt i64 %k, %stop
%not.long = icmp slt i64 %read, <pause>
%more = and i1 %some, %not.long
br i1 %more, label %look, label %done
look:
%object.p = getelementptr ptr, ptr %objects, i64 %k
%object = load ptr, ptr %object.p
%data = call ptr @look(ptr %job, ptr %object)
%is.string = icmp ne ptr %data, null
br i1 %is.string, label %start, label %leave
start:
%size.p = getelementptr i8, ptr %object, i64 <offset bytes size>
%size = load i64, ptr %size.p
br label %byte
byte:
%i = phi i64 [0, %start], [%i.next, %live]
%row = phi i64 [%begin, %start], [%row.next, %live]
%inside = icmp slt i64 %i, %size
br i1 %inside, label %step, label %end
step:
%class = call i64 @class_of(ptr %classes, ptr %data, i64 %i)
%e = add i64 %row, %class
%e.p = getelementptr i32, ptr %forward, i64 %e
%v = load i32, ptr %e.p
%is.live = icmp sgt i32 %v, 0
br i1 %is.live, label %live, label %special
live:
%row.bits = lshr i32 %v, 1
%row.next = zext i32 %row.bits to i64
%i.next = add i64 %i, 1
br label %byte
special:
%is.dead = icmp ne i32 %v, 0
br i1 %is.dead, label %answer, label %missing
end:
%last = add i64 %row, %border
%last.p = getelementptr i32, ptr %forward, i64 %last
%last.v = load i32, ptr %last.p
%found = icmp eq i32 %last.v, -2
%known = icmp ne i32 %last.v, 0
br i1 %known, label %answer, label %missing
answer:
%out = phi i1 [false, %special], [%found, %end]
%out.byte = zext i1 %out to i8
%out.p = getelementptr i8, ptr %results, i64 %k
store i8 %out.byte, ptr %out.p
%read.next = add i64 %read, %size
%k.next = add i64 %k, 1
br label %string
missing:
%needed = phi i64 [%e, %special], [%last, %end]
<stop NEEDS_FORWARD, %needed>
br label %leave
done:
<stop DONE, 0>
br label %leave
leave:
store i64 %k, ptr %at.p
ret void
}
"""

# Where the first match at or behind a place ends: -1 if there is none, -2 if the job has stopped.
FIND_END = """
define internal i64 @find_end(ptr %job, ptr %data, i64 %size, i64 %from) {
entry:
<ptr classes>
<ptr kinds>
<i64 border>
<ptr forward>
<ptr forward starts>
%is.first = icmp eq i64 %from, 0
br i1 %is.first, label %begin, label %look
look:
%before = sub i64 %from, 1
%kind.before = call i64 @kind_of(ptr %kinds, ptr %data, i64 %before)
br label %begin
begin:
%kind = phi i64 [3, %entry], [%kind.before, %look]
%begin.p = getelementptr i32, ptr %forward.starts, i64 %kind
%begin.row = load i32, ptr %begin.p
%first = zext i32 %begin.row to i64
br label %byte
byte:
%i = phi i64 [%from, %begin], [%i.next, %live]
%row = phi i64 [%first, %begin], [%row.next, %live]
%end = phi i64 [-1, %begin], [%end.next, %live]
%inside = icmp slt i64 %i, %size
br i1 %inside, label %inner, label %step
inner:
%class.inner = call i64 @class_of(ptr %classes, ptr %data, i64 %i)
br label %step
step:
%class = phi i64 [%border, %byte], [%class.inner, %inner]
%e = add i64 %row, %class
%e.p = getelementptr i32, ptr %forward, i64 %e
%v = load i32, ptr %e.p
%is.live = icmp sgt i32 %v, 0
br i1 %is.live, label %live, label %special
live:
%bit = and i32 %v, 1
%is.found = icmp ne i32 %bit, 0
%end.next = select i1 %is.found, i64 %i, i64 %end
%row.bits = lshr i32 %v, 1
%row.next = zext i32 %row.bits to i64
%i.next = add i64 %i, 1
br label %byte
special:
%is.dead = icmp ne i32 %v, 0
br i1 %is.dead, label %dead, label %missing
dead:
%ends.here = icmp eq i32 %v, -2
%out = select i1 %ends.here, i64 %i, i64 %end
ret i64 %out
missing:
<stop NEEDS_FORWARD, %e>
ret i64 -2
}
"""

# Where the match that ends at a place begins, not before another; -2 if the job has stopped. The
# states that are met are left in `trace`.
FIND_START = """
define internal i64 @find_start(ptr %job, ptr %data, i64 %size, i64 %from, i64 %end) {
entry:
<ptr classes>
<ptr kinds>
<i64 border>
<ptr back>
<ptr back starts>
<ptr trace>
%is.last = icmp eq i64 %end, %size
br i1 %is.last, label %begin, label %look
look:
%kind.behind = call i64 @kind_of(ptr %kinds, ptr %data, i64 %end)
br label %begin
begin:
%kind = phi i64 [3, %entry], [%kind.behind, %look]
%begin.p = getelementptr i32, ptr %back.starts, i64 %kind
%begin.row = load i32, ptr %begin.p
%first = zext i32 %begin.row to i64
br label %byte
byte:
%i = phi i64 [%end, %begin], [%i.next, %live]
%row = phi i64 [%first, %begin], [%row.next, %live]
%start = phi i64 [-1, %begin], [%start.next, %live]
%trace.at = getelementptr i32, ptr %trace, i64 %i
%row.narrow = trunc i64 %row to i32
store i32 %row.narrow, ptr %trace.at
%i.next = sub i64 %i, 1
%inside = icmp sgt i64 %i, 0
br i1 %inside, label %inner, label %step
inner:
%class.inner = call i64 @class_of(ptr %classes, ptr %data, i64 %i.next)
br label %step
step:
%class = phi i64 [%border, %byte], [%class.inner, %inner]
%e = add i64 %row, %class
%e.p = getelementptr i32, ptr %back, i64 %e
%v = load i32, ptr %e.p
%is.live = icmp sgt i32 %v, 0
br i1 %is.live, label %alive, label %special
alive:
%bit = and i32 %v, 1
%is.found = icmp ne i32 %bit, 0
%start.next = select i1 %is.found, i64 %i, i64 %start
%goes.on = icmp sgt i64 %i, %from
br i1 %goes.on, label %live, label %finish
live:
%row.bits = lshr i32 %v, 1
%row.next = zext i32 %row.bits to i64
br label %byte
special:
%is.dead = icmp ne i32 %v, 0
br i1 %is.dead, label %dead, label %missing
dead:
%begins.here = icmp eq i32 %v, -2
%start.dead = select i1 %begins.here, i64 %i, i64 %start
br label %finish
finish:
%out = phi i64 [%start.next, %alive], [%start.dead, %dead]
%is.known = icmp sge i64 %out, %from
br i1 %is.known, label %fine, label %wrong
fine:
ret i64 %out
missing:
<stop NEEDS_BACK, %e>
ret i64 -2
wrong:
<stop FAILED, %end>
ret i64 -2
}
"""

# Where groups begin and end, along the states in `trace`; whether the job goes on.
FIND_GROUPS = """
define internal i1 @find_groups(ptr %job, ptr %data, i64 %start, i64 %end, ptr %slots) {
entry:
<ptr kinds>
<i64 shift>
<ptr walk>
<i64 walk shift>
<ptr trace>
br label %clear
clear:
%s = phi i64 [0, %entry], [%s.next, %clear]
%s.p = getelementptr i64, ptr %slots, i64 %s
store i64 -1, ptr %s.p
%s.next = add i64 %s, 1
%s.more = icmp slt i64 %s.next, <slots>
br i1 %s.more, label %clear, label %cleared
cleared:
%is.first = icmp eq i64 %start, 0
br i1 %is.first, label %begin, label %look
look:
%before = sub i64 %start, 1
%kind.before = call i64 @kind_of(ptr %kinds, ptr %data, i64 %before)
br label %begin
begin:
%kind = phi i64 [3, %cleared], [%kind.before, %look]
%first = add i64 %kind, 2
br label %place
place:
%i = phi i64 [%start, %begin], [%i.next, %go.on]
%state = phi i64 [%first, %begin], [%following, %go.on]
%inside = icmp sle i64 %i, %end
br i1 %inside, label %step, label %wrong
step:
%met.p = getelementptr i32, ptr %trace, i64 %i
%met.row = load i32, ptr %met.p
%met.wide = zext i32 %met.row to i64
%met = lshr i64 %met.wide, %shift
%row = shl i64 %state, %walk.shift
%e = add i64 %row, %met
%e.p = getelementptr i64, ptr %walk, i64 %e
%v = load i64, ptr %e.p
%is.known = icmp ne i64 %v, 0
br i1 %is.known, label %note, label %missing
note:
%following = and i64 %v, 4294967295
%all = lshr i64 %v, 32
br label %slot
slot:
%left = phi i64 [%all, %note], [%left.next, %noted]
%some = icmp ne i64 %left, 0
br i1 %some, label %noted, label %moved
noted:
%lowest = call i64 @llvm.cttz.i64(i64 %left, i1 true)
%slot.p = getelementptr i64, ptr %slots, i64 %lowest
store i64 %i, ptr %slot.p
%less = sub i64 %left, 1
%left.next = and i64 %left, %less
br label %slot
moved:
%is.end = icmp eq i64 %following, 1
br i1 %is.end, label %done, label %go.on
go.on:
%i.next = add i64 %i, 1
br label %place
done:
ret i1 true
missing:
<stop NEEDS_WALK, %e>
ret i1 false
wrong:
<stop FAILED, %i>
ret i1 false
}
"""
