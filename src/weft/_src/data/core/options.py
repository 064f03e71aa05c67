"""`tf.data.Options`: what can be said about how a whole pipeline runs."""

from __future__ import annotations

import enum
from typing import Any, ClassVar


class AutoShardPolicy(enum.IntEnum):
    """How files or elements are spread over workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """How buffer sizes and thread numbers are found; accepted, Weft decides by measuring."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What to do about state that cannot be saved with a position."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _OptionGroup:
    """Named options that are None until they are set; a misspelt one is refused."""

    _names: tuple[str, ...] = ()

    def __init__(self) -> None:
        for name in self._names:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            known = ", ".join(sorted(self._names))
            raise AttributeError(
                f"{type(self).__name__} has no option {name!r}; there are {known}."
            )
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no option {name!r}.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def _merged(self, other: Any) -> Any:
        made = type(self)()
        for name in self._names:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, _OptionGroup):
                value = mine._merged(theirs)
            else:
                value = mine if theirs is None else theirs
            object.__setattr__(made, name, value)
        return made

    def __repr__(self) -> str:
        shown = [f"{n}={getattr(self, n)!r}" for n in self._names if getattr(self, n) is not None]
        return f"{type(self).__name__}({', '.join(shown)})"


class AutotuneOptions(_OptionGroup):
    """`options.autotune`."""

    _names = (
        "autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism",
        "min_parallelism", "ram_budget",
    )  # fmt: skip


class DistributeOptions(_OptionGroup):
    """`options.experimental_distribute`."""

    _names = ("auto_shard_policy", "num_devices")


class OptimizationOptions(_OptionGroup):
    """`options.experimental_optimization`; accepted, Weft's own rewrites keep results the same."""

    _names = (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
        "noop_elimination", "parallel_batch", "seq_interleave_prefetch",
        "shuffle_and_repeat_fusion",
    )  # fmt: skip


class ServiceOptions(_OptionGroup):
    """`options.experimental_service`."""

    _names = ("pinned",)


class ThreadingOptions(_OptionGroup):
    """`options.threading`: `private_threadpool_size` bounds the threads of each parallel stage."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class Options(_OptionGroup):
    """Options of a pipeline, attached with `Dataset.with_options`.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    _names = (
        "autotune", "dataset_name", "deterministic", "experimental_distribute",
        "experimental_external_state_policy", "experimental_optimization", "experimental_service",
        "experimental_slack", "experimental_symbolic_checkpoint", "experimental_warm_start",
        "framework_type", "threading",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.autotune: AutotuneOptions = AutotuneOptions()
        self.experimental_distribute: DistributeOptions = DistributeOptions()
        self.experimental_optimization: OptimizationOptions = OptimizationOptions()
        self.experimental_service: ServiceOptions = ServiceOptions()
        self.threading: ThreadingOptions = ThreadingOptions()

    # Older names of two of them.
    _aliases: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._aliases.get(name, name), value)

    def __getattr__(self, name: str) -> Any:
        if name in Options._aliases:
            return getattr(self, Options._aliases[name])
        return super().__getattr__(name)

    def merge(self, options: Options) -> Options:
        """These options with those that are set in the others in their place.

        Args:
          options: a `tf.data.Options`. What is None in it is not set.

        Returns:
          New `tf.data.Options`; neither of the two is changed.

        >>> a, b = tf.data.Options(), tf.data.Options()
        >>> b.deterministic = False
        >>> a.merge(b).deterministic
        False
        """
        made: Options = self._merged(options)
        return made
