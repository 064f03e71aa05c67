"""Functions that many modules call instead of having a copy of them.

Each is a module of its own, compiled when code that calls it is first loaded: once per process, and
kept on disk. What code calls is read from its symbols, so code from disk brings what it needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from weft._src.execution.native.machine import llvm, outside

_loaded: dict[str, llvm.MachineCode] = {}
_begun: set[str] = set()
_patterns: list[re.Pattern[bytes]] = []


def offer(symbols: str, text_of: Callable[..., str], *, finished: bool = False) -> None:
    """Functions for whoever calls them.

    Args:
      symbols: a pattern of their names; its groups say which of them is wanted.
      text_of: the module that defines one, from its name and the groups.
      finished: whether its loops are written as they are to run (`llvm.finished_code`).
    """
    pattern = re.compile(symbols.encode() + rb"\b")
    _patterns.append(pattern)

    def provide(code: bytes) -> None:
        with llvm.lock:  # code that others call must not be replaced
            wanted = {found.group().decode(): found.groups() for found in pattern.finditer(code)}
            there = {*_loaded, *_begun}  # what is begun has its own name in its code, too
            missing = {s: parts for s, parts in wanted.items() if s not in there}
            if not missing:
                return
            texts = {s: text_of(s, *[part.decode() for part in p]) for s, p in missing.items()}
            _begun.update(texts)
            try:
                made = _made(texts, finished)
            finally:
                _begun.difference_update(texts)
            for symbol in texts:
                llvm.add_symbol(symbol, made.address(symbol))
                _loaded[symbol] = made

    llvm.providers.append(provide)


def _made(texts: dict[str, str], finished: bool) -> llvm.MachineCode:
    """The code of functions, after what they call themselves."""
    codes = []
    for text in texts.values():
        for name, address in outside.functions_for(text).items():
            llvm.add_symbol(name, address)
        codes.append(llvm.code_of(text, finished=finished))
        for provide in llvm.providers:
            provide(codes[-1])
    # Loaded together: each engine of LLVM's takes more than a millisecond.
    return llvm.MachineCode(*codes, defines=texts)


def count_missing(text: str) -> int:
    """How many functions that a module calls have to be compiled first, or taken from disk."""
    code = text.encode()
    called = {found.group().decode() for pattern in _patterns for found in pattern.finditer(code)}
    return len(called - _loaded.keys())


def address(symbol: str) -> int | None:
    """Where a function lies; None as long as nobody has loaded it."""
    code = _loaded.get(symbol)
    return None if code is None else code.address(symbol)


def load(symbols: Iterable[str]) -> None:
    """Compiles functions that are called from Python, or takes them from disk."""
    for provide in llvm.providers:
        provide(" ".join(symbols).encode())


# --- what LLVM calls by itself -------------------------------------------------------------------

# From double to half: where only the sign of a number matters, LLVM leaves out the step between.
# The float in the middle is rounded to odd, so that the second rounding is that of the number.
_HALF_OF_DOUBLE = """
declare double @llvm.fabs.f64(double)
define half @__truncdfhf2(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %size = call double @llvm.fabs.f64(double %x)
  %found = call double @llvm.fabs.f64(double %back)
  %beyond = fcmp ogt double %found, %size
  %one = zext i1 %beyond to i32
  %bits = bitcast float %near to i32
  %cut = sub i32 %bits, %one
  %odd = or i32 %cut, 1
  %inexact = fcmp one double %back, %x
  %chosen = select i1 %inexact, i32 %odd, i32 %cut
  %middle = bitcast i32 %chosen to float
  %half = fptrunc float %middle to half
  ret half %half
}
"""

offer("__truncdfhf2", lambda symbol: _HALF_OF_DOUBLE)
