"""Which tier runs a graph: NumPy at once, machine code when it is worth it.

Hot path: `plan.run(*values)`; `run` is replaced when the tier changes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core import dtypes, timeline
from weft._src.core.cells import VariableCell
from weft._src.core.crew import crew
from weft._src.core.flags import flags
from weft._src.core.holding import run_holding
from weft._src.core.lazily import cached_property
from weft._src.core.memory import TooLargeError
from weft._src.core.processors import is_one_idle
from weft._src.errors import ResourceExhaustedError, UnimplementedError
from weft._src.execution import forking, tier_words, turns
from weft._src.execution.background import Job, worker
from weft._src.execution.bounds import bound_part, large_multiplications, part_in_products
from weft._src.execution.devices import place_for
from weft._src.execution.estimates import Compilation, seconds_for
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.ir import Graph
from weft._src.graph.passes import optimize
from weft._src.graph.passes.attention import LEAST_SCORES_NUMPY, fuse_attention
from weft._src.graph.passes.forget import forget_gradients
from weft._src.graph.passes.pieces import cut_into_pieces
from weft._src.graph.passes.resizing import fuse_resizing

_MOST_SHAPES = 4  # native versions of one graph
# Calls of machine code that are timed, fewer if they are long; where these do not tell, calls on
# each tier: at least so many, and for short ones more, as something else may have run.
_FIRST_TRIALS, _LONG_CALL = 3, 0.03
_TRIALS, _MOST_TRIALS, _TRIAL_SECONDS = 5, 50, 0.03
_WORTH_CHANGING = 0.98  # closer than that is chance
_CLEARLY = 1.5  # as fast: calls of other moments can be compared
_MOST_REASONS = 3  # that are listed
# A call stays on NumPy until that has spent a part of what compiling will cost. Then the
# compiler begins, in the background. First it needs the interpreter, in turns with the caller, who
# loses half of his time to it at most (`turns.py`). Then LLVM works beside the caller. When NumPy
# has spent as much as is left to be compiled, and the compiler does not get a processor (or what is
# left is shorter than a call, or than anybody notices), the next call waits for it: each slows the
# other one down, by caches and the interpreter's lock. So however often a function is called, it
# takes about twice as long at most as on the better tier from the start.
_BEGIN = 1 / 8
_BEGIN_BESIDE = 1 / 32  # where a processor is idle, the compiler costs the caller nearly nothing
_BEGIN_BESIDE_THREADS = 1 / 4  # which share the work of calls, and leave a processor idle at times
# Large products use all processors, and so do threads where something else runs: what the compiler
# takes, it takes from the caller.
_BEGIN_IN_TURN, _MOSTLY = 1, 1 / 4
_SHORT_WAIT = 0.015  # seconds
_LEAST_RENT = 0.02  # of the time that is spent: a bound is an estimate, too
_LEAST_SPENT = 0.001  # seconds; before, there is nothing to think about
_LONG_FIRST = 0.5  # seconds: a first call that takes longer has not just loaded a library
_DETERMINISTIC_CALL = 10

_considering = threading.Lock()

_log = logging.getLogger("weft")


class TieredPlan:
    """The executable form of a graph, whichever tier it is on."""

    def __init__(self, graph: Graph, kernel: Callable[..., Any] | None = None) -> None:
        """`kernel` runs the graph if it is a single op, with that op's own messages."""
        self.graph = forget_gradients(graph)
        self._kernel = kernel
        self.tier = "numpy"
        self.compiled: list[Any] = []  # native versions, the newest first
        self.left_out: str | None = None  # why there is no native version
        self._jit = graph.jit_compile
        self._spent = 0.0
        self._begin_at = _LEAST_SPENT  # and then when it is time to compile
        self._job: Job | None = None  # that compiles
        self._compilation: Compilation | None = None  # what is known of that
        self._calls = 0
        self._uses_threads = False  # whether NumPy has shared the work of the last call
        self._best = float("inf")
        self._trials: list[float] = []  # of machine code; then both tiers take turns
        self._turns: tuple[list[float], list[float]] = ([], [])  # of machine code, of NumPy
        self._takes_turns = False
        self._callers = 0  # threads that are trying it now
        self._is_crowded = False  # whether there was ever more than one
        self.speed: tuple[float, float] | None = None  # seconds of a call on NumPy, and natively
        self.native_calls = 0
        self._began_as = "auto"  # what was wanted at the first call
        self._misses = 0  # calls with other shapes than those of the versions
        self._beyond = 0  # those of them that came when there could be no more versions
        self._failures = 0  # shapes for which there is no native version
        self._reads: tuple[int, ...] = ()
        resources = [i for i, x in enumerate(graph.inputs) if x.dtype is dtypes.resource]
        self._given_variables = resources
        self._locks: list[Any] = []
        self.run: Callable[..., Any] = self._first
        self.who = f"a call of {graph.name}"
        effects = graph.effects
        if not effects.writes:  # a call that writes is made with all its variables locked
            position = {id(x): i for i, x in enumerate(graph.all_inputs)}
            self._reads = tuple([position[id(t)] for t in effects.reads])

    def __call__(self, *values: Any) -> Any:
        return self.run(*values)

    @cached_property
    def numpy(self) -> Any:
        """The NumPy tier, which a function that is compiled at once may never need."""
        if self._kernel is not None:
            return self._kernel
        fused = fuse_attention(fuse_resizing(self._optimized), LEAST_SCORES_NUMPY)
        return NumpyPlan(cut_into_pieces(fused))

    @cached_property
    def _optimized(self) -> Graph:
        return optimize(self.graph)

    @property
    def source(self) -> str:
        """The Python code of the NumPy tier."""
        return str(self.numpy.source)

    @cached_property
    def _estimate(self) -> float:
        return seconds_for(self.graph)

    @cached_property
    def _multiplications(self) -> float:
        return large_multiplications(self.graph)

    @property
    def _rent(self) -> float:
        """What NumPy has spent, but for what machine code would spend as well."""
        return self._spent * max(1.0 - bound_part(self._multiplications, self._best), _LEAST_RENT)

    # --- before there is native code ---------------------------------------------------------

    def _first(self, *values: Any) -> Any:
        """Decides how to begin, by the settings at the first call."""
        wanted = self._began_as = flags.execution_wanted()
        if self._begin_on_devices(values):
            return self.run(*values)
        if wanted == "numpy":
            self.run = self.numpy
        elif wanted == "verify":
            self.run = self._verified
        elif wanted == "xla":
            self._begin_with_xla()
        elif self._jit or wanted == "native":
            self.run = self._compile_at_once
        else:
            self.run = self._watched
        return self.run(*values)

    def _begin_on_devices(self, values: Sequence[Any]) -> bool:
        """Whether variables are on another device, or nodes ask for one: then XLA runs it."""
        place = place_for(self.graph, values)
        if place is None:
            return False
        with forking.lock:
            from weft._src.execution.xla import placed
        self.tier = "xla"
        self.run = placed.DevicePlan(self.graph, place, self.by_numpy, keeps=False)
        return True

    def _begin_with_xla(self) -> None:
        """Programs of XLA, from the first call on; NumPy for what these cannot run."""
        with forking.lock:  # jax takes a second to load
            from weft._src.execution.xla import runtime

            runtime.require('weft.config.execution = "xla"')
            from weft._src.execution.xla import driver
        plan = driver.XlaPlan(self.graph, self.by_numpy, whole=bool(self._jit))
        self.tier, self.run = "xla", plan

    def by_numpy(self, *values: Any) -> Any:
        """A call on the NumPy tier, whose plan is made when it is needed."""
        return self.numpy(*values)

    def _watched(self, *values: Any) -> Any:
        """On NumPy, until so much time was spent that compiling pays."""
        out = self._timed(values)
        self._calls += 1
        if self._calls == 2:  # the first one may have loaded a library, which is no rent
            self._spent = 2 * self._best
        if flags.deterministic:
            if self._calls == _DETERMINISTIC_CALL:
                self._compile(values)
        elif self._spent > self._begin_at and (self._calls > 1 or self._spent > _LONG_FIRST):
            self._consider(values)
        return out

    def _timed(self, values: Sequence[Any], clock: Callable[[], float] = time.perf_counter) -> Any:
        """A call on NumPy whose time is noted; `clock` tells what of it is spent."""
        shared_before, awaited_before = crew.shared, worker.seconds_awaited
        started, spent_before = time.perf_counter(), clock()
        out = self.numpy(*values)
        # To have waited for tiles (`array_tiles.py`) is no rent: they come once.
        awaited = worker.seconds_awaited - awaited_before
        self._spent += max(clock() - spent_before - awaited, 0.0)
        self._best = min(self._best, time.perf_counter() - started)
        self._uses_threads = crew.shared != shared_before
        return out

    def _consider(self, values: Sequence[Any]) -> None:
        """Has the compiler begin, if NumPy has spent so much that it is time."""
        compilation = Compilation(self._estimate)
        share, rent = self._share, self._rent
        if rent <= share * compilation.expected:
            # Whether a processor is idle may be another matter soon; it is not asked at every call.
            due = self._spent * share * compilation.expected / rent
            self._begin_at = min(2 * self._spent, due)
            return
        with _considering:  # several threads may come here at once
            if self._compilation is not None:
                return
            self._compilation = compilation
        self.run = self._waiting
        kinds = _descriptions(values)
        self._job = worker.submit(lambda: self._compile_in_background(kinds, compilation))
        _log.info(
            "%s has taken %.2f s with NumPy and is compiled in the background, in about %.2f s.",
            self.graph.name,
            self._spent,
            compilation.expected,
        )

    @property
    def _share(self) -> float:
        """The part of what compiling costs that has to be spent before it begins."""
        if self._uses_all_processors:
            return _BEGIN_IN_TURN
        is_idle = is_one_idle()
        if self._uses_threads:
            return _BEGIN_BESIDE_THREADS if is_idle else _BEGIN_IN_TURN
        return _BEGIN_BESIDE if is_idle else _BEGIN

    @property
    def _uses_all_processors(self) -> bool:
        """Whether calls are large products for the most part."""
        return part_in_products(self._multiplications, self._best) > _MOSTLY

    def _waiting(self, *values: Any) -> Any:
        """On NumPy while the compiler works, until so much was spent that waiting for it pays."""
        job, compilation = self._job, self._compilation
        if job is None or compilation is None:
            return self.run(*values) if self.run != self._waiting else self.numpy(*values)
        if compilation.is_lost:
            self._begin_anew()
            return self.run(*values)
        left = compilation.left
        is_short = left < max(self._best, _SHORT_WAIT)
        if self._rent > left and (is_short or not compilation.advances):
            _log.info("%s waits for the compiler.", self.graph.name)
            if compilation.is_writing:  # what follows may well go on beside the caller
                worker.wait_for(compilation.code_is_there)
                if not compilation.is_writing:
                    return self._waiting(*values)
            worker.finish(job)
            self._job = None
            return self._waiting(*values)
        # What the compiler takes from the caller is no rent: only the caller's own time counts.
        return self._timed(values, time.thread_time)

    def _begin_anew(self) -> None:
        """In a forked process nobody goes on with what was begun."""
        self._job = self._compilation = None
        self.run = self._watched

    def _verified(self, *values: Any) -> Any:
        """Native code is held against the reference; what the user gets is NumPy's."""
        if _reason_off() is None:
            from weft._src.execution.native import verify

            verify.check(self.graph, values)
        return self.numpy(*values)

    def _compile_in_background(self, values: Sequence[Any], compilation: Compilation) -> None:
        with forking.lock:
            from weft._src.execution.native import pace
        if worker.is_here:  # and not a caller who waits for it
            pace.slow_down_this_thread()
            compilation.when_code_is_written = turns.moments_only
        compilation.begin()
        try:
            self._compile(values, compilation)
        finally:
            compilation.end()

    def _compile_at_once(self, *values: Any) -> Any:
        return self.run(*values) if self._compile(values) else self.numpy(*values)

    def _compile(self, values: Sequence[Any], compilation: Compilation | None = None) -> bool:
        if any(isinstance(v, VariableCell) and v.data is None for v in values):
            return False  # a variable without a value: NumPy tells the user
        off = _reason_off()
        if off is not None:
            return self._failed(f"the native tier is off: {off}")
        with forking.lock:
            from weft._src.execution.native.loops.values import NotCompilableError
        try:
            with forking.lock:  # only when it is needed: LLVM takes a tenth of a second to load
                from weft._src.execution.native import driver

            told = None if compilation is None else compilation.code_is_written
            started = time.perf_counter()
            made = driver.compile_graph(self._optimized, values, whole=bool(self._jit), told=told)
        except NotCompilableError as reason:
            # What fails on every tier is NumPy's to report, and other shapes may do better.
            if reason.fails and self._failures < _MOST_SHAPES:
                self._failures += 1
                return False
            return self._refused(str(reason))
        except Exception as error:  # noqa: BLE001 - LLVM, the processor or memory: bad luck
            problem = f"{type(error).__name__}: {error}"
            _log.warning(
                "%s could not be compiled and goes on with NumPy: %s", self.graph.name, problem
            )
            return self._failed(problem)
        where = next((node.location for node in self.graph.body), None)
        detail = "kept from disk" if made.is_from_disk else f"{made.segments} segments"
        timeline.note("compile", self.graph.name, started, where, detail)
        self.compiled.insert(0, made)
        self._trials, self._turns, self._takes_turns = [], ([], []), self._is_crowded
        sure = self._jit or flags.deterministic or flags.execution_wanted() == "native"
        self.run = self._native if sure else self._on_trial
        self.tier = "native"
        return True

    def _refused(self, reason: str) -> bool:
        if not self._jit:
            return self._failed(reason)
        raise UnimplementedError(
            None,
            None,
            f"jit_compile=True: {self.graph.name} cannot be compiled, {reason}. "
            "Leave jit_compile out: then what can be compiled is, and NumPy does the rest.",
        ) from None

    def _failed(self, reason: str) -> bool:
        self.left_out = reason
        self._failures += 1
        if not self.compiled:
            self.run = self.numpy
        return False

    # --- with native code --------------------------------------------------------------------

    def _on_trial(self, *values: Any) -> Any:
        """The first calls are timed; the faster tier is kept.

        What NumPy takes is known from the calls before. If that is too close, the tiers take turns.
        """
        with _considering:
            self._callers += 1
            if self._callers > 1 and not self._is_crowded:
                # Threads wait for each other, so only their own time tells, and of both tiers.
                self._is_crowded = self._takes_turns = True
                self._turns = ([], [])
        try:
            return self._tried(values, time.thread_time if self._is_crowded else time.perf_counter)
        finally:
            with _considering:
                self._callers -= 1

    def _tried(self, values: Sequence[Any], clock: Callable[[], float]) -> Any:
        trials, (native, numpy) = self._trials, self._turns
        is_native = len(native) <= len(numpy)  # other threads may be at it as well
        started = clock()
        out = self._native(*values) if is_native else self.numpy(*values)
        took = clock() - started
        if self._takes_turns:
            (native if is_native else numpy).append(took)
            if _is_decided(native, numpy):
                self._decide(min(native), min(numpy))
        else:
            trials.append(took)
            is_long = len(trials) > 1 and took > _LONG_CALL  # the first one may be an exception
            if len(trials) == _FIRST_TRIALS or is_long:
                self._decide_at_once(min(trials))
        return out

    def _decide_at_once(self, native: float) -> None:
        """By what NumPy took before the trial, if the difference is large enough."""
        if native * _CLEARLY < self._best or native > self._best * _CLEARLY:
            self._decide(native, self._best)
        elif len(self._trials) >= _FIRST_TRIALS:
            self._takes_turns = True

    def _decide(self, native: float, numpy: float) -> None:
        self.speed = (numpy, native)
        if native > _WORTH_CHANGING * numpy:
            self.run, self.tier = self.numpy, "numpy"
            self.left_out = tier_words.slower(native, numpy)
        else:
            self.run = self._native
        _log.info("%s %s.", self.graph.name, self.account())

    @property
    def _native(self) -> Callable[..., Any]:
        """What runs machine code: nothing is looked at that cannot be."""
        careful = self._given_variables or self._reads
        return self._native_on_variables if careful else self._machine_code

    def _machine_code(self, *values: Any) -> Any:
        try:
            out = self.compiled[0].call(*values)
            if out is NotImplemented:
                return self._unusual(values)
            self.native_calls += 1
            return out
        except TooLargeError as error:
            raise self._too_large(error) from None
        except MemoryError:  # before anything was done; NumPy manages, or tells the user
            return self.numpy(*values)

    def _too_large(self, error: TooLargeError) -> ResourceExhaustedError:
        """The error that names the op and the line of a result there is no memory for."""
        node = self.graph.outputs[error.output].node
        while node.op.identity:  # what a function returns
            node = node.inputs[0].node
        named = ResourceExhaustedError(None, None, f"{node.op.name}: {error}")
        named.location = node.location
        return named

    def _native_on_variables(self, *values: Any) -> Any:
        """Variables are not changed by others while machine code reads them."""
        if self._given_variables and self._has_aliases(values):
            return self.numpy(*values)
        if not self._reads:
            return self._machine_code(*values)
        locks = self._locks
        if not locks:
            cells = sorted([values[i] for i in self._reads], key=id)
            locks = [cell.lock for cell in cells if isinstance(cell, VariableCell)]
            if not self._given_variables:  # captured ones are always the same
                self._locks = locks
        return run_holding(locks, self._machine_code, values, self.who)

    def _has_aliases(self, values: tuple[Any, ...]) -> bool:
        """Whether one variable was passed twice, which native code does not expect."""
        cells = [id(v) for v in values if isinstance(v, VariableCell)]
        return len(set(cells)) != len(cells)

    def _unusual(self, values: tuple[Any, ...]) -> Any:
        """Other shapes, strided arrays, shared buffers, or an error for NumPy to report."""
        for i, made in enumerate(self.compiled):
            out = made(*values)
            if out is not None:
                self.native_calls += 1
                if i:  # the shapes used last come first
                    self.compiled.insert(0, self.compiled.pop(i))
                return out
        self._misses += 1
        fits = any(made.fits(values) for made in self.compiled)
        tried = len(self.compiled) + self._failures
        if not fits and tried < _MOST_SHAPES and self._may_compile_more():
            return self.run(*values) if self._compile(values) else self.numpy(*values)
        self._beyond += not fits and tried >= _MOST_SHAPES
        return self.numpy(*values)

    def _may_compile_more(self) -> bool:
        if self._jit or flags.execution_wanted() == "native":
            return True
        self._spent += self._best
        return self._misses % 50 == 0

    # --- what there is to say ----------------------------------------------------------------

    @property
    def calls_by_tier(self) -> dict[str, int]:
        """How many calls each tier has served."""
        numpy = self.__dict__.get("numpy")  # the NumPy tier, if it was ever needed
        return {"numpy": getattr(numpy, "calls", 0), "native": self.native_calls}

    def account(self) -> str:
        """Where it is on its way to machine code, and why: cost, what is left to NumPy."""
        parts = self._plans()
        if self.compiled:
            parts += self._account_of_code()
        if self._beyond:
            parts.append(
                f"more shapes than versions: {_MOST_SHAPES} are compiled, and {self._beyond} calls "
                "with other shapes ran on NumPy. Pad to a few sizes, e.g. with "
                "Dataset.padded_batch or batch(..., drop_remainder=True)"
            )
        if self.left_out is not None:
            parts.append(f"not compiled: {self.left_out}")
        return "; ".join(parts)

    def _account_of_code(self) -> list[str]:
        newest = self.compiled[0]
        shapes = f", {len(self.compiled)} sets of shapes" if len(self.compiled) > 1 else ""
        made = "kept from disk, loaded" if newest.is_from_disk else "compiled"
        at_once = " at the first call (jit_compile=True)" if self._jit else ""
        parts = [
            f"{made}{at_once} in {newest.milliseconds:.0f} ms, {newest.segments} segments{shapes}"
        ]
        if self.speed is not None and self.tier == "native":
            numpy, native = self.speed
            parts.append(
                f"{numpy / native:.1f}x as fast as NumPy: {native * 1e6:.1f} us against "
                f"{numpy * 1e6:.1f} us"
            )
        reasons = list(newest.left_out.values())
        parts += [f"left to NumPy: {reason}" for reason in reasons[:_MOST_REASONS]]
        if len(reasons) > _MOST_REASONS:
            parts.append(f"and {len(reasons) - _MOST_REASONS} more kinds of ops")
        return parts

    def _plans(self) -> list[str]:
        """What is going to happen, as long as nothing is compiled."""
        compilation = self._compilation
        if compilation is not None and self.run == self._waiting and compilation.is_lost:
            self._begin_anew()
        if self._began_as in ("numpy", "verify"):
            return [tier_words.off_by_setting(self._began_as)]
        if self.run == self._watched and flags.deterministic:
            return [
                f"waiting: op determinism is on, so it is compiled at call {_DETERMINISTIC_CALL}"
            ]
        if self.run == self._watched:
            return [self._waits()]
        if self.run == self._waiting and compilation is not None:
            if not compilation.began:
                return ["compiling: waits for other functions that are compiled"]
            since = time.perf_counter() - compilation.began
            return [f"compiling since {since:.2f} s, about {compilation.left:.2f} s are left"]
        return []

    def _waits(self) -> str:
        cost = Compilation(self._estimate).expected
        spent = f"waiting: NumPy has spent {self._spent:.3f} s"
        share = self._share if self._calls else _BEGIN
        if self._uses_all_processors:
            spent += f", {self._spent - self._rent:.3f} s of them in large products"
        begins = cost * share * (self._spent / self._rent if self._spent else 1.0)
        leaves = (
            " (jit_compile=False leaves it to Weft, as None does)" if self._jit is False else ""
        )
        return f"{spent}, compiling takes about {cost:.2f} s and begins at {begins:.2f} s{leaves}"

    def wait(self) -> None:
        """Until what was begun in the background is finished."""
        worker.wait()


def _reason_off() -> str | None:
    """Why there is no machine code in this process; asked when it is first needed."""
    with forking.lock:
        from weft._src.execution.native.machine import support

        return support.reason_off()


def _is_decided(native: list[float], numpy: list[float]) -> bool:
    """Whether enough calls were timed on both tiers."""
    number = min(len(native), len(numpy))
    if number < _TRIALS:
        return False
    return number >= _MOST_TRIALS or sum(native) + sum(numpy) > _TRIAL_SECONDS


class _Kind:
    """The type of an array, without the array: jobs must not keep data alive."""

    __slots__ = ("dtype", "shape")

    def __init__(self, value: Any) -> None:
        self.dtype, self.shape = value.dtype, value.shape


def _descriptions(values: Sequence[Any]) -> list[Any]:
    return [
        _Kind(v) if hasattr(v, "dtype") and not isinstance(v, VariableCell) else v for v in values
    ]
