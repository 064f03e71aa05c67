"""`tf.Module`: an object that finds the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from weft._src import nest
from weft._src.core.display import html_of
from weft._src.graph.names import name_scope
from weft._src.state.tracking import AutoTrackable
from weft._src.state.variable import Variable

Path = tuple[Any, ...]
_M = TypeVar("_M", bound="Module")
_P = ParamSpec("_P")
_R = TypeVar("_R")

# Where a new word begins in a class name: an upper-case letter after a small one or a digit, or
# the last of several upper-case letters if a small one follows.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """`MyLSTMCell` as `my_lstm_cell`."""
    return _WORD.sub("_", name).lower()


class Module(AutoTrackable):
    """Base of objects that own variables and other modules, as attributes or in nests of them.

    >>> class Dense(tf.Module):
    ...     def __init__(self, inputs, outputs, name=None):
    ...         super().__init__(name)
    ...         self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
    ...         self.b = tf.Variable(tf.zeros([outputs]), name="b")
    ...
    ...     def __call__(self, x):
    ...         return x @ self.w + self.b
    >>> layer = Dense(2, 1)
    >>> layer.name, [v.name for v in layer.variables]
    ('dense', ['b:0', 'w:0'])
    """

    # Attributes in which subclasses want nothing to be found. The name is TensorFlow's, since
    # modules of others set it.
    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()

    _repr_html_ = html_of

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = snake_case(type(self).__name__)
        elif not isinstance(name, str):
            raise TypeError(f"The name of a tf.Module must be a string, got {name!r}.")
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is no name for a tf.Module: it must be a Python identifier, like a "
                "class name."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name given to it, or that of its class in snake_case."""
        return self._made("_name")

    @property
    def name_scope(self) -> name_scope:
        """A `tf.name_scope` of the module's name, inside of the one it was created in."""
        return name_scope(self._made("_scope_name"))

    def _made(self, attribute: str) -> Any:
        """What `__init__` made; it does not run by itself if a class has one of its own."""
        if attribute not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__} has no name: its __init__ must call super().__init__()."
            )
        return self.__dict__[attribute]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and its submodules, each once, by attribute name."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable ones among the variables."""
        return tuple(self._flatten(predicate=lambda x: _is_variable(x) and x.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The other ones among the variables."""
        return tuple(self._flatten(predicate=lambda x: _is_variable(x) and not x.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules found in this one, and in these, each once; without the module itself."""
        return tuple(self._flatten(predicate=lambda x: isinstance(x, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The leaves of all attributes for which the predicate holds, in the order of their names.

        What a module holds itself comes before what its submodules hold. Leaves come once; with
        `with_path`, as (path, leaf) once for each path that leads to them.
        """
        walk = _Walk(recursive, predicate, attribute_traversal_key, expand_composites, with_path)
        for path, leaf in walk.leaves(self, (), (self,)):
            yield (path, leaf) if with_path else leaf

    @classmethod
    def with_name_scope(
        cls, method: Callable[Concatenate[_M, _P], _R]
    ) -> Callable[Concatenate[_M, _P], _R]:
        """Decorates a method of a module to run in the module's name scope.

        Args:
          method: a method of a `tf.Module`.

        Returns:
          A method that does the same.

        >>> class Scale(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def build(self):
        ...         self.factor = tf.Variable(2.0, name="factor")
        >>> scale = Scale()
        >>> scale.build()
        >>> scale.factor.name
        'scale/factor:0'
        """

        @functools.wraps(method)
        def in_scope(self: _M, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope


def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


class _Walk:
    """One walk through a module and its submodules."""

    def __init__(
        self,
        recursive: bool,
        predicate: Callable[[Any], bool] | None,
        order: Callable[[str], Any] | None,
        expand_composites: bool,
        every_path: bool,
    ) -> None:
        self._recursive = recursive
        self._predicate = predicate
        self._order = order
        self._expand_composites = expand_composites
        self._every_path = every_path
        self._seen: dict[int, Any] = {}  # with the objects, so that their ids stay theirs

    def leaves(
        self, module: Module, path: Path, above: tuple[Module, ...]
    ) -> Iterator[tuple[Path, Any]]:
        if not self._every_path:
            self._seen[id(module)] = module
        submodules: list[tuple[Path, Module]] = []
        wanted = vars(module).keys() - module._TF_MODULE_IGNORED_PROPERTIES
        for key in sorted(wanted, key=self._order):
            for inner, leaf in self._attribute(module, key):
                if not self._every_path:
                    if id(leaf) in self._seen:
                        continue
                    self._seen[id(leaf)] = leaf
                here = (*path, key, *inner)
                if self._predicate is None or self._predicate(leaf):
                    yield here, leaf
                if self._recursive and isinstance(leaf, Module):
                    submodules.append((here, leaf))
        for here, submodule in submodules:
            if not any(submodule is other for other in above):
                yield from self.leaves(submodule, here, (*above, submodule))

    def _attribute(self, module: Module, key: str) -> list[tuple[Path, Any]]:
        try:
            return nest.flatten_with_paths(vars(module)[key], self._expand_composites)
        except (TypeError, ValueError, RecursionError) as e:
            reason = "it contains itself" if isinstance(e, RecursionError) else e
            raise ValueError(
                f"The attribute {key!r} of {type(module).__name__} cannot be searched for "
                f"variables: {reason}"
            ) from e
