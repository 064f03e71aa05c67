"""Python values that traces took from around the function: they are listed, and changes told."""

from __future__ import annotations

import pytest
from tests.support.explained import Program, outcome

PROGRAMS = [
    Program(
        "a global that changes",
        """
        SCALE = 2.0
        @tf.function
        def f(x):
            return x * SCALE
        f(tf.ones([2]))
        SCALE = 3.0
        f(tf.ones([2]))
        f(tf.ones([2]))
        """,
        says=(
            r"f \(program\.py:5\) was traced when the global SCALE was 2\.0, and it is 3\.0 now",
            r"Pass it as an argument, or keep it in a tf\.Variable",
            r"reads SCALE = 2\.0 \(global\); the global SCALE was 2\.0 and is now 3\.0",
        ),
        change=(("SCALE = 2.0", "SCALE = tf.Variable(2.0)"), ("SCALE = 3.0", "SCALE.assign(3.0)")),
    ),
    Program(
        "a global that is guarded",
        """
        SCALE = 2.0
        @tf.function
        def f(x):
            return x * SCALE
        f(tf.ones([2]))
        SCALE = 3.0
        assert f(tf.ones([2])).numpy()[0] == RESULT
        """.replace("RESULT", "2.0"),
        says=(r"guard=True",),
        change=(("@tf.function", "@tf.function(guard=True)"), ("== 2.0", "== 3.0")),
        traces=2,
    ),
    Program(
        "a closure variable that changes",
        """
        def make():
            rate = 0.5
            @tf.function
            def f(x):
                return x * rate
            def set_rate(value):
                nonlocal rate
                rate = value
            return f, set_rate
        f, set_rate = make()
        f(tf.ones([2]))
        set_rate(0.25)
        f(tf.ones([2]))
        """,
        says=(r"the closure variable rate was 0\.5, and it is 0\.25 now", r"tf\.Variable"),
        change=(
            ("rate = 0.5", "rate = tf.Variable(0.5)"),
            ("nonlocal rate\n                rate = value", "rate.assign(value)"),
        ),
    ),
    Program(
        "an attribute that changes",
        """
        class Model:
            def __init__(self):
                self.training = True
            @tf.function
            def step(self, x):
                return x * 2.0 if self.training else x
        model = Model()
        model.step(tf.ones([2]))
        model.training = False
        model.step(tf.ones([2]))
        f = model.step
        """,
        says=(
            r"step \(program\.py:\d\) was traced when the attribute self\.training was True",
            r"it is False now",
        ),
        change=(("@tf.function", "@tf.function(guard=True)"),),
        traces=2,
    ),
    Program(
        "an attribute of a global object",
        """
        class Config:
            rate = 0.5
        config = Config()
        @tf.function
        def f(x):
            return x * config.rate
        f(tf.ones([2]))
        config.rate = 0.25
        f(tf.ones([2]))
        """,
        says=(r"the attribute config\.rate was 0\.5, and it is 0\.25 now",),
        change=(("@tf.function", "@tf.function(guard=True)"),),
        traces=2,
    ),
    Program(
        "a global that a called function reads",
        """
        DEPTH = 2
        def helper(x):
            for _ in range(DEPTH):
                x = x * 2.0
            return x
        @tf.function
        def f(x):
            return helper(x)
        f(tf.ones([2]))
        DEPTH = 3
        f(tf.ones([2]))
        """,
        says=(r"the global DEPTH was 2, and it is 3 now",),
        change=(("@tf.function", "@tf.function(guard=True)"),),
        traces=2,
    ),
    Program(
        "a global that a function inside reads",
        """
        SCALE = 2.0
        @tf.function
        def inner(x):
            return x * SCALE
        @tf.function
        def f(x):
            return inner(x) + 1.0
        f(tf.ones([2]))
        SCALE = 3.0
        f(tf.ones([2]))
        """,
        says=(
            r"f \(program\.py:8\) was traced when the global SCALE was 2\.0, and it is 3\.0 now",
        ),
        change=(("@tf.function", "@tf.function(guard=True)"),),
        traces=2,
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_python_values_of_the_past_are_named(program: Program) -> None:
    assert outcome(program) == []
