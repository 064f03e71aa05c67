"""Python values that traces took from around the function: they are listed, and changes told."""

from __future__ import annotations

import pytest
from tests.support.explained import Program, Run, outcome

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


def test_values_that_come_back_find_their_trace() -> None:
    run = Run(
        """
        TRAINING = True
        @tf.function(guard=True)
        def f(x):
            return x * 2.0 if TRAINING else x
        results = []
        for TRAINING in (True, False, True, False):
            results.append(float(f(tf.constant(3.0))))
        TRAINING = True
        concrete = f.get_concrete_function(tf.constant(1.0))
        results.append(float(concrete(tf.constant(3.0))))
        """
    )
    assert run.error is None
    assert run.namespace["results"] == [6.0, 3.0, 6.0, 3.0, 6.0]
    assert run.namespace["f"].experimental_get_tracing_count() == 2
    assert "the global TRAINING was True and is now False" in run.explained()
    assert run.warnings == []


def test_a_change_is_told_once_for_each_name() -> None:
    run = Run(
        """
        A, B = 1.0, 2.0
        @tf.function
        def f(x):
            return x * A + B
        x = tf.ones([2])
        f(x)
        A = 5.0
        f(x), f(x)
        A = 6.0
        f(x), f(x)
        B = 7.0
        f(x), f(x)
        """
    )
    assert [name for text in run.warnings for name in ("A", "B") if f"global {name} " in text] == [
        *("A", "B")
    ]


def test_a_name_that_is_gone() -> None:
    run = Run(
        """
        A = 1.0
        @tf.function
        def f(x):
            return x * A
        f(tf.ones([2]))
        del A
        f(tf.ones([2]))
        """
    )
    assert "the global A was 1.0, and it is nothing now" in run.warned


def test_a_change_after_many_calls_is_noticed_soon() -> None:
    run = Run(
        """
        A = 1.0
        @tf.function
        def f(x):
            return x * A
        x = tf.ones([2])
        for _ in range(1000):
            f(x)
        A = 5.0
        for _ in range(20):
            f(x)
        """
    )
    assert len(run.warnings) == 1


@pytest.mark.parametrize(
    "change",
    [
        "A = float('1.5')",  # another object, but equal
        "LIST.append(3)",  # not plain: it may be meant to change
        "Model.unrelated = 3",
        "model.count += 1",  # the function changes it itself
        "np.pi, tf.float32",
    ],
)
def test_nothing_is_said_of_other_changes(change: str) -> None:
    run = Run(
        f"""
        A, LIST = float("1.5"), [1.0]
        class Model:
            count = 0
            @tf.function
            def step(self, x):
                self.count += 1
                return tf.cast(x * A * LIST[0] * np.pi + self.count, tf.float32)
        model = Model()
        f = model.step
        x = tf.ones([2])
        f(x)
        {change}
        for _ in range(40):
            f(x)
        """
    )
    assert run.error is None
    assert run.warnings == []
    assert "reads A = 1.5 (global)" in run.explained()


def test_under_tapes_and_in_graphs() -> None:
    run = Run(
        """
        A = 1.0
        @tf.function
        def f(x):
            return x * A
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            f(x)
        A = 2.0
        with tf.GradientTape() as tape:
            f(x)
        """
    )
    assert len(run.warnings) == 1


def test_instances_are_not_kept_alive() -> None:
    run = Run(
        """
        import gc, weakref
        class Model:
            def __init__(self):
                self.rate = 0.5
            @tf.function
            def step(self, x):
                return x * self.rate
        model = Model()
        model.step(tf.ones([2]))
        gone = weakref.ref(model)
        del model
        gc.collect()
        assert gone() is None
        """
    )
    assert run.error is None
