"""Gradients that are missing: the reason, the op, the line of the user, and what to do instead."""

from __future__ import annotations

import re

import pytest
from tests.support.explained import Program, Run

import weft as tf

# In each program `why` is asked for after `tape`, `loss` and `source` have been made; the comment
# "# here" marks the line that must be named.
PROGRAMS = [
    Program(
        "stop_gradient",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = tf.stop_gradient(x * 2.0)  # here
            loss = y * y
        source = x
        """,
        says=(r"stop_gradient", r"[Ll]eave it out|[Rr]emove it"),
        change=(("tf.stop_gradient(x * 2.0)", "x * 2.0"),),
    ),
    Program(
        "a cast to integers",
        """
        x = tf.Variable(3.7)
        with tf.GradientTape() as tape:
            y = tf.cast(x, tf.int32)  # here
            loss = tf.cast(y, tf.float32) * 2.0
        source = x
        """,
        says=(r"int32", r"[Cc]ast|floating"),
        change=(("tf.cast(x, tf.int32)", "tf.identity(x)"),),
    ),
    Program(
        "through NumPy",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = np.sin(x.numpy())  # here
            loss = tf.constant(y) * 2.0
        source = x
        """,
        says=(r"NumPy", r"tf functions"),
        change=(("np.sin(x.numpy())", "tf.sin(x)"), ("tf.constant(y)", "y")),
    ),
    Program(
        "a tensor that is not watched",
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            loss = x * x
        source = x
        """,
        says=(r"does not watch", r"tape\.watch"),
        change=(("as tape:", "as tape:\n            tape.watch(x)"),),
    ),
    Program(
        "a variable that is not trainable",
        """
        x = tf.Variable(3.0, trainable=False)
        with tf.GradientTape() as tape:
            loss = x * x
        source = x
        """,
        says=(r"not trainable", r"tape\.watch"),
        change=(("as tape:", "as tape:\n            tape.watch(x)"),),
    ),
    Program(
        "a variable that became a tensor",
        """
        x = tf.Variable(3.0)
        x = x + 1.0
        with tf.GradientTape() as tape:
            loss = x * x
        source = x
        """,
        says=(r"does not watch", r"assign_add"),
        change=(("x = x + 1.0", "x.assign_add(1.0)"),),
    ),
    Program(
        "outside of the tape",
        """
        x = tf.Variable(3.0)
        y = x * 2.0
        with tf.GradientTape() as tape:
            loss = y * y
        source = x
        """,
        says=(r"not read while the tape recorded|outside", r"`with` block|inside"),
        change=(
            ("        y = x * 2.0\n", ""),
            ("            loss", "            y = x * 2.0\n            loss"),
        ),
    ),
    Program(
        "an assignment",
        """
        x = tf.Variable(3.0)
        kept = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            kept.assign(x * 2.0)  # here
            loss = kept * kept
        source = x
        """,
        says=(r"assignment", r"[Uu]se the value itself"),
        change=(("loss = kept * kept", "loss = (x * 2.0) * kept"),),
    ),
    Program(
        "an index",
        """
        x = tf.Variable([1.0, 5.0, 2.0])
        table = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            i = tf.argmax(x)  # here
            loss = tf.gather(table, i)
        source = x
        """,
        says=(r"ArgMax", r"no gradient", r"softmax"),
        change=(
            ("tf.argmax(x)", "tf.nn.softmax(x)"),
            ("tf.gather(table, i)", "tf.reduce_sum(table * i)"),
        ),
    ),
    Program(
        "a comparison",
        """
        x = tf.Variable([1.0, 5.0, 2.0])
        with tf.GradientTape() as tape:
            mask = x > 1.5  # here
            loss = tf.reduce_sum(tf.cast(mask, tf.float32))
        source = x
        """,
        says=(r"Greater|bool", r"no gradient|sigmoid"),
        change=(
            ("x > 1.5", "tf.sigmoid(x - 1.5)"),
            ("tf.cast(mask, tf.float32)", "mask"),
        ),
    ),
    Program(
        "rounding",
        """
        x = tf.Variable([1.2, 5.7])
        with tf.GradientTape() as tape:
            y = tf.round(x)  # here
            loss = tf.reduce_sum(y)
        source = x
        """,
        says=(r"Round", r"no gradient", r"x \+ tf\.stop_gradient\("),
        change=(("tf.round(x)", "x + tf.stop_gradient(tf.round(x) - x)"),),
    ),
    # --- inside of functions, branches and loops -------------------------------------------------
    Program(
        "inside of a function",
        """
        @tf.function
        def f(x):
            y = tf.stop_gradient(x * 2.0)  # here
            return y * y
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"stop_gradient",),
        change=(("tf.stop_gradient(x * 2.0)", "x * 2.0"),),
    ),
    Program(
        "inside of a branch",
        """
        @tf.function
        def f(x):
            if tf.reduce_sum(x) > 0.0:
                y = tf.cast(tf.cast(x, tf.int32), tf.float32)  # here
            else:
                y = tf.zeros_like(x)
            return y * 2.0
        x = tf.Variable([3.0, 1.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f(x))
        source = x
        """,
        says=(r"int32",),
        change=(("tf.cast(tf.cast(x, tf.int32), tf.float32)", "x * 1.0"),),
    ),
    Program(
        "inside of a loop",
        """
        @tf.function
        def f(x):
            y = tf.zeros([])
            for i in tf.range(3):
                y = y + tf.stop_gradient(x)  # here
            return y
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"stop_gradient",),
        change=(("tf.stop_gradient(x)", "x"),),
    ),
    Program(
        "inside of a branch in a loop in a function that is called",
        """
        def step(x, y):
            if tf.reduce_sum(y) < 100.0:
                y = y + tf.round(x)  # here
            else:
                y = y
            return y
        @tf.function
        def f(x):
            y = tf.zeros([])
            for i in tf.range(3):
                y = step(x, y)
            return y
        x = tf.Variable(3.2)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"Round",),
        change=(("tf.round(x)", "x"),),
    ),
    Program(
        "a while loop that carries an integer",
        """
        @tf.function
        def f(x):
            n = tf.cast(x, tf.int32)  # here
            while n < 10:
                n = n + 1
            return tf.cast(n, tf.float32)
        x = tf.Variable(3.2)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"int32",),
        change=(
            ("tf.cast(x, tf.int32)", "x"),
            ("n < 10", "n < 10.0"),
            ("n + 1", "n + 1.0"),
            ("tf.cast(n, tf.float32)", "n"),
        ),
    ),
    Program(
        "a Python function",
        """
        @tf.function
        def f(x):
            return tf.numpy_function(np.sin, [x], tf.float32)  # here
        x = tf.Variable(3.2)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"numpy_function|PyFunc", r"py_function|custom_gradient|tf functions"),
        change=(
            (
                "tf.numpy_function(np.sin, [x], tf.float32)",
                "tf.py_function(tf.sin, [x], tf.float32)",
            ),
        ),
    ),
    Program(
        "a function in a function",
        """
        @tf.function
        def inner(x):
            return tf.math.ceil(x) * 2.0  # here
        @tf.function
        def f(x):
            return inner(x) + 1.0
        x = tf.Variable(3.2)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"Ceil",),
        change=(("tf.math.ceil(x)", "tf.tanh(x)"),),
    ),
    Program(
        "an assignment in a function",
        """
        kept = tf.Variable(0.0)
        @tf.function
        def f(x):
            kept.assign(x * 2.0)  # here
            return kept * 1.0
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"assignment",),
        change=(("return kept * 1.0", "return x * 2.0 * kept"),),
    ),
    Program(
        "a map over rows",
        """
        @tf.function
        def f(x):
            return tf.map_fn(lambda row: tf.floor(row), x)  # here
        x = tf.Variable([3.2, 1.5])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(f(x))
        source = x
        """,
        says=(r"Floor",),
        change=(("tf.floor(row)", "row * 1.0"),),
    ),
    Program(
        "a branch that does not use it",
        """
        @tf.function
        def f(x, flag):
            if flag:
                return x * 2.0
            return tf.ones([])
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = tf.stop_gradient(f(x, tf.constant(True)))  # here
        source = x
        """,
        says=(r"stop_gradient",),
        change=(("tf.stop_gradient(f(x, tf.constant(True)))", "f(x, tf.constant(True))"),),
    ),
    Program(
        "a NumPy function on a tensor",
        """
        x = tf.Variable([3.0, 4.0])
        with tf.GradientTape() as tape:
            y = np.sum(x)  # here
            loss = tf.constant(y) * 2.0
        source = x
        """,
        says=(r"NumPy", r"tf functions"),
        change=(("np.sum(x)", "tf.reduce_sum(x)"), ("tf.constant(y)", "y")),
    ),
    Program(
        "a gradient of one's own that is None",
        """
        @tf.custom_gradient
        def doubled(x):
            return x * 2.0, lambda g: None
        @tf.function
        def f(x):
            return doubled(x)  # here
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(
            r"doubled, whose gradient is written with tf\.custom_gradient and None",
            r"Return one",
        ),
        change=(("lambda g: None", "lambda g: g * 2.0"),),
    ),
    Program(
        "an assignment in a loop",
        """
        kept = tf.Variable(0.0)
        @tf.function
        def f(x):
            for i in tf.range(3):
                kept.assign_add(x)  # here
            return kept * 1.0
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"assignment", r"Use the value itself"),
        change=(("return kept * 1.0", "return x * 3.0"),),
    ),
    Program(
        "from one iteration to the next",
        """
        @tf.function
        def f(x):
            a = tf.zeros([])
            b = tf.zeros([])
            for i in tf.range(4):
                b = a
                a = tf.round(x)  # here
            return b
        x = tf.Variable(3.2)
        with tf.GradientTape() as tape:
            loss = f(x)
        source = x
        """,
        says=(r"Round", r"tf\.stop_gradient\("),
        change=(("tf.round(x)", "x + tf.stop_gradient(tf.round(x) - x)"),),
    ),
    Program(
        "a function that does not use it",
        """
        @tf.function
        def f(x, y):
            return y * 2.0
        x, y = tf.Variable(3.0), tf.constant(1.0)
        with tf.GradientTape() as tape:
            loss = f(x, y)
        source = x
        """,
        says=(r"f gets the source, but what it gives does not depend on it",),
        change=(("return y * 2.0", "return x * y"),),
    ),
    Program(
        "integers from the start",
        """
        x = tf.Variable(3)
        with tf.GradientTape() as tape:
            loss = tf.cast(x, tf.float32) * 2.0
        source = x
        """,
        says=(r"int32", r"floating"),
        change=(("tf.Variable(3)", "tf.Variable(3.0)"),),
    ),
    Program(
        "a tape that was used up",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = x * x
        tape.gradient(loss, x)
        source = x
        """,
        says=(r"used up", r"persistent=True"),
    ),
]


def outcome(program: Program) -> list[str]:
    """What is wrong with the explanation; the remedy must give a gradient."""
    run = Run(program.text)
    if run.error is not None:
        return [f"failed: {run.error!r}"]
    names = run.namespace
    why = tf.explain_gradient(names["tape"], names["loss"], names["source"])
    said = repr(why)
    found = [f"does not say: {part}" for part in program.says if not re.search(part, said)]
    lines = [i for i, line in enumerate(program.text.splitlines(), 3) if "# here" in line]
    if lines and (why.location is None or why.location.line != lines[0]):
        found.append(f"does not name line {lines[0]}")
    if found:
        return [*found, said]
    if program.change:
        text = program.text
        for old, new in program.change:
            assert old in text, old
            text = text.replace(old, new)
        after = Run(text)
        if after.error is not None:
            return [f"the remedy fails: {after.error!r}"]
        names = after.namespace
        if names["tape"].gradient(names["loss"], names["source"]) is None:
            return ["the remedy gives no gradient"]
    return []


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_reason_is_named(program: Program) -> None:
    assert outcome(program) == []
