"""Raw ops of optimizers: they change variables, whole or some of their rows, by a gradient.

A rule is written once, for numbers: it takes the gradient, the values of the variables (the one
that is optimized comes first), and the settings; it gives the new values in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.raw_ops import state

New = tuple[Any, ...]


class _Rule(NamedTuple):
    """What a rule is called with: names of the variables, of the gradient, and of switches."""

    variables: tuple[str, ...]
    gradient: str
    switches: tuple[str, ...]
    compute: Callable[..., New]


def _rule(variables: str, gradient: str = "grad", switches: str = "") -> Callable[[Any], _Rule]:
    return lambda compute: _Rule(
        tuple(variables.split()), gradient, tuple(switches.split()), compute
    )


class _Given(NamedTuple):
    """The arguments of a raw op, taken apart."""

    handles: list[tf.Tensor]
    gradient: tf.Tensor
    settings: dict[str, Any]


def _taken_apart(op: str, rule: _Rule, given: dict[str, Any]) -> _Given:
    handles = [given.pop(name) for name in rule.variables]
    gradient = state.value_for(op, handles[0], given.pop(rule.gradient), rule.gradient)
    switches = {name: given.pop(name) for name in rule.switches}
    numbers = {name: _number(op, handles[0], name, value) for name, value in given.items()}
    return _Given(handles, gradient, {**switches, **numbers})


def _number(op: str, handle: tf.Tensor, name: str, value: TensorLike) -> tf.Tensor:
    if name == "global_step":  # it is counted in int64, and computed with as the others
        value = tf.cast(value, state.value_of(handle).dtype)
    x = state.value_for(op, handle, value, name)
    if x.shape.rank not in (None, 0):
        raise tf.errors.ShapeError(f"{op}: {name} must be a scalar, got shape {x.shape}.")
    return x


def _whole(op: str, rule: _Rule) -> Callable[..., None]:
    def apply(name: str | None = None, **given: Any) -> None:
        handles, gradient, settings = _taken_apart(op, rule, given)
        values = [state.value_of(handle) for handle in handles]
        if not gradient.shape.is_compatible_with(values[0].shape):
            raise tf.errors.ShapeError(
                f"{op}: the gradient must have the shape of the variable, {values[0].shape}, got "
                f"{gradient.shape}."
            )
        for handle, value in zip(handles, rule.compute(gradient, *values, **settings), strict=True):
            state.assign(handle, value)

    return apply


def _rows(op: str, rule: _Rule) -> Callable[..., None]:
    """Rows that are named several times are changed as often, one after the other."""

    def apply(indices: TensorLike, name: str | None = None, **given: Any) -> None:
        handles, gradient, settings = _taken_apart(op, rule, given)
        rows = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
        turns = _turns(rows)

        def change(turn: tf.Tensor) -> tuple[tf.Tensor]:
            now = tf.where(turns == turn)[:, 0]
            places, g = tf.gather(rows, now), tf.gather(gradient, now)
            values = [tf.gather(state.value_of(handle), places) for handle in handles]
            for handle, value in zip(handles, rule.compute(g, *values, **settings), strict=True):
                state.scatter_update(handle, places, value)
            return (turn + 1,)

        count = tf.reduce_max(tf.concat([turns, [-1]], 0)) + 1
        tf.while_loop(lambda turn: turn < count, change, (tf.constant(0),))

    return apply


def _turns(rows: tf.Tensor) -> tf.Tensor:
    """How often the same row was named before."""
    order = tf.argsort(rows, stable=True)
    ordered = tf.gather(rows, order)
    before = tf.range(tf.size(rows)) - tf.searchsorted(ordered, ordered)
    return tf.scatter_nd(order[:, tf.newaxis], before, tf.shape(order))


# --- descent -------------------------------------------------------------------------------------


@_rule("var", "delta")
def _descent(g: tf.Tensor, var: tf.Tensor, alpha: tf.Tensor) -> New:
    return (var - alpha * g,)


def _shrunk(x: tf.Tensor, step: tf.Tensor, l1: tf.Tensor, l2: tf.Tensor) -> Any:
    """Pulled towards 0: by a constant, and in proportion."""
    return tf.sign(x) * tf.maximum(tf.abs(x) - step * l1, 0) / (1 + l2 * step)


def _proximal(g: tf.Tensor, var: tf.Tensor, alpha: tf.Tensor, l1: tf.Tensor, l2: tf.Tensor) -> New:
    return (_shrunk(var - alpha * g, alpha, l1, l2),)


@_rule("var accum", switches="use_nesterov")
def _momentum(
    g: tf.Tensor,
    var: tf.Tensor,
    accum: tf.Tensor,
    lr: tf.Tensor,
    momentum: tf.Tensor,
    use_nesterov: bool,
) -> New:
    accum = accum * momentum + g
    step = g * lr + accum * momentum * lr if use_nesterov else accum * lr
    return var - step, accum


@_rule("var accum", switches="use_nesterov")
def _keras_momentum(
    g: tf.Tensor,
    var: tf.Tensor,
    accum: tf.Tensor,
    lr: tf.Tensor,
    momentum: tf.Tensor,
    use_nesterov: bool,
) -> New:
    accum = accum * momentum - g * lr
    return var + (accum * momentum - g * lr if use_nesterov else accum), accum


@_rule("var m")
def _add_sign(
    g: tf.Tensor,
    var: tf.Tensor,
    m: tf.Tensor,
    lr: tf.Tensor,
    alpha: tf.Tensor,
    sign_decay: tf.Tensor,
    beta: tf.Tensor,
) -> New:
    m = m * beta + g * (1 - beta)
    return var - lr * (alpha + sign_decay * tf.sign(g) * tf.sign(m)) * g, m


@_rule("var m")
def _power_sign(
    g: tf.Tensor,
    var: tf.Tensor,
    m: tf.Tensor,
    lr: tf.Tensor,
    logbase: tf.Tensor,
    sign_decay: tf.Tensor,
    beta: tf.Tensor,
) -> New:
    m = m * beta + g * (1 - beta)
    return var - lr * tf.exp(logbase * sign_decay * tf.sign(g) * tf.sign(m)) * g, m


# --- Adagrad -------------------------------------------------------------------------------------


@_rule("var accum", switches="update_slots")
def _adagrad(
    g: tf.Tensor, var: tf.Tensor, accum: tf.Tensor, lr: tf.Tensor, update_slots: bool
) -> New:
    accum = accum + g * g if update_slots else accum
    return var - lr * g * tf.math.rsqrt(accum), accum


@_rule("var accum", switches="update_slots")
def _adagrad_v2(
    g: tf.Tensor,
    var: tf.Tensor,
    accum: tf.Tensor,
    lr: tf.Tensor,
    epsilon: tf.Tensor,
    update_slots: bool,
) -> New:
    accum = accum + g * g if update_slots else accum
    return var - lr * g / (tf.sqrt(accum) + epsilon), accum


@_rule("var gradient_accumulator gradient_squared_accumulator")
def _adagrad_da(
    g: tf.Tensor,
    var: tf.Tensor,
    sums: tf.Tensor,
    squares: tf.Tensor,
    lr: tf.Tensor,
    l1: tf.Tensor,
    l2: tf.Tensor,
    global_step: tf.Tensor,
) -> New:
    sums, squares = sums + g, squares + g * g
    pull = -tf.sign(sums) * tf.maximum(tf.abs(sums) - l1 * global_step, 0)
    return lr * pull / (l2 * global_step * lr + tf.sqrt(squares)), sums, squares


@_rule("var accum")
def _proximal_adagrad(
    g: tf.Tensor, var: tf.Tensor, accum: tf.Tensor, lr: tf.Tensor, l1: tf.Tensor, l2: tf.Tensor
) -> New:
    accum = accum + g * g
    step = lr * tf.math.rsqrt(accum)
    return _shrunk(var - step * g, step, l1, l2), accum


@_rule("var accum accum_update")
def _adadelta(
    g: tf.Tensor,
    var: tf.Tensor,
    accum: tf.Tensor,
    accum_update: tf.Tensor,
    lr: tf.Tensor,
    rho: tf.Tensor,
    epsilon: tf.Tensor,
) -> New:
    accum = accum * rho + g * g * (1 - rho)
    update = tf.sqrt(accum_update + epsilon) * tf.math.rsqrt(accum + epsilon) * g
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


# --- running averages ----------------------------------------------------------------------------


@_rule("var ms mom")
def _rms_prop(
    g: tf.Tensor,
    var: tf.Tensor,
    ms: tf.Tensor,
    mom: tf.Tensor,
    lr: tf.Tensor,
    rho: tf.Tensor,
    momentum: tf.Tensor,
    epsilon: tf.Tensor,
) -> New:
    ms = ms + (g * g - ms) * (1 - rho)
    mom = mom * momentum + g * lr * tf.math.rsqrt(ms + epsilon)
    return var - mom, ms, mom


@_rule("var mg ms mom")
def _centered_rms_prop(
    g: tf.Tensor,
    var: tf.Tensor,
    mg: tf.Tensor,
    ms: tf.Tensor,
    mom: tf.Tensor,
    lr: tf.Tensor,
    rho: tf.Tensor,
    momentum: tf.Tensor,
    epsilon: tf.Tensor,
) -> New:
    ms = ms + (g * g - ms) * (1 - rho)
    mg = mg + (g - mg) * (1 - rho)
    mom = mom * momentum + g * lr * tf.math.rsqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _rate(lr: tf.Tensor, beta1_power: tf.Tensor, beta2_power: tf.Tensor) -> Any:
    return lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)


@_rule("var m v", switches="use_nesterov")
def _adam(
    g: tf.Tensor,
    var: tf.Tensor,
    m: tf.Tensor,
    v: tf.Tensor,
    beta1_power: tf.Tensor,
    beta2_power: tf.Tensor,
    lr: tf.Tensor,
    beta1: tf.Tensor,
    beta2: tf.Tensor,
    epsilon: tf.Tensor,
    use_nesterov: bool,
) -> New:
    m, v = m + (g - m) * (1 - beta1), v + (g * g - v) * (1 - beta2)
    direction = g * (1 - beta1) + beta1 * m if use_nesterov else m
    step = direction * _rate(lr, beta1_power, beta2_power)
    return var - step / (tf.sqrt(v) + epsilon), m, v


@_rule("var m v vhat")
def _amsgrad(
    g: tf.Tensor,
    var: tf.Tensor,
    m: tf.Tensor,
    v: tf.Tensor,
    vhat: Any,
    beta1_power: tf.Tensor,
    beta2_power: tf.Tensor,
    lr: tf.Tensor,
    beta1: tf.Tensor,
    beta2: tf.Tensor,
    epsilon: tf.Tensor,
) -> New:
    m, v = m + (g - m) * (1 - beta1), v + (g * g - v) * (1 - beta2)
    vhat = tf.maximum(vhat, v)
    step = m * _rate(lr, beta1_power, beta2_power)
    return var - step / (tf.sqrt(vhat) + epsilon), m, v, vhat


@_rule("var m v")
def _adamax(
    g: tf.Tensor,
    var: tf.Tensor,
    m: tf.Tensor,
    v: tf.Tensor,
    beta1_power: tf.Tensor,
    lr: tf.Tensor,
    beta1: tf.Tensor,
    beta2: tf.Tensor,
    epsilon: tf.Tensor,
) -> New:
    m, v = m + (g - m) * (1 - beta1), tf.maximum(beta2 * v, tf.abs(g))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


# --- follow the regularized leader ---------------------------------------------------------------


def _followed(
    g: tf.Tensor,
    var: tf.Tensor,
    accum: tf.Tensor,
    linear: tf.Tensor,
    lr: tf.Tensor,
    l1: tf.Tensor,
    l2: tf.Tensor,
    lr_power: tf.Tensor,
    multiply_linear_by_lr: bool,
    l2_shrinkage: tf.Tensor | int = 0,
) -> New:
    """Sums are kept divided by the learning rate, or not, as the switch says."""
    rate = 1 if multiply_linear_by_lr else lr
    scale = lr if multiply_linear_by_lr else 1
    grown = accum + g * g
    before, after = accum**-lr_power, grown**-lr_power
    linear = linear + (g + 2 * l2_shrinkage * var) * scale - (after - before) / rate * var
    quadratic = after / rate + 2 * l2 * scale
    pulled = (tf.sign(linear) * l1 * scale - linear) / quadratic
    new = tf.where(tf.abs(linear) > l1 * scale, pulled, tf.zeros_like(linear))
    return new, grown, linear


_ftrl = _Rule(("var", "accum", "linear"), "grad", ("multiply_linear_by_lr",), _followed)


# --- the ops -------------------------------------------------------------------------------------

descend = _whole("ResourceApplyGradientDescent", _descent)
descend_proximally = _whole(
    "ResourceApplyProximalGradientDescent", _Rule(("var",), "delta", (), _proximal)
)
momentum = _whole("ResourceApplyMomentum", _momentum)
keras_momentum = _whole("ResourceApplyKerasMomentum", _keras_momentum)
add_sign = _whole("ResourceApplyAddSign", _add_sign)
power_sign = _whole("ResourceApplyPowerSign", _power_sign)
adagrad = _whole("ResourceApplyAdagrad", _adagrad)
adagrad_v2 = _whole("ResourceApplyAdagradV2", _adagrad_v2)
adagrad_da = _whole("ResourceApplyAdagradDA", _adagrad_da)
proximal_adagrad = _whole("ResourceApplyProximalAdagrad", _proximal_adagrad)
adadelta = _whole("ResourceApplyAdadelta", _adadelta)
rms_prop = _whole("ResourceApplyRMSProp", _rms_prop)
centered_rms_prop = _whole("ResourceApplyCenteredRMSProp", _centered_rms_prop)
adam = _whole("ResourceApplyAdam", _adam)
amsgrad = _whole("ResourceApplyAdamWithAmsgrad", _amsgrad)
adamax = _whole("ResourceApplyAdaMax", _adamax)
ftrl = _whole("ResourceApplyFtrl", _ftrl)

sparse_proximal = _rows(
    "ResourceSparseApplyProximalGradientDescent", _Rule(("var",), "grad", (), _proximal)
)
sparse_momentum = _rows("ResourceSparseApplyMomentum", _momentum)
sparse_keras_momentum = _rows("ResourceSparseApplyKerasMomentum", _keras_momentum)
sparse_adagrad = _rows("ResourceSparseApplyAdagrad", _adagrad)
sparse_adagrad_v2 = _rows("ResourceSparseApplyAdagradV2", _adagrad_v2)
sparse_adagrad_da = _rows("ResourceSparseApplyAdagradDA", _adagrad_da)
sparse_proximal_adagrad = _rows("ResourceSparseApplyProximalAdagrad", _proximal_adagrad)
sparse_adadelta = _rows("ResourceSparseApplyAdadelta", _adadelta)
sparse_rms_prop = _rows("ResourceSparseApplyRMSProp", _rms_prop)
sparse_centered_rms_prop = _rows("ResourceSparseApplyCenteredRMSProp", _centered_rms_prop)
sparse_ftrl = _rows("ResourceSparseApplyFtrl", _ftrl)
