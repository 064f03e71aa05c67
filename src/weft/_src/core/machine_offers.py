"""Kernels of machine code that come some time later: a hook, and when it is asked.

The layer that computes has an `Offer`, the execution layer says what loads it (`install`): in the
background, when NumPy has spent some time with what the kernels do. A program that needs two or
three of them never loads LLVM for it. With `tf.config.experimental.enable_op_determinism` NumPy
does everything, as results must not depend on what else a program has computed; and so it is for
the reference interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from weft._src.core.flags import flags
from weft._src.core.machine_jobs import left_to_numpy
from weft._src.core.processors import is_one_idle

Array = np.ndarray[Any, Any]
Kernels = TypeVar("Kernels")

# Seconds of NumPy before machine code is loaded; fewer if LLVM is there, and a processor idle.
_SPENT, _SPENT_BESIDE = 0.02, 0.004


class _Compiler:
    is_loaded = False


def compiler_is_loaded() -> None:
    """Tells that kernels come without having to load LLVM."""
    _Compiler.is_loaded = True


class Offer(Generic[Kernels]):
    """Kernels that may come."""

    def __init__(self) -> None:
        self.kernels: Kernels | None = None
        self._load: Callable[[Callable[[Kernels], None]], None] | None = None
        self._spent = 0.0
        self._is_asked = False

    def install(self, load: Callable[[Callable[[Kernels], None]], None]) -> None:
        """Sets what loads the kernels some time later, and hands them to whom it is given."""
        self._load = load

    def _take(self, kernels: Kernels) -> None:
        self.kernels = kernels

    def attempted(
        self, machine: Callable[[Kernels], Array | None], plain: Callable[[], Array]
    ) -> Array:
        """What machine code gives, if it is there; else what NumPy gives.

        Args:
          machine: asks the kernels; None where NumPy is to do it.
          plain: does it with NumPy.
        """
        if left_to_numpy() or flags.deterministic:
            return plain()
        if self.kernels is not None:
            found = machine(self.kernels)
            return plain() if found is None else found
        started = time.perf_counter()
        out = plain()
        self._spent += time.perf_counter() - started
        if not self._is_asked and self._load is not None and self._is_time():
            self._is_asked = True
            self._load(self._take)
        return out

    def _is_time(self) -> bool:
        """Whether NumPy has spent as much as loading may cost the program."""
        if self._spent > _SPENT:
            return True
        return self._spent > _SPENT_BESIDE and _Compiler.is_loaded and is_one_idle()
