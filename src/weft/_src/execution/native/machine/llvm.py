"""From the text of a module to machine code, with LLVM. Nothing else imports llvmlite."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from weft._src.execution import forking
from weft._src.execution.native.machine import cache, symbols

_GENERATION = 6  # changes when the same text has to be compiled in another way

# LLVM is used by one thread at a time; objects of llvmlite must not die while another uses it.
lock = forking.lock


@functools.cache
def _started() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    # Short loops would be vectorised with masks, and LLVM 22 stores eight bytes where a mask leaves
    # one lane of four-byte numbers that were cut from eight-byte ones: past the end of the buffer.
    llvm.set_option("weft", "-vectorizer-min-trip-count=0")
    # For processors that keep decoded loops LLVM writes sixteen copies of a short one: a tenth of
    # the time to compile, and none of fourteen programs and eighteen kernels ran faster for it.
    llvm.set_option("weft", "-partial-unrolling-threshold=20")


_known = {"_GLOBAL_OFFSET_TABLE_"}  # what is there for code besides the libraries of the process


@functools.cache
def _host() -> tuple[str, str]:
    """The name of this processor, and what it can do."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _new_machine(opt: int = 3) -> Any:
    _started()
    cpu, features = _host()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=opt, jit=True
    )


_machine = functools.cache(_new_machine)


class MachineCode:
    """Compiled modules, kept alive as long as their functions are used."""

    def __init__(self, *codes: bytes, defines: Collection[str] = ()) -> None:
        """`defines` names functions of these modules that others of them call."""
        self._addresses: dict[str, int] = {}
        missing = [
            name
            for code in codes
            for name in symbols.undefined(code)
            if name not in _known and name not in defines and not symbols.is_in_process(name)
        ]
        if missing:
            raise OSError(f"machine code needs functions that are not there: {', '.join(missing)}")
        with lock:
            # The engine owns the machine it is given.
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine())
            for code in codes:
                self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def __del__(self, lock: Any = lock) -> None:  # the lock as long as the class lives
        """Under the lock: a fork must not meet LLVM while it gives memory back."""
        with lock:
            self._engine = None

    def address(self, name: str) -> int:
        """Where a function lies; LLVM is asked once, as it may be at work for long."""
        found = self._addresses.get(name)
        if found is None:
            with lock:
                found = self._addresses[name] = int(self._engine.get_function_address(name))
        return found


def add_symbol(name: str, address: int) -> None:
    """Makes a function known to code that is compiled later."""
    with lock:
        llvm.add_symbol(name, address)
        _known.add(name)


def call_with_int(address: int, number: int) -> int:
    """Calls `int function(int)`."""
    return int(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(address)(number))


@contextmanager
def _given_back(passes: Any) -> Iterator[Any]:
    """Passes whose memory is given back: llvmlite keeps 50 kB and more for each that is dropped."""
    try:
        yield passes
    finally:
        NewPassManager._dispose(passes)
        passes.detach()


def optimized(text: str) -> Any:
    """The module after LLVM's passes."""
    machine = _machine()
    module = llvm.parse_assembly(text)
    module.verify()
    # The passes of level 2 take a fifth to a third longer; loops as they are written here ran as
    # fast after those of level 1 (35 kinds of programs: 0.94 to 1.01 of the time, as a mean).
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    with _given_back(builder.getModulePassManager()) as passes:
        passes.run(module, builder)
    return module


def assembly(text: str) -> str:
    """The machine code of a module, for people."""
    with lock:
        return str(_machine().emit_assembly(optimized(text)))


def object_code(text: str) -> bytes:
    """Machine code for a module, as it can be kept in a file."""
    with lock:
        return bytes(_machine().emit_object(optimized(text)))


def plain_code(text: str) -> bytes:
    """Machine code for a module that need not be improved: 3 ms for what else takes 50 or more.

    A call of machine code takes 170 to 200 ns whichever way its trampoline was compiled.
    """
    with lock:
        module = llvm.parse_assembly(text)
        module.verify()
        return bytes(_machine(opt=0).emit_object(module))


def finished_code(text: str) -> bytes:
    """Machine code for a module whose loops are written as they are to run.

    Only what is kept in memory for ease of writing goes to registers; all other passes take as long
    as emitting code, and leave the code of tiles what it was.
    """
    with lock:
        machine = _machine()
        module = llvm.parse_assembly(text)
        module.verify()
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        with _given_back(llvm.create_new_function_pass_manager()) as passes:
            passes.add_sroa_pass()
            for function in module.functions:
                if not function.is_declaration:
                    passes.run(function, builder)
        return bytes(machine.emit_object(module))


@functools.cache
def _machine_name() -> str:
    """What code depends on besides the text: processor, LLVM, the version of the code generator."""
    with lock:
        cpu, features = _host()
        return f"{cpu} {features} {llvm.llvm_version_info} {_GENERATION}"


@functools.cache
def vector_bytes() -> int:
    """The size of this processor's vector registers."""
    with lock:
        features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx") else 16


@functools.cache
def has_features(*names: str) -> bool:
    """Whether this processor has all that is named, as LLVM calls it."""
    with lock:
        found = llvm.get_host_cpu_features()
    return all(found.get(name) for name in names)


@functools.cache
def likes_wide_vectors() -> bool:
    """Whether 64-byte vectors do not slow this processor down, as they did the first with them."""
    with lock:
        return bool(llvm.get_host_cpu_features().get("avx512vbmi2"))


# Called with object code before it is loaded, to make known what it calls.
providers: list[Callable[[bytes], None]] = []


def compile_text(text: str) -> MachineCode:
    """Machine code for a module, ready to run."""
    code = code_of(text)
    for provide in providers:
        provide(code)
    return MachineCode(code)


def code_of(text: str, *, finished: bool = False) -> bytes:
    """Machine code for a module, from disk or compiled now; a `finished` one without passes."""
    return cache.code_for(text, _machine_name(), finished_code if finished else object_code)
