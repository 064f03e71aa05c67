"""Settings of TensorFlow that have one value here: asking is answered, another value refused."""

from __future__ import annotations

from typing import Any

from weft._src.errors import UnsupportedError


class _Settings:
    """What has been set, for those that may be set without an effect."""

    def __init__(self) -> None:
        self.device_policy = "silent"
        self.log_device_placement = False
        self.tensor_float_32 = True
        self.optimizer: dict[str, Any] = {}


_settings = _Settings()
_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


def get_device_policy() -> str:
    """What happens to tensors of another device: nothing, as there is one device.

    Returns:
      What `set_device_policy` has set; "silent" at first.

    >>> tf.config.experimental.get_device_policy()
    'silent'
    """
    return _settings.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Says what happens to tensors of another device: remembered, without effect.

    Args:
      device_policy: "explicit", "warn", "silent", "silent_for_int32", or None for "silent".

    Raises:
      ValueError: if it is something else.

    >>> tf.config.experimental.set_device_policy("silent")
    """
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(
            f"set_device_policy: device_policy must be one of {_POLICIES}, got {device_policy!r}."
        )
    _settings.device_policy = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """Whether ops are done when they return: yes.

    Returns:
      True.

    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return True


def set_synchronous_execution(enable: bool | None) -> None:
    """Says that ops are done when they return, which is so anyway.

    Args:
      enable: True, or None.

    Raises:
      UnsupportedError: if it is False.

    >>> tf.config.experimental.set_synchronous_execution(True)
    """
    if enable is not None and not enable:
        raise UnsupportedError(
            "set_synchronous_execution: ops are always done when they return. Calls of functions "
            "in threads of your own run side by side."
        )


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether GPUs may round products of float32: remembered, without effect on the CPU.

    Args:
      enabled: what `tensor_float_32_execution_enabled` is to say.

    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    _settings.tensor_float_32 = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """What `enable_tensor_float_32_execution` has set; products on the CPU are exact either way.

    Returns:
      A bool; True at first.

    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return _settings.tensor_float_32


def get_log_device_placement() -> bool:
    """Whether it is logged where ops run.

    Returns:
      What `set_log_device_placement` has set; False at first.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return _settings.log_device_placement


def set_log_device_placement(enabled: bool) -> None:
    """Says whether it is logged where ops run: remembered, as all run on the CPU.

    Args:
      enabled: what `get_log_device_placement` is to say.

    >>> tf.debugging.set_log_device_placement(False)
    """
    _settings.log_device_placement = bool(enabled)


_PASSES = frozenset(
    [
        "arithmetic_optimization",
        "auto_mixed_precision",
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_parallel",
        "constant_folding",
        "debug_stripper",
        "dependency_optimization",
        "disable_meta_optimizer",
        "disable_model_pruning",
        "function_optimization",
        "implementation_selector",
        "layout_optimizer",
        "loop_optimization",
        "min_graph_nodes",
        "pin_to_host_optimization",
        "remapping",
        "scoped_allocator_optimization",
        "shape_optimization",
        "use_plugin_optimizers",
    ]
)


def set_experimental_options(options: dict[str, Any]) -> None:
    """Remembers options of TensorFlow's optimizer; Weft's passes are always on.

    Args:
      options: a dict from names of TensorFlow's passes to truth values.

    Raises:
      TypeError: if it is no dict.
      ValueError: if there is no such option.

    >>> tf.config.optimizer.set_experimental_options({})
    """
    if not isinstance(options, dict):
        raise TypeError(f"set_experimental_options: options must be a dict, got {options!r}.")
    unknown = sorted(str(name) for name in options if name not in _PASSES)
    if unknown:
        raise ValueError(f"set_experimental_options: TensorFlow has no options {unknown}.")
    _settings.optimizer.update(options)


def get_experimental_options() -> dict[str, Any]:
    """What `set_experimental_options` has set.

    Returns:
      A dict.

    >>> tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"]
    False
    """
    both = {"disable_meta_optimizer": False, "disable_model_pruning": False}
    return {**both, **_settings.optimizer}


def enable_dump_debug_info(
    dump_root: Any,
    tensor_debug_mode: str = "NO_TENSOR",
    circular_buffer_size: int = 1000,
    op_regex: Any = None,
    tensor_dtypes: Any = None,
) -> Any:
    """Refuses: there are no dumps for TensorFlow's debugger.

    Args:
      dump_root: accepted for compatibility.
      tensor_debug_mode: accepted for compatibility.
      circular_buffer_size: accepted for compatibility.
      op_regex: accepted for compatibility.
      tensor_dtypes: accepted for compatibility.

    Returns:
      Nothing: it always raises.

    Raises:
      UnsupportedError: always; it says what there is instead.

    >>> tf.debugging.experimental.enable_dump_debug_info("dump")
    Traceback (most recent call last):
    ...
    weft.errors.UnsupportedError: enable_dump_debug_info: ...
    """
    raise UnsupportedError(
        "enable_dump_debug_info: Weft writes no dumps for TensorFlow's debugger. "
        "tf.debugging.enable_check_numerics() finds NaN and infinity, "
        "tf.config.run_functions_eagerly(True) lets a debugger step through functions, and "
        "tf.summary.trace_on() writes their graphs."
    )


def disable_dump_debug_info() -> None:
    """Ends what `enable_dump_debug_info` began: nothing.

    >>> tf.debugging.experimental.disable_dump_debug_info()
    """
