"""`tf.experimental.dispatch_for_*`: what public functions mean for types of users."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_type_hints

from weft._src.core.api_targets import matcher, remove_everywhere, targets_of
from weft._src.experimental import elementwise_apis

F = TypeVar("F", bound=Callable[..., Any])

# The handlers of elementwise functions: (table of functions, types of the operands) -> handler.
_handlers: dict[tuple[str, tuple[Any, ...]], Callable[..., Any]] = {}


def dispatch_for_api(api: Callable[..., Any], *signatures: Mapping[Any, Any]) -> Callable[[F], F]:
    """A decorator: the function is called instead of a public one, for values of some types.

    Args:
      api: a public function, such as `tf.concat`.
      *signatures: dicts from names (or numbers) of its parameters to what arguments must be: a
        class, a union, or a list of them. If none is given, the annotations of the decorated
        function are taken. One of the arguments that match must be a composite value, such as a
        `tf.experimental.ExtensionType`: calls with tensors stay what they are.

    Returns:
      The decorator. It takes a function with the same parameters as `api`, of which `name` may be
      left out, and returns it as it is.

    Raises:
      ValueError: if `api` is no public function, a signature names a parameter it does not have or
        an annotation that is not understood, or the parameters differ. A call whose arguments fit
        two functions raises it, too.
      TypeError: if a signature is no dict, or what is decorated is no function.

    >>> class Money(tf.experimental.ExtensionType):
    ...     amount: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.reduce_sum, {"input_tensor": Money})
    ... def money_sum(input_tensor, axis=None, keepdims=False):
    ...     return Money(tf.reduce_sum(input_tensor.amount, axis, keepdims))
    >>> tf.reduce_sum(Money([1, 2, 3])).amount.numpy()
    np.int32(6)
    >>> tf.experimental.unregister_dispatch_for(money_sum)
    """
    targets = targets_of(api)
    for signature in signatures:
        if not isinstance(signature, Mapping):
            raise TypeError(
                "dispatch_for_api: a signature must be a dict from parameters to types, got "
                f"{signature!r}."
            )

    def decorator(target: F) -> F:
        _check_callable("dispatch_for_api", target)
        wanted = signatures or (_annotations(target),)
        targets.add(target, wanted)
        return target

    return decorator


def _annotations(target: Callable[..., Any]) -> Mapping[str, Any]:
    found = {
        name: kind
        for name, kind in get_type_hints(target).items()
        if name != "return" and name in inspect.signature(target).parameters
    }
    if not found:
        raise ValueError(
            "dispatch_for_api: pass a signature such as {'x': MyType}, or annotate the parameters "
            "of the function."
        )
    return found


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[F], F]:
    """A decorator: the function says what all elementwise functions of one value do with a type.

    Args:
      x_type: a class, or a union of classes.

    Returns:
      The decorator. It takes a function `handler(api, x)`, in which `api` is a function of the
      value alone: other arguments of the call, such as the dtype of `tf.cast`, are in it.

    Raises:
      ValueError: if there is such a function for the type already.
      TypeError: if what is decorated is no function.

    >>> class Money(tf.experimental.ExtensionType):
    ...     amount: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Money)
    ... def each_amount(api, x):
    ...     return Money(api(x.amount))
    >>> tf.cast(tf.abs(Money([-1, 2])), tf.float32).amount.numpy()
    array([1., 2.], dtype=float32)
    >>> tf.experimental.unregister_dispatch_for(each_amount)
    """
    return _elementwise("UNARY", (x_type,), "dispatch_for_unary_elementwise_apis")


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[F], F]:
    """A decorator: the function says what all elementwise functions of two values do with types.

    Operators of `tf.experimental.ExtensionType` (and of tensors with such a value on the right)
    come here, too.

    Args:
      x_type: a class, or a union of classes: what the first operand must be.
      y_type: the same for the second one. One of the two must be a composite value in a call.

    Returns:
      The decorator. It takes a function `handler(api, x, y)`, in which `api` is a function of two
      values.

    Raises:
      ValueError: if there is such a function for these types already.
      TypeError: if what is decorated is no function.

    >>> class Money(tf.experimental.ExtensionType):
    ...     amount: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_apis(Money, Money)
    ... def both_amounts(api, x, y):
    ...     return Money(api(x.amount, y.amount))
    >>> (tf.maximum(Money([1, 5]), Money([3, 4])) + Money([1, 1])).amount.numpy()
    array([4, 6], dtype=int32)
    >>> tf.experimental.unregister_dispatch_for(both_amounts)
    """
    return _elementwise("BINARY", (x_type, y_type), "dispatch_for_binary_elementwise_apis")


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[F], F]:
    """A decorator: the function says what assertions that compare two values do with types.

    These are `tf.debugging.assert_equal`, `assert_less`, `assert_near` and so on.

    Args:
      x_type: a class, or a union of classes: what the first operand must be.
      y_type: the same for the second one. One of the two must be a composite value in a call.

    Returns:
      The decorator. It takes a function `handler(assertion, x, y)`.

    Raises:
      ValueError: if there is such a function for these types already.
      TypeError: if what is decorated is no function.

    >>> class Money(tf.experimental.ExtensionType):
    ...     amount: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Money, Money)
    ... def compare_amounts(assertion, x, y):
    ...     return assertion(x.amount, y.amount)
    >>> tf.debugging.assert_less(Money([1, 5]), Money([3, 6]))
    >>> tf.experimental.unregister_dispatch_for(compare_amounts)
    """
    name = "dispatch_for_binary_elementwise_assert_apis"
    return _elementwise("BINARY_ASSERTIONS", (x_type, y_type), name)


def _elementwise(table: str, kinds: tuple[Any, ...], name: str) -> Callable[[F], F]:
    matchers = [matcher(kind) for kind in kinds]

    def decorator(handler: F) -> F:
        _check_callable(name, handler)
        if (table, kinds) in _handlers:
            raise ValueError(
                f"{name}: {_handlers[table, kinds]!r} is registered for "
                f"{', '.join([getattr(k, '__name__', repr(k)) for k in kinds])} already. Remove it "
                "with tf.experimental.unregister_dispatch_for first."
            )
        for api in elementwise_apis.functions(getattr(elementwise_apis, table)):
            targets_of(api).add_elementwise(handler, matchers)
        _handlers[table, kinds] = handler
        return handler

    return decorator


def _check_callable(name: str, target: Any) -> None:
    if not callable(target):
        raise TypeError(f"{name} decorates a function, got {target!r}.")


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Public functions forget a function that was registered by a `dispatch_for_*` decorator.

    Args:
      dispatch_target: the function that was decorated.

    Raises:
      ValueError: if it is not registered.

    >>> class Money(tf.experimental.ExtensionType):
    ...     amount: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.rank, {"input": Money})
    ... def money_rank(input):
    ...     return tf.rank(input.amount)
    >>> tf.experimental.unregister_dispatch_for(money_rank)
    """
    for key in [key for key, handler in _handlers.items() if handler is dispatch_target]:
        del _handlers[key]
    if not remove_everywhere(dispatch_target):
        raise ValueError(
            f"{dispatch_target!r} is not registered by any of the dispatch_for_* decorators."
        )
