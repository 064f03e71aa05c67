"""What graphs of TensorFlow 1 could do besides: scopes, collections, elements by name, an end."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from weft._src.graph.names import get_current_name_scope, name_scope
from weft._src.graph.overrides import GradientOverrides
from weft._src.ops.control.ordering import control_dependencies

if TYPE_CHECKING:
    from weft._src.graph.ir import Node


class OlderMethods(GradientOverrides):
    """Methods of `tf.Graph` for programs that build graphs by hand."""

    seed: int | None = None  # of random ops in the graph; accepted, streams have their own
    _ended = False
    device_scope: Any  # `tf.device`, set by the layer that knows devices

    if TYPE_CHECKING:
        name: str
        nodes: list[Node]

        def get_operation_by_name(self, name: str) -> Any: ...

        def get_tensor_by_name(self, name: str) -> Any: ...

    # --- scopes ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Names of operations that are added begin with a scope, as with `tf.name_scope`.

        Args:
          name: the name of the scope; None or "" leaves all scopes.

        Returns:
          A context manager that gives the scope with a slash at its end.
        """
        with name_scope(name) as scope:
            yield scope

    def get_name_scope(self) -> str:
        """The scope that is open.

        Returns:
          A string without a slash at its end.
        """
        return get_current_name_scope()

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """A context for operations on a device, as `tf.device`.

        Args:
          device_name_or_function: the name of a device.

        Returns:
          A context manager.
        """
        with self.device_scope(device_name_or_function):
            yield

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """A context for what must happen after others; everything does, in program order.

        Args:
          control_inputs: tensors and operations.

        Returns:
          A context manager.
        """
        with control_dependencies(control_inputs):
            yield

    # --- elements ----------------------------------------------------------------------------

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The operation or tensor that a name stands for.

        Args:
          obj: a name ("add" is an operation, "add:0" a tensor), or the element itself.
          allow_tensor: whether it may be a tensor.
          allow_operation: whether it may be an operation.

        Returns:
          A `tf.Operation` or tensor of the graph.

        Raises:
          KeyError: if there is no such element.
          ValueError: if it is of a kind that is not allowed, or of another graph.
          TypeError: if `obj` is neither a name nor an element.
        """
        is_tensor = ":" in obj if isinstance(obj, str) else hasattr(obj, "node")
        if not (allow_tensor if is_tensor else allow_operation):
            kind = "a tensor" if is_tensor else "an operation"
            raise ValueError(f"{obj!r} is {kind}, which is not wanted here.")
        if isinstance(obj, str):
            return self.get_tensor_by_name(obj) if is_tensor else self.get_operation_by_name(obj)
        owner = getattr(getattr(obj, "node", obj), "graph", None)
        if owner is None:
            raise TypeError(f"An operation, tensor or name is expected, got {obj!r}.")
        if owner is not self:
            raise ValueError(f"{obj!r} is not an element of the graph {self.name!r}.")
        return obj

    @property
    def operations(self) -> list[Node]:
        """All operations in program order."""
        return list(self.nodes)

    def num_operations(self) -> int:
        """The number of operations.

        Returns:
          An int.
        """
        return len(self.nodes)

    @property
    def version(self) -> int:
        """A number that grows as operations are added."""
        return len(self.nodes)

    # --- collections -------------------------------------------------------------------------

    @property
    def _kept(self) -> dict[Any, list[Any]]:
        return vars(self).setdefault("_collections", {})

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Keeps a value under a name.

        Args:
          name: the key of the collection.
          value: anything.
        """
        self._kept.setdefault(name, []).append(value)

    def add_to_collections(self, names: Iterable[Any], value: Any) -> None:
        """Keeps a value under several names.

        Args:
          names: the keys of the collections, or one string.
          value: anything.
        """
        for name in dict.fromkeys([names] if isinstance(names, str) else names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """What is kept under a name.

        Args:
          name: the key of the collection.
          scope: a regular expression with which the names of what is given begin; None means all.

        Returns:
          A new list, empty if there is no such collection.
        """
        found = list(self._kept.get(name, ()))
        if scope is None:
            return found
        return [x for x in found if hasattr(x, "name") and re.match(scope, x.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself that is kept under a name.

        Args:
          name: the key of the collection.

        Returns:
          A list; what is added to it is kept.
        """
        return self._kept.setdefault(name, [])

    def get_all_collection_keys(self) -> list[Any]:
        """The keys of collections.

        Returns:
          A list of those that are strings.
        """
        return [key for key in self._kept if isinstance(key, str)]

    @property
    def collections(self) -> list[Any]:
        """The keys of all collections."""
        return list(self._kept)

    def clear_collection(self, name: Any) -> None:
        """Forgets what is kept under a name.

        Args:
          name: the key of the collection.
        """
        self._kept.pop(name, None)

    # --- the end -----------------------------------------------------------------------------

    @property
    def finalized(self) -> bool:
        """Whether nothing can be added any more."""
        return self._ended

    def finalize(self) -> None:
        """Nothing can be added from now on."""
        self._ended = True
        vars(self).update(add_op=self._refused, add_input=self._refused)

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(f"The graph {self.name!r} is finalized: nothing can be added to it.")
