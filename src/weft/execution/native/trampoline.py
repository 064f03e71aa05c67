"""How Python calls machine code: a function in LLVM IR that takes arrays and returns arrays.

`PyObject *weft_call(PyObject *self, PyObject **args, Py_ssize_t n)` looks into the array objects
itself. Anything unusual (another shape, strides, a shared variable buffer) makes it answer
NotImplemented, and Python takes over. `self` is a bytes object that holds the addresses it needs.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.execution.native.translate import Translation

# Offsets in PyArrayObject and in bytes objects, part of their stable binary interfaces.
_DATA, _RANK, _DIMS, _DESCR, _FLAGS = 16, 24, 32, 56, 64
_BYTES_START = 32
_CONTIGUOUS_AND_ALIGNED = 0x101

# The first entries of the context.
CONTEXT = (
    "ndarray", "true", "not_implemented", "tuple_new", "array_new", "save_thread",
    "restore_thread", "check_signals", "incref", "decref", "allocate", "free", "scratch",
    "cell_data", "cell_shared",
)  # fmt: skip


class Trampoline:
    """The text of the calling function of one program."""

    def __init__(self, translation: Translation) -> None:
        self._t = translation
        self._lines: list[str] = []
        self._names = 0
        program = translation.program
        self._first_constant = len(CONTEXT)
        self._first_input = self._first_constant + len(translation.constants)
        self._first_output = self._first_input + len(translation.inputs)
        self.entries = self._first_output + 2 * len(translation.outputs)
        self._slots = len(program.slots) + 1  # then: context, thread state

    def text(self) -> str:
        """The functions to be added to the module."""
        self._emit()
        body = "\n".join(self._lines)
        return (
            f"{self._interrupted()}\n"
            f"define ptr @weft_call(ptr %self, ptr %args, i64 %n) {{\nentry:\n{body}\n}}\n"
        )

    # --- helpers ---------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._lines.append(text)

    def _new(self, text: str) -> str:
        self._names += 1
        name = f"%v{self._names}"
        self._line(f"{name} = {text}")
        return name

    def _label(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def _field(self, pointer: str, offset: int | str, kind: str) -> str:
        place = self._new(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        return self._new(f"load {kind}, ptr {place}")

    def _context(self, entry: int | str) -> str:
        index = CONTEXT.index(entry) if isinstance(entry, str) else entry
        return self._field("%context", 8 * index, "ptr")

    def _demand(self, condition: str) -> None:
        """Goes on only if a condition holds."""
        label = self._label("fine")
        self._line(f"br i1 {condition}, label %{label}, label %unusual")
        self._line(f"{label}:")

    def _set_slot(self, slot: int, pointer: str) -> None:
        place = self._new(f"getelementptr ptr, ptr %t, i64 {slot}")
        self._line(f"store ptr {pointer}, ptr {place}")

    # --- the function ----------------------------------------------------------------------------

    def _emit(self) -> None:
        program, t = self._t.program, self._t
        self._line(f"%context = getelementptr i8, ptr %self, i64 {_BYTES_START}")
        self._line(f"%t = alloca [{self._slots + 2} x ptr], align 16")
        count = self._new(f"icmp eq i64 %n, {len(t.inputs)}")
        self._demand(count)
        self._set_slot(self._slots, "%context")
        ndarray = self._context("ndarray")
        shown = {id(s): program.memory[id(s)].slot for s in program.slots}
        cells = None
        for number, (position, stored) in enumerate(t.inputs):
            place = self._new(f"getelementptr ptr, ptr %args, i64 {position}")
            array = self._new(f"load ptr, ptr {place}")
            if position in t.cells:
                if cells is None:
                    cells = [self._context_number(e) for e in ("cell_data", "cell_shared")]
                if position in t.written:
                    shared = self._field(array, cells[1], "ptr")
                    self._demand(self._new(f"icmp ne ptr {shared}, {self._context('true')}"))
                array = self._field(array, cells[0], "ptr")
            self._check_array(array, ndarray, self._first_input + number, stored.shape)
            self._set_slot(shown[id(stored)], self._field(array, _DATA, "ptr"))
        for i, stored in enumerate(t.constant_slots):
            self._set_slot(shown[id(stored)], self._context(self._first_constant + i))
        self._run()
        self._line("unusual:")
        self._return_not_implemented()

    def _context_number(self, entry: str) -> str:
        return self._field("%context", 8 * CONTEXT.index(entry), "i64")

    def _check_array(self, array: str, ndarray: str, descr: int, shape: tuple[int, ...]) -> None:
        is_array = self._new(f"icmp eq ptr {self._field(array, 8, 'ptr')}, {ndarray}")
        self._demand(is_array)
        tests = [
            self._new(
                f"icmp eq ptr {self._field(array, _DESCR, 'ptr')}, {self._context(descr)}"
            ),
            self._new(f"icmp eq i32 {self._field(array, _RANK, 'i32')}, {len(shape)}"),
        ]
        flags = self._new(
            f"and i32 {self._field(array, _FLAGS, 'i32')}, {_CONTIGUOUS_AND_ALIGNED}"
        )
        tests.append(self._new(f"icmp eq i32 {flags}, {_CONTIGUOUS_AND_ALIGNED}"))
        both = self._new(f"and i1 {tests[0]}, {tests[1]}")
        self._demand(self._new(f"and i1 {both}, {tests[2]}"))
        if shape:
            dims = self._field(array, _DIMS, "ptr")
            same = "true"
            for axis, n in enumerate(shape):
                size = self._new(f"icmp eq i64 {self._field(dims, 8 * axis, 'i64')}, {n}")
                same = self._new(f"and i1 {same}, {size}")
            self._demand(same)

    def _run(self) -> None:
        """Results, scratch memory, the call itself, and the tuple that is returned."""
        program = self._t.program
        arrays = list(self._new_arrays())
        scratch = self._take_scratch() if program.scratch_bytes else None
        thread = self._slots + 1
        if program.releases_gil:
            self._set_slot(thread, self._new(f"call ptr {self._context('save_thread')}()"))
        else:
            self._set_slot(thread, "null")
        status = self._new("call i32 @weft_main(ptr %t)")
        if program.releases_gil:
            place = self._new(f"getelementptr ptr, ptr %t, i64 {thread}")
            state = self._new(f"load ptr, ptr {place}")
            self._line(f"call void {self._context('restore_thread')}(ptr {state})")
        if scratch is not None:
            self._give_back(scratch)
        done, failed = self._label("done"), self._label("failed")
        fine = self._new(f"icmp eq i32 {status}, 0")
        self._line(f"br i1 {fine}, label %{done}, label %{failed}")
        self._line(f"{failed}:")
        for array in arrays:
            self._line(f"call void {self._context('decref')}(ptr {array})")
        stopped = self._label("stopped")
        interrupted = self._new(f"icmp slt i32 {status}, 0")
        self._line(f"br i1 {interrupted}, label %{stopped}, label %unusual")
        self._line(f"{stopped}:")
        self._line("ret ptr null")
        self._line(f"{done}:")
        result = self._new(f"call ptr {self._context('tuple_new')}(i64 {len(arrays)})")
        for i, array in enumerate(arrays):
            # ob_item of a tuple object begins behind its size.
            place = self._new(f"getelementptr i8, ptr {result}, i64 {24 + 8 * i}")
            self._line(f"store ptr {array}, ptr {place}")
        self._line(f"ret ptr {result}")

    def _new_arrays(self) -> Iterator[str]:
        program = self._t.program
        for i, out in enumerate(self._t.outputs):
            descr = self._context(self._first_output + 2 * i)
            dims = self._context(self._first_output + 2 * i + 1)
            self._line(f"call void {self._context('incref')}(ptr {descr})")
            array = self._new(
                f"call ptr {self._context('array_new')}(ptr {self._context('ndarray')}, "
                f"ptr {descr}, i32 {len(out.shape)}, ptr {dims}, ptr null, ptr null, i32 0, "
                "ptr null)"
            )
            made = self._label("made")
            self._line(f"%{made}.ok = icmp ne ptr {array}, null")
            self._line(f"br i1 %{made}.ok, label %{made}, label %{made}.no")
            self._line(f"{made}.no:")
            self._line("ret ptr null")
            self._line(f"{made}:")
            self._set_slot(program.memory[id(out)].slot, self._field(array, _DATA, "ptr"))
            yield array

    def _take_scratch(self) -> str:
        """The block that the last call left, or a new one: concurrent calls each have their own."""
        place = self._new(f"getelementptr i8, ptr %context, i64 {8 * CONTEXT.index('scratch')}")
        old = self._new(f"atomicrmw xchg ptr {place}, ptr null seq_cst")
        have, need, ready = [self._label(stem) for stem in ("have", "need", "ready")]
        found = self._new(f"icmp ne ptr {old}, null")
        self._line(f"br i1 {found}, label %{have}, label %{need}")
        self._line(f"{need}:")
        size = -(-self._t.program.scratch_bytes // 64) * 64
        made = self._new(f"call ptr {self._context('allocate')}(i64 64, i64 {size})")
        self._line(f"br label %{ready}")
        self._line(f"{have}:")
        self._line(f"br label %{ready}")
        self._line(f"{ready}:")
        block = self._new(f"phi ptr [{made}, %{need}], [{old}, %{have}]")
        self._set_slot(0, block)
        return block

    def _give_back(self, block: str) -> None:
        place = self._new(f"getelementptr i8, ptr %context, i64 {8 * CONTEXT.index('scratch')}")
        other = self._new(f"atomicrmw xchg ptr {place}, ptr {block} seq_cst")
        self._line(f"call void {self._context('free')}(ptr {other})")

    def _return_not_implemented(self) -> None:
        answer = self._context("not_implemented")
        self._line(f"call void {self._context('incref')}(ptr {answer})")
        self._line(f"ret ptr {answer}")

    def _interrupted(self) -> str:
        """Asks Python whether a signal came, taking the GIL for that if it was released."""
        outer, self._lines = self._lines, []
        at = self._new(f"getelementptr ptr, ptr %t, i64 {self._slots}")
        self._line(f"%context = load ptr, ptr {at}")
        place = self._new(f"getelementptr ptr, ptr %t, i64 {self._slots + 1}")
        state = self._new(f"load ptr, ptr {place}")
        self._line(f"%held = icmp eq ptr {state}, null")
        self._line("br i1 %held, label %ask, label %take")
        self._line("take:")
        self._line(f"call void {self._context('restore_thread')}(ptr {state})")
        self._line("br label %ask")
        self._line("ask:")
        answer = self._new(f"call i32 {self._context('check_signals')}()")
        self._line("br i1 %held, label %end, label %give")
        self._line("give:")
        again = self._new(f"call ptr {self._context('save_thread')}()")
        self._line(f"store ptr {again}, ptr {place}")
        self._line("br label %end")
        self._line("end:")
        self._line(f"ret i32 {answer}")
        text = "\n".join(self._lines)
        self._lines = outer
        return f"define i32 @weft_interrupted(ptr %t) {{\nentry:\n{text}\n}}"


def full_text(translation: Translation) -> tuple[str, int]:
    """The module of a program with its calling function, and the entries of its context."""
    trampoline = Trampoline(translation)
    program = translation.program
    own = trampoline.text()
    program.module.forget("weft_interrupted")
    return f"{program.text()}\n{own}", trampoline.entries


