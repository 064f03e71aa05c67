"""Whole programs: training steps, loops with gradients, many variables."""

from __future__ import annotations

import itertools
import sys
from subprocess import run

import numpy as np

import weft as tf
from support.xla_programs import check_program

RNG = np.random.default_rng(7)


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * RNG.normal(size=shape)).astype(np.float32)


def test_a_step_of_adam() -> None:
    sizes = [13, 16, 11, 1]
    weights = [tf.Variable(normal(a, b, scale=0.3)) for a, b in itertools.pairwise(sizes)]
    biases = [tf.Variable(np.zeros(n, np.float32)) for n in sizes[1:]]
    parameters = [*weights, *biases]
    slots = [[tf.Variable(tf.zeros(p.shape)) for p in parameters] for _ in range(2)]
    count = tf.Variable(0)

    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            h = x
            for w, b in zip(weights, biases, strict=True):
                h = tf.tanh(h @ w + b)
            loss = tf.reduce_mean((h - y) ** 2)
        count.assign_add(1)
        t = tf.cast(count, tf.float32)
        for p, m, v, g in zip(parameters, *slots, tape.gradient(loss, parameters), strict=True):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            scaled = (m / (1 - tf.pow(0.9, t))) / (tf.sqrt(v / (1 - tf.pow(0.999, t))) + 1e-7)
            p.assign_sub(1e-2 * scaled)
        return loss

    variables = [*parameters, *slots[0], *slots[1], count]
    check_program(step, normal(6, 13), normal(6, 1), variables=variables, times=4)


def test_newtons_method_and_its_gradient() -> None:
    def roots(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(a)
            x, i = a, tf.constant(0)
            while tf.reduce_max(tf.abs(x * x - a)) > 1e-4 and i < 50:
                x = 0.5 * (x + a / x)
                i += 1
            y = tf.reduce_sum(x)
        return y, tape.gradient(y, a), i

    check_program(roots, RNG.uniform(1, 9, 7).astype(np.float32))


def test_a_recurrent_network_and_its_gradient() -> None:
    w, u = tf.Variable(normal(3, 5, scale=0.5)), tf.Variable(normal(5, 5, scale=0.5))

    def loss(xs: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
        with tf.GradientTape() as tape:
            out = tf.TensorArray(tf.float32, size=9)
            h = tf.zeros([2, 5])
            for t in tf.range(9):
                h = tf.tanh(xs[t] @ w + h @ u)
                out = out.write(t, h)
            total = tf.reduce_mean(out.stack() ** 2)
        return total, tape.gradient(total, [w, u])

    check_program(loss, normal(9, 2, 3))


def test_a_convolutional_network() -> None:
    first, second = tf.Variable(normal(3, 3, 2, 4, scale=0.3)), tf.Variable(normal(32, 5))
    parameters = [first, second]

    def step(x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(x, first, 1, "SAME"))
            h = tf.nn.avg_pool2d(tf.nn.max_pool2d(h, 2, 2, "VALID"), 2, 1, "SAME")
            logits = tf.reshape(h[:, :4, :2], [3, -1]) @ second
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for p, g in zip(parameters, tape.gradient(loss, parameters), strict=True):
            p.assign_sub(0.1 * g)
        return loss

    labels = np.array([4, 0, 2], np.int32)
    check_program(step, normal(3, 8, 6, 2), labels, variables=parameters, times=3)


def test_three_hundred_variables() -> None:
    variables = [tf.Variable(normal(2, 3)) for _ in range(300)]

    def step(x: tf.Tensor) -> tf.Tensor:
        total = tf.add_n([tf.reduce_sum(v * x) for v in variables])
        for v in variables:
            v.assign_sub(0.1 * x)
        return total

    check_program(step, normal(2, 3), variables=variables)


def test_shapes_of_each_call() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def mean(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32)

    for shape in ((2, 3), (5, 1), (2, 3)):
        x = normal(*shape)
        np.testing.assert_allclose(mean(tf.constant(x)), x.mean(), rtol=1e-5)


def test_importing_weft_and_calling_functions_does_not_import_jax() -> None:
    code = (
        "import sys, weft as tf\n"
        "f = tf.function(lambda x: x * 2)\n"
        "assert f(tf.constant(2.0)).numpy() == 4.0\n"
        "print('jax' in sys.modules)"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_arrays_that_come_twice_and_others_in_between() -> None:
    """jax keeps an array that comes again; it must not be taken for the next one."""
    double = tf.function(lambda x, y: x * 2.0 + y)
    first, second, third = [tf.constant([float(k), 3.0]) for k in (1, 5, 7)]
    for x, y in [(first, second)] * 3 + [(second, first)] * 3 + [(first, third), (first, second)]:
        np.testing.assert_array_equal(double(x, y).numpy(), 2.0 * x.numpy() + y.numpy())


def test_variables_that_somebody_else_writes_in_between() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)

    @tf.function
    def step() -> tf.Tensor:
        v.assign(v + w)
        return v + 0.0

    for k in range(4):
        before = v.numpy()
        np.testing.assert_array_equal(step().numpy(), before + w.numpy())
        if k == 2:
            w.assign(10.0)
            v.assign([5.0, 6.0])
    np.testing.assert_array_equal(v.numpy(), [15.0, 16.0])
