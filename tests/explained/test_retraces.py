"""Retraces because of values, tensors and containers: cause, was and is, a remedy that works."""

from __future__ import annotations

import re

import pytest
from tests.support.explained import Program, Run, outcome

PROGRAMS = [
    # --- Python values ---------------------------------------------------------------------------
    Program(
        "a Python int that changes",
        """
        @tf.function
        def f(x, n):
            return x * tf.cast(n, tf.float32)
        for i in range(6):
            f(tf.ones([2]), i)
        """,
        says=(r"the value of 'n' was \d and is now \d", r"tf\.constant\(\d\)"),
        paste=True,
    ),
    Program(
        "a Python int that changes, passed as a tensor",
        """
        @tf.function
        def f(x, n):
            return x * tf.cast(n, tf.float32)
        for i in range(6):
            f(tf.ones([2]), i)
        """,
        says=(r"'n'", r"tf\.constant\(\d\)"),
        change=(("[2]), i)", "[2]), tf.constant(i))"),),
    ),
    Program(
        "a learning rate that decays",
        """
        @tf.function
        def f(x, rate):
            return x * rate
        for i in range(6):
            f(tf.ones([2]), 0.1 * 0.5**i)
        """,
        says=(r"the value of 'rate' was 0\.\d+ and is now 0\.\d+", r"tf\.constant\(0\.\d+\)"),
        paste=True,
    ),
    Program(
        "an int that fits no tensor",
        """
        @tf.function
        def f(x, n):
            return x + (n % 7)
        for i in range(6):
            f(tf.ones([2], tf.int32), 2**70 + i)
        """,
        says=(r"was 1180591620717411303428 and is now 1180591620717411303429", r"fits no tensor"),
        never=(r"tf\.constant\(", r"input_signature"),
        change=(("2**70 + i", "2**70 + i % 2"),),
        traces=2,
    ),
    Program(
        "an int among floats",
        """
        @tf.function
        def f(x, n):
            return x * n
        for i in range(6):
            f(tf.ones([2]), i)
        """,
        says=(r"the value of 'n' was \d and is now \d", r"tf\.constant\(\d, tf\.float32\)"),
        paste=True,
    ),
    Program(
        "an int that Python needs",
        """
        @tf.function
        def f(x, n):
            return tf.concat([x] * n, 0)
        for i in range(1, 7):
            f(tf.ones([2]), i)
        """,
        says=(r"the value of 'n' was \d and is now \d", r"needs a Python number there"),
        never=(r"tf\.constant", r"input_signature"),
        change=(("[x] * n, 0)", "[x] * 2, 0)"), ("[2]), i)", "[2]), 2)")),
    ),
    Program(
        "a function that cannot be tried",
        """
        seen = []
        @tf.function
        def f(x):
            seen.append(x.shape)
            return x * 2.0
        for n in range(1, 8):
            f(tf.zeros([n, 3]))
        assert len(seen) == f.experimental_get_tracing_count()
        """,
        says=(r"\[None, 3\]", r"not tried.*f calls seen\.append in line 7"),
        paste=True,
    ),
    Program(
        "ints and floats in turn",
        """
        @tf.function
        def f(x, n):
            return x * n
        for n in (1, 1.5, 2, 2.5, 3, 3.5):
            f(tf.ones([2]), n)
        """,
        says=(r"'n' was \d\.?\d? and is now \d\.?\d?",),
        paste=True,
    ),
    Program(
        "a flag",
        """
        @tf.function
        def f(x, training):
            return x * 2.0 if training else x
        for i in range(6):
            f(tf.ones([2]), i % 2 == 0)
        """,
        says=(
            r"the value of 'training' was True and is now False",
            r"at most two traces",
        ),
        traces=2,
        warns=False,
        change=(("i % 2", "i % 2"),),
    ),
    Program(
        "one as an int and as a float",
        """
        @tf.function
        def f(x, n):
            return x * n
        f(tf.ones([2]), 1)
        f(tf.ones([2]), 1.0)
        """,
        says=(
            r"'n' was the int 1 and is now the float 1\.0",
            r"pass one type in every call, int\(n\)",
        ),
        change=(("1.0)", "int(1.0))"),),
        warns=False,
    ),
    Program(
        "a complex number",
        """
        @tf.function
        def f(x, c):
            return x * c
        for i in range(6):
            f(tf.ones([2], tf.complex64), 1j * i)
        """,
        says=(r"the value of 'c' was \dj and is now \dj", r"tf\.constant\(\dj, tf\.complex64\)"),
        paste=True,
    ),
    Program(
        "a dtype",
        """
        @tf.function
        def f(x, dtype):
            return tf.cast(x, dtype)
        f(tf.ones([2]), tf.int32)
        f(tf.ones([2]), tf.float64)
        """,
        says=(r"the value of 'dtype' was tf\.int32 and is now tf\.float64", r"pass only a few"),
        change=(("tf.float64", "tf.int32"),),
        warns=False,
    ),
    Program(
        "zero with a sign",
        """
        @tf.function
        def f(x, n):
            return x * n
        f(tf.ones([2]), 0.0)
        f(tf.ones([2]), -0.0)
        """,
        says=(r"the value of 'n' was 0\.0 and is now -0\.0", r"tf\.constant\(-0\.0\)"),
        change=(("-0.0)", "tf.constant(-0.0))"), (" 0.0)", " tf.constant(0.0))")),
        warns=False,
    ),
    Program(
        "strings that are data",
        """
        @tf.function
        def f(name):
            return tf.strings.length(name)
        for i in range(6):
            f(f"file_{i}")
        """,
        says=(r"'name' was 'file_\d' and is now 'file_\d'", r"tf\.constant\('file_\d'\)"),
        paste=True,
    ),
    Program(
        "enumerations",
        """
        import enum
        class Mode(enum.Enum):
            TRAIN = 1
            TEST = 2
            SERVE = 3
        @tf.function
        def f(x, mode):
            return x * 2.0 if mode is Mode.TRAIN else x
        for mode in [*Mode] * 3:
            f(tf.ones([2]), mode)
        """,
        says=(
            r"the value of 'mode' was Mode\.\w+ and is now Mode\.\w+",
            r"one trace for each of its 3 members",
        ),
        traces=3,
        warns=False,
        change=(("* 3", "* 5"),),
    ),
    Program(
        "a date per call",
        """
        import datetime
        @tf.function
        def f(x, when):
            return x * 2.0
        for day in range(1, 7):
            f(tf.ones([2]), datetime.date(2026, 1, day))
        """,
        says=(
            r"the value of 'when' was datetime\.date\(2026, 1, \d\) and is now datetime",
            r"each value has a trace of its own",
        ),
        change=(("datetime.date(2026, 1, day)", "tf.constant(day)"),),
    ),
    Program(
        "a NumPy number against a Python number",
        """
        @tf.function
        def f(x):
            return x * 2.0
        for i in range(3):
            f(float(i))
            f(np.float32(i))
        """,
        says=(r"'x' was the float 0\.0 and is now a float32 tensor of shape \(\)",),
        change=(("f(float(i))", "f(np.float32(i))"),),
        warns=False,
    ),
    # --- tensors ---------------------------------------------------------------------------------
    Program(
        "batches of other sizes",
        """
        @tf.function
        def f(x):
            return x * 2.0
        for n in range(1, 8):
            f(tf.zeros([n, 3]))
        """,
        says=(r"the shape of 'x' was \(\d, 3\) and is now \(\d, 3\)", r"\[None, 3\]"),
        paste=True,
    ),
    Program(
        "batches of other sizes, relaxed",
        """
        @tf.function
        def f(x):
            return x * 2.0
        for n in range(1, 8):
            f(tf.zeros([n, 3]))
        """,
        says=(r"reduce_retracing=True",),
        change=(("@tf.function", "@tf.function(reduce_retracing=True)"),),
        traces=2,
    ),
    Program(
        "sizes beside a flag that stays",
        """
        @tf.function
        def f(x, training):
            return x * 2.0 if training else x
        for n in range(1, 8):
            f(tf.zeros([n, 3]), True)
        """,
        says=(r"the shape of 'x' was \(\d, 3\)",),
        never=(r"input_signature=",),
        paste=True,
        traces=2,
    ),
    Program(
        "other ranks",
        """
        @tf.function
        def f(x):
            return x * 2.0
        for rank in range(1, 7):
            f(tf.zeros([2] * rank))
        """,
        says=(r"the shape of 'x' was \(2,.*\) and is now \(2, 2,.*\)",),
        paste=True,
    ),
    Program(
        "two arguments of which one changes",
        """
        @tf.function
        def f(x, w):
            return x @ w
        for n in range(1, 8):
            f(tf.zeros([n, 3]), tf.zeros([3, 2]))
        """,
        says=(r"\[None, 3\]", r"\[3, 2\]"),
        paste=True,
    ),
    Program(
        "float64 of NumPy beside float32",
        """
        @tf.function
        def f(x):
            return x * 2
        for i in range(3):
            f(tf.ones([3]))
            f(np.ones([3]))
        """,
        says=(
            r"the dtype of 'x' was float32 and is now float64",
            r"tf\.cast\(x, tf\.float64\)",
        ),
        change=(("f(tf.ones([3]))", "f(tf.cast(tf.ones([3]), tf.float64))"),),
        warns=False,
    ),
    Program(
        "ints beside floats",
        """
        @tf.function
        def f(x):
            return x * 2
        f(tf.constant([1, 2]))
        f(tf.constant([1.5, 2.5]))
        """,
        says=(
            r"the dtype of 'x' was int32 and is now float32",
            r"tf\.cast\(x, tf\.float64\)",
        ),
        change=(("f(tf.constant([1", "f(tf.constant([1"),),
        traces=2,
        warns=False,
        never=(r"tf\.cast\(x, tf\.int32\)", r"tf\.cast\(x, tf\.float32\)"),
    ),
    Program(
        "shapes that were relaxed",
        """
        @tf.function(reduce_retracing=True)
        def f(x):
            return x * 2.0
        for n in range(1, 8):
            f(tf.zeros([n, 3]))
        """,
        says=(
            r"the shape of 'x' was \(1, 3\) and is now \(2, 3\)",
            r"reduce_retracing.* \(None, 3\)",
        ),
        paste=True,
        warns=False,
    ),
    Program(
        "None and a tensor",
        """
        @tf.function
        def f(x, mask=None):
            return x if mask is None else x * mask
        f(tf.ones([3]))
        f(tf.ones([3]), tf.ones([3]))
        """,
        says=(
            r"'mask' was None and is now a float32 tensor of shape \(3,\)",
            r"tf\.zeros\(\[3\], tf\.float32\)",
        ),
        change=(("f(tf.ones([3]))", "f(tf.ones([3]), tf.zeros([3], tf.float32))"),),
        warns=False,
    ),
    Program(
        "a list and a tensor",
        """
        @tf.function
        def f(x):
            return tf.reduce_sum(x)
        f([1.0, 2.0])
        f(tf.constant([1.0, 2.0]))
        """,
        says=(
            r"'x' was a list of 2 and is now a float32 tensor of shape \(2,\)",
            r"tf\.constant\(x\)",
        ),
        change=(("f([1.0, 2.0])", "f(tf.constant([1.0, 2.0]))"),),
        warns=False,
    ),
    # --- containers ------------------------------------------------------------------------------
    Program(
        "a list of tensors that grows",
        """
        @tf.function
        def f(xs):
            return tf.reduce_sum(tf.stack(xs) if isinstance(xs, list) else xs)
        xs = []
        for i in range(7):
            xs.append(tf.constant(float(i)))
            f(xs)
        """,
        says=(
            r"the list 'xs' had \d items? and has now \d",
            r"tf\.stack\(xs\)",
        ),
        paste=True,
        change=(("            f(xs)", "            f(tf.stack(xs))"),),
    ),
    Program(
        "a list of Python numbers that grows",
        """
        @tf.function
        def f(xs):
            return tf.reduce_sum(xs)
        xs = []
        for i in range(7):
            xs.append(float(i))
            f(xs)
        """,
        says=(r"the list 'xs' had \d items? and has now \d", r"tf\.constant\(xs\)"),
        paste=True,
    ),
    Program(
        "a number in a list",
        """
        @tf.function
        def f(xs):
            return xs[0] * xs[1]
        for i in range(1, 7):
            f([tf.ones([2]), float(i)])
        """,
        says=(r"the value of 'xs\[1\]' was \d\.0 and is now \d\.0", r"tf\.constant\(\d\.0\)"),
        paste=True,
    ),
    Program(
        "dictionaries with other keys",
        """
        @tf.function
        def f(batch):
            return batch["x"] * 2.0
        f({"x": tf.ones([2])})
        f({"x": tf.ones([2]), "weight": tf.ones([2])})
        f({"x": tf.ones([2]), "label": tf.ones([2])})
        """,
        says=(r"'batch'.* gained the key 'weight'", r"the same keys in every call"),
        change=(
            ('f({"x": tf.ones([2])})', 'f({"x": tf.ones([2]), "weight": tf.ones([2])})'),
            ("label", "weight"),
        ),
        warns=False,
    ),
    Program(
        "a shape in a dictionary",
        """
        @tf.function
        def f(batch):
            return batch["x"] * 2.0
        for n in range(1, 8):
            f({"x": tf.ones([n, 2]), "y": tf.ones([3], tf.int32)})
        """,
        says=(r"the shape of \"batch\['x'\]\" was \(\d, 2\)", r"'y': tf\.TensorSpec\(\[3\]"),
        paste=True,
    ),
    Program(
        "tuples against lists",
        """
        @tf.function
        def f(pair):
            return pair[0] + pair[1]
        f((tf.ones([2]), tf.ones([2])))
        f([tf.ones([2]), tf.ones([2])])
        """,
        says=(r"'pair' was a tuple of 2 and is now a list of 2", r"pass a tuple"),
        change=(("f([tf.ones([2]), tf.ones([2])])", "f(tuple([tf.ones([2]), tf.ones([2])]))"),),
        warns=False,
    ),
    Program(
        "more and more arguments",
        """
        @tf.function
        def f(*parts):
            return sum(parts)
        for n in range(1, 8):
            f(*[tf.ones([2])] * n)
        """,
        says=(r"\*parts had \d items? and has now \d", r"tf\.stack\(parts\)"),
        change=(
            ("def f(*parts)", "def f(parts)"),
            ("sum(parts)", "tf.reduce_sum(parts, 0)"),
            ("f(*[tf.ones([2])] * n)", "f(tf.stack([tf.ones([2])] * n))"),
            ("@tf.function", "@tf.function(reduce_retracing=True)"),
        ),
        traces=2,
    ),
    Program(
        "keyword arguments with other names",
        """
        @tf.function
        def f(**parts):
            return sum(parts.values())
        for n in range(1, 8):
            f(**{f"part_{n}": tf.ones([2])})
        """,
        says=(
            r"\*\*parts.* gained the key 'part_\d' and lost 'part_\d'",
            r"the same keys in every call",
        ),
        change=(('f"part_{n}"', '"part"'),),
    ),
    Program(
        "a named tuple with a number",
        """
        import collections
        Step = collections.namedtuple("Step", ["x", "number"])
        @tf.function
        def f(step):
            return step.x * step.number
        for i in range(6):
            f(Step(tf.ones([2]), float(i)))
        """,
        says=(r"the value of 'step\.number' was \d\.0 and is now \d\.0", r"tf\.constant\(\d\.0\)"),
        change=(("float(i))", "tf.constant(float(i)))"),),
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_cause_is_named_and_the_remedy_works(program: Program) -> None:
    assert outcome(program) == []


def test_names_are_told_once() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) > 25


def test_dictionaries_in_another_order_are_one_trace() -> None:
    run = Run(
        """
        f = tf.function(lambda d: d["a"] + d["b"])
        f({"a": tf.ones([2]), "b": tf.ones([2])})
        f({"b": tf.ones([2]), "a": tf.ones([2])})
        f({"a": float("nan"), "b": 1.0})
        f({"b": 1.0, "a": float("nan")})
        """
    )
    assert len(re.findall("why:", run.explained())) == 2
