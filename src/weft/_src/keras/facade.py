"""The module that `import tensorflow` gives: Weft's public names, and a few that are not public.

Libraries that were written for TensorFlow also read some names which are not part of its public
interface (`tensorflow.python...`, `tf.__internal__`). These are answered by `standins`, and only
here, so that Weft itself does not have them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import weft
from weft._src.keras.standins import (
    autograph_parts,
    composites,
    csr_matrices,
    data_structures,
    deprecation,
    dtensor,
    eager_context,
    framework_config,
    inspecting,
    internal,
    linear_operators,
    math_ops,
    nested,
    odds_and_ends,
    shapes,
    type_spec_registry,
    type_specs,
    variable_scopes,
    xla,
)

TENSORFLOW_VERSION = "2.21.0"  # whose interface Weft has: libraries compare it

# Which stand-in answers for which module below `tensorflow`.
_PRIVATE: dict[str, ModuleType] = {
    "__internal__": internal,
    "python.eager.context": eager_context,
    "python.framework.config": framework_config,
    "python.framework.tensor_util": shapes,
    "python.framework.type_spec_registry": type_spec_registry,
    "python.ops.math_ops": math_ops,
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": csr_matrices,
    "python.trackable.data_structures": data_structures,
    "compiler.tf2xla.python.xla": xla,
    "experimental.dtensor": dtensor,
    # Of TensorFlow Probability.
    **dict.fromkeys(
        [
            f"python.autograph.{path}"
            for path in (
                *("converters.break_statements", "converters.continue_statements"),
                *(
                    "converters.return_statements",
                    "core.converter",
                    "pyct.anno",
                    "pyct.inspect_utils",
                ),
                *("pyct.parser", "pyct.qual_names", "pyct.templates", "pyct.transformer"),
                *("pyct.common_transformers.anf", "pyct.static_analysis.activity", "pyct.naming"),
                "pyct.loader",
            )
        ],
        autograph_parts,
    ),
    "compat.v1": variable_scopes,
    "python.eager.monitoring": odds_and_ends,
    "python.framework.composite_tensor": composites,
    "python.framework.ops": shapes,
    "python.framework.tensor": shapes,
    "python.framework.tensor_conversion": shapes,
    "python.framework.tensor_shape": shapes,
    "python.framework.tensor_spec": type_specs,
    "python.framework.type_spec": type_specs,
    "python.ops.array_ops": odds_and_ends,
    "python.ops.control_flow_case": odds_and_ends,
    "python.ops.control_flow_util": odds_and_ends,
    "python.ops.linalg.linear_operator": linear_operators,
    "python.ops.linalg.linear_operator_addition": linear_operators,
    "python.ops.nn_ops": odds_and_ends,
    "python.ops.parallel_for.control_flow_ops": odds_and_ends,
    "python.ops.resource_variable_ops": type_specs,
    "python.platform.tf_logging": odds_and_ends,
    "python.saved_model.nested_structure_coder": type_specs,
    "python.types.trace": type_specs,
    "python.util.deprecation": deprecation,
    "python.util.nest": nested,
    "python.util.tf_export": odds_and_ends,
    "python.util.tf_inspect": inspecting,
    "python.util.variable_utils": odds_and_ends,
    "tools.docs.doc_controls": odds_and_ends,
}


class Facade(ModuleType):
    """A module that looks names up in others: its own stand-ins first, then what is behind it."""

    def __init__(self, name: str, behind: Any, own: Mapping[str, Any] | None = None) -> None:
        super().__init__(name, getattr(behind, "__doc__", None))
        self.__dict__.update(own or {})
        self.__dict__["_behind"] = behind
        self.__path__: list[str] = []  # Python then looks for modules below it
        self.__spec__ = ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Any:
        behind = self.__dict__["_behind"]
        if behind is None:
            raise AttributeError(
                f"Weft has no {self.__name__}.{name}: it is no public name of TensorFlow."
            )
        value = getattr(behind, name)
        if not name.startswith("__"):
            self.__dict__[name] = value  # found at once the next time
        return value

    def __dir__(self) -> list[str]:
        # TensorFlow Probability loads all of itself, layers of Keras 2 included, where it sees
        # `compat`, and what is used of it where it does not.
        return sorted({*vars(self), *dir(self.__dict__["_behind"])} - {"compat"})


def _tensorflow() -> Facade:
    top = Facade("tensorflow", weft, {"__version__": TENSORFLOW_VERSION})
    for path, standin in _PRIVATE.items():
        place: Any = top
        *folders, last = path.split(".")
        for folder in folders:
            if folder not in vars(place):
                inner = Facade(f"{place.__name__}.{folder}", _public(place, folder))
                setattr(place, folder, inner)
            place = vars(place)[folder]
        setattr(place, last, Facade(f"tensorflow.{path}", standin))
    return top


def _public(place: Any, name: str) -> Any:
    """The namespace of Weft behind a folder; None for folders that are private altogether."""
    return getattr(place.__dict__["_behind"], name, None)


@functools.cache
def tensorflow() -> Facade:
    """The one facade there is."""
    return _tensorflow()


def module_of(path: str) -> Any:
    """What the module `tensorflow.a.b` is; ModuleNotFoundError if there is nothing of that name."""
    found: Any = tensorflow()
    _, *parts = path.split(".")
    if parts[:2] == ["compat", "v2"]:  # the library itself
        parts = parts[2:]
    for part in parts:
        try:
            found = getattr(found, part)
        except AttributeError as e:
            raise ModuleNotFoundError(f"Weft has no module {path}: {e}", name=path) from e
    return found
