"""`tf.experimental.ExtensionType`: classes of users that are made of tensors and plain values."""

from __future__ import annotations

import sys
from typing import Any

from weft._src import nest
from weft._src.core.api_targets import dispatched
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import Tensor
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.control.branch import cond
from weft._src.ops.elementwise import arithmetic, comparison, division, unary
from weft._src.ops.extension.sealing import (
    NO_DEFAULT,
    Field,
    Fields,
    Scope,
    Sealed,
    Sealing,
    constructor,
    set_signature,
)
from weft._src.ops.extension.spec import ExtensionTypeSpec, spec_of_part
from weft._src.ops.linalg import products
from weft._src.ops.reduce import logic


class ExtensionMeta(Sealing):
    """Makes the fields, the constructor and the `Spec` of a class out of its annotations."""

    def __init__(self, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        if body.get("_abstract"):
            return
        frame = sys._getframe(1)
        fields = _fields_of(self, body, Scope(frame.f_globals, dict(frame.f_locals)))
        self._extension_fields = Fields(self, fields)
        for field in fields:  # a default is an argument of the constructor, not an attribute
            if field in body:
                delattr(self, field)
        if "__init__" not in body and not _inherits_constructor(self):
            self.__init__ = constructor(self._extension_fields, self, defaults=True)  # type: ignore[misc]
        set_signature(self)
        self.Spec = _spec_class(self, bases, body.get("Spec"))
        if self._extension_fields.are_known():
            _check_defaults(self)


def _inherits_constructor(cls: Any) -> bool:
    """Whether a base class has a constructor that the user wrote."""
    found = next(base for base in cls.__mro__[1:] if "__init__" in vars(base))
    is_base = vars(found).get("_abstract", False)
    return not is_base and not hasattr(vars(found)["__init__"], "is_generated")


def _fields_of(cls: Any, body: dict[str, Any], scope: Scope) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        known = base.__dict__.get("_extension_fields")
        if isinstance(known, Fields):
            fields.update(known.fields)
    annotations = body.get("__annotations__", {})
    for name, annotation in annotations.items():
        taken = hasattr(ExtensionType, name) or hasattr(ExtensionTypeSpec, name)
        if taken or name.startswith("_tf_extension_type_"):
            raise ValueError(f"{cls.__qualname__}: a field cannot be called {name}.")
        fields[name] = Field(name, annotation, body.get(name, NO_DEFAULT), scope)
    for name, value in body.items():
        is_data = not callable(value) and not hasattr(value, "__get__")
        if is_data and name not in annotations and name != "Spec" and not name.startswith("__"):
            raise ValueError(
                f"{cls.__qualname__}.{name} has a value and no type. Annotate it: "
                f"`{name}: {type(value).__name__} = {value!r}`."
            )
    return fields


def _spec_class(cls: Any, bases: tuple[type, ...], written: Any) -> Any:
    """The class of specs; what the user wrote as `class Spec:` comes before what is generated."""
    parents = tuple([base.Spec for base in bases if isinstance(base, ExtensionMeta)])
    if written is not None:
        if not isinstance(written, type):
            raise ValueError(
                f"{cls.__qualname__}.Spec must be a class inside of the class, got {written!r}."
            )
        if issubclass(written, ExtensionTypeSpec):
            raise ValueError(
                f"{cls.__qualname__}.Spec must not be derived from tf.experimental."
                "ExtensionTypeSpec, which it becomes by itself. Write `class Spec:`."
            )
        parents = (written, *parents)
    body = {
        "__module__": cls.__module__,
        "__qualname__": f"{cls.__qualname__}.Spec",
        "__doc__": f"The type of a {cls.__qualname__}.",
        "value_type": cls,
        "_extension_fields": cls._extension_fields,
    }
    spec: Any = Sealing("Spec", parents, body)
    if written is None or "__init__" not in vars(written):
        spec.__init__ = constructor(cls._extension_fields, spec, defaults=False)
    set_signature(spec)
    return spec


def _check_defaults(cls: Any) -> None:
    kinds = cls._extension_fields.kinds
    for name, field in cls._extension_fields.fields.items():
        if field.default is not NO_DEFAULT:
            kinds[name].value(field.default, f"The default of {cls.__qualname__}.{name}")


class ExtensionType(Sealed, metaclass=ExtensionMeta):
    """The base of classes that are made of tensors and plain values, and used like a tensor.

    Fields are annotated: with `tf.Tensor`, other extension types, ragged and sparse tensors,
    `tf.TensorShape`, `tf.DType`, numbers, strings, None, and with `Tuple`, `Mapping`, `Union` or
    `Optional` of these. The constructor takes them in that order, converts them to what they are
    annotated with, and calls `__validate__`, if there is such a method. Values do not change.

    They can be arguments and results of functions, loop variables, results of branches, elements
    of datasets, and parts of other structures. A function is traced anew for other values of the
    fields that are no tensors. `Spec` is the class of their types.

    >>> class MaskedTensor(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    ...
    ...     def with_default(self, default):
    ...         return tf.where(self.mask, self.values, default)
    >>> masked = MaskedTensor([1, 2, 3], [True, False, True])
    >>> tf.function(lambda x: x.with_default(-1))(masked).numpy()
    array([ 1, -1,  3], dtype=int32)
    """

    _abstract = True
    _extension_fields = Fields(Sealed, {})
    Spec: Any = ExtensionTypeSpec

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"{type(self).__name__} is a base class: derive a class with annotated fields from it."
        )

    def _finish(self) -> None:
        self._convert_fields(self._extension_fields.converters[0])
        self.__validate__()

    def __validate__(self) -> None:
        """Called when a value was made; subclasses raise an error if it is not as it should be."""

    @property
    def _type_spec(self) -> ExtensionTypeSpec:
        held = self.__dict__
        found: Any = held.get("_weft_spec")
        if found is None:
            found = self.Spec._made_of(
                {n: spec_of_part(held[n]) for n in self._extension_fields.names}
            )
            held["_weft_spec"] = found
        return found

    def __reduce__(self) -> Any:
        return _made_again, (type(self), self._held())

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self):
            return False
        if not self._type_spec.is_compatible_with(other._type_spec):
            return False
        return _all_equal(_tensors(self), _tensors(other))

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return comparison.logical_not(equal) if isinstance(equal, Tensor) else not equal


def _made_again(cls: Any, held: dict[str, Any]) -> Any:
    return cls._made_of(held)


def _tensors(value: ExtensionType) -> list[Tensor]:
    return nest.flatten(value, expand_composites=True)


def _all_equal(xs: list[Tensor], ys: list[Tensor]) -> Tensor:
    out = convert_to_tensor(True)
    for x, y in zip(xs, ys, strict=True):
        out = comparison.logical_and(out, _equal(x, y))
    return out


def _equal(x: Tensor, y: Tensor) -> Tensor:
    """Whether two tensors have one shape and equal elements."""
    if x.shape.is_fully_defined() and y.shape.is_fully_defined():
        if x.shape != y.shape:
            return convert_to_tensor(False)
        return logic.reduce_all(comparison.equal(x, y))
    same_rank = comparison.equal(shapes.rank(x), shapes.rank(y))

    def sizes_agree() -> Tensor:
        return logic.reduce_all(comparison.equal(shapes.shape(x), shapes.shape(y)))

    def no() -> Tensor:
        return convert_to_tensor(False)

    def elements_agree() -> Tensor:
        return logic.reduce_all(comparison.equal(x, y))

    same_shape = cond(same_rank, sizes_agree, no)
    return cond(same_shape, elements_agree, no)


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of an extension type by their names.

    Args:
      value: a value of an extension type.

    Returns:
      A dict, in the order of the fields; what the fields hold is not copied.

    Raises:
      TypeError: if it is something else.

    >>> class Point(tf.experimental.ExtensionType):
    ...     x: tf.Tensor
    ...     label: str = ""
    >>> tf.experimental.extension_type.as_dict(Point(1, "here"))
    {'x': <tf.Tensor: shape=(), dtype=int32, numpy=1>, 'label': 'here'}
    """
    if not isinstance(value, ExtensionType):
        raise TypeError(
            f"as_dict takes a tf.experimental.ExtensionType, got {value!r} of type "
            f"{type(value).__name__}."
        )
    return value._held()


# --- operators: what was registered for the public functions they stand for -----------------------

_OPERATORS = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.truediv,
    "floordiv": division.floordiv,
    "mod": division.floormod,
    "pow": arithmetic.pow,
    "matmul": products.matmul,
    "and": comparison.logical_and,
    "or": comparison.logical_or,
    "xor": comparison.logical_xor,
}
_COMPARISONS = {
    "lt": comparison.less,
    "le": comparison.less_equal,
    "gt": comparison.greater,
    "ge": comparison.greater_equal,
}
_UNARY = {"neg": arithmetic.negative, "abs": unary.abs, "invert": comparison.logical_not}


def _install(name: str, api: Any) -> None:
    def forward(self: Any, other: Any) -> Any:
        return dispatched(api, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return dispatched(api, other, self)

    setattr(ExtensionType, f"__{name}__", forward)
    if name in _OPERATORS:
        setattr(ExtensionType, f"__r{name}__", reflected)


def _install_unary(name: str, api: Any) -> None:
    def apply(self: Any) -> Any:
        out = dispatched(api, self)
        if out is NotImplemented:
            raise TypeError(
                f"bad operand type for {name}: {type(self).__qualname__}. Say what it means with "
                f"tf.experimental.dispatch_for_api(tf.{api.__name__})."
            )
        return out

    setattr(ExtensionType, f"__{name}__", apply)


for _name, _api in {**_OPERATORS, **_COMPARISONS}.items():
    _install(_name, _api)
for _name, _api in _UNARY.items():
    _install_unary(_name, _api)
