"""Retraces because of objects, variables and functions that are made anew, and what can be done."""

from __future__ import annotations

import pytest
from tests.support.explained import Program, outcome

PROGRAMS = [
    # --- objects ---------------------------------------------------------------------------------
    Program(
        "a lambda per call",
        """
        @tf.function
        def f(x, activation):
            return activation(x)
        for i in range(6):
            f(tf.ones([2]), lambda t: t * 2.0)
        """,
        says=(
            r"'activation' was the function <lambda> \(program\.py:8\).* and is now another one",
            r"[Cc]reate it once, outside",
        ),
        never=(r"__eq__",),
        change=(
            ("for i", "double = lambda t: t * 2.0\n        for i"),
            ("[2]), lambda t: t * 2.0)", "[2]), double)"),
        ),
    ),
    Program(
        "a partial per call",
        """
        import functools
        def scaled(x, by):
            return x * by
        @tf.function
        def f(x, activation):
            return activation(x)
        for i in range(6):
            f(tf.ones([2]), functools.partial(scaled, by=2.0))
        """,
        says=(r"'activation' was functools\.partial\(", r"[Cc]reate it once, outside"),
        never=(r"__eq__",),
        change=(
            ("for i", "double = functools.partial(scaled, by=2.0)\n        for i"),
            ("[2]), functools.partial(scaled, by=2.0))", "[2]), double)"),
        ),
    ),
    Program(
        "a new object per call",
        """
        class Config:
            rate = 0.5
            def __repr__(self):
                return "Config(rate=0.5)"
        @tf.function
        def f(x, config):
            return x * config.rate
        for i in range(6):
            f(tf.ones([2]), Config())
        """,
        says=(
            r"'config' was Config\(rate=0\.5\), which is gone,? and is now Config\(rate=0\.5\)",
            r"[Cc]reate it once, outside",
        ),
        never=(r"__eq__",),
        change=(
            ("for i", "config = Config()\n        for i"),
            ("[2]), Config())", "[2]), config)"),
        ),
    ),
    Program(
        "temporaries that are equal",
        """
        class Config:
            rate = 0.5
            def __eq__(self, other):
                return isinstance(other, Config)
            def __hash__(self):
                return 1
        @tf.function
        def f(x, config):
            return x * config.rate
        for i in range(6):
            f(tf.ones([2]), Config())
        """,
        says=(r"'config' was <.*Config object.*>, which is gone", r"[Cc]reate it once, outside"),
        never=(r"give .*__eq__",),
        change=(
            ("for i", "config = Config()\n        for i"),
            ("[2]), Config())", "[2]), config)"),
        ),
    ),
    Program(
        "objects that live and are alike",
        """
        class Config:
            rate = 0.5
        @tf.function
        def f(x, config):
            return x * config.rate
        configs = [Config() for _ in range(6)]
        for config in configs:
            f(tf.ones([2]), config)
        """,
        says=(r"'config' was <.*Config object.*> and is now <.*Config object", r"__eq__"),
        change=(
            (
                "class Config:",
                """class Config:
            def __eq__(self, other):
                return True
            def __hash__(self):
                return 1""",
            ),
        ),
    ),
    Program(
        "a frozen dataclass with a number",
        """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class Options:
            x: tf.Tensor
            rate: float
        @tf.function
        def f(options):
            return options.x * options.rate
        for i in range(6):
            f(Options(tf.ones([2]), float(i)))
        """,
        says=(
            r"the value of 'options\.rate' was \d\.0 and is now \d\.0",
            r"tf\.constant\(\d\.0\)",
        ),
        change=(("float(i))", "tf.constant(float(i)))"),),
    ),
    Program(
        "a dataclass that is not frozen",
        """
        import dataclasses
        @dataclasses.dataclass(eq=False)
        class Options:
            rate: float
        @tf.function
        def f(x, options):
            return x * options.rate
        for i in range(6):
            f(tf.ones([2]), Options(0.5))
        """,
        says=(r"'options' was .*Options\(rate=0\.5\), which is gone", r"frozen=True"),
        change=(("(eq=False)", "(frozen=True)"),),
    ),
    Program(
        "a dataclass of objects",
        """
        import dataclasses
        class Inner:
            rate = 0.5
        @dataclasses.dataclass(eq=False)
        class Options:
            inner: Inner
        @tf.function
        def f(x, options):
            return x * options.inner.rate
        for i in range(6):
            f(tf.ones([2]), Options(Inner()))
        """,
        says=(r"'options' was .*Options\(inner=.*\), which is gone", r"[Cc]reate it once, outside"),
        never=(r"frozen=True",),  # its field is a new object each time
        change=(
            ("for i", "options = Options(Inner())\n        for i"),
            ("Options(Inner()))\n        ", "options)\n        "),
        ),
    ),
    Program(
        "functions of a library",
        """
        @tf.function
        def f(x, activation):
            return activation(x)
        f(tf.ones([2]), tf.nn.relu)
        f(tf.ones([2]), tf.tanh)
        """,
        says=(
            r"'activation' was the function relu \(.*\) and is now the function tanh",
            r"each one has a trace of its own; pass only a few",
        ),
        change=(("tf.tanh", "tf.nn.relu"),),
        warns=False,
    ),
    Program(
        "the method of another instance",
        """
        class Layer:
            def __init__(self, name):
                self.name = name
            def __repr__(self):
                return f"Layer({self.name!r})"
            def apply(self, x):
                return x * 2.0
        first, second = Layer("first"), Layer("second")
        @tf.function
        def f(x, layer):
            return layer(x)
        f(tf.ones([2]), first.apply)
        f(tf.ones([2]), second.apply)
        """,
        says=(
            r"'layer' was the method apply of Layer\('first'\) and is now .* of Layer\('second'\)",
            r"each instance has a trace of its own",
        ),
        change=(("second.apply", "first.apply"),),
        warns=False,
    ),
    # --- variables -------------------------------------------------------------------------------
    Program(
        "one variable twice",
        """
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        @tf.function
        def f(x, y):
            return x + y
        f(a, b)
        f(a, a)
        """,
        says=(
            r"'x' and 'y' were two variables and are one now",
            r"pass two variables",
        ),
        change=(("f(a, a)", "f(a, tf.Variable(1.0))"),),
        warns=False,
    ),
    Program(
        "variables of other shapes",
        """
        variables = [tf.Variable(tf.zeros([n])) for n in range(1, 8)]
        @tf.function
        def f(v):
            return v * 2.0
        for v in variables:
            f(v)
        """,
        says=(
            r"the shape of 'v' was \(\d,\) and is now \(\d,\)",
            r"pass its value, v\.value\(\)",
        ),
        change=(
            ("            f(v)", "            f(v.value())"),
            ("@tf.function", "@tf.function(reduce_retracing=True)"),
        ),
        traces=2,
    ),
    Program(
        "a variable and a tensor",
        """
        v = tf.Variable([1.0, 2.0])
        @tf.function
        def f(x):
            return x * 2.0
        f(v)
        f(tf.constant([1.0, 2.0]))
        """,
        says=(
            r"'x' was a float32 variable of shape \(2,\) and is now a float32 tensor",
            r"x\.value\(\)",
        ),
        change=(("f(v)", "f(v.value())"),),
        warns=False,
    ),
    Program(
        "a variable that is trained no more",
        """
        a, b = tf.Variable([1.0]), tf.Variable([1.0], trainable=False)
        @tf.function
        def f(v):
            return v * 2.0
        f(a)
        f(b)
        """,
        says=(r"'v' was trainable and is not trainable now",),
        change=((", trainable=False", ""),),
        warns=False,
    ),
    # --- composites ------------------------------------------------------------------------------
    Program(
        "ragged tensors with other numbers of rows",
        """
        @tf.function
        def f(x):
            return tf.reduce_sum(x)
        for n in range(1, 8):
            f(tf.ragged.constant([[1.0, 2.0]] + [[3.0]] * n))
        """,
        says=(r"'x' was .*\[\d, None\].* and is now .*\[\d, None\]", r"tf\.RaggedTensorSpec\("),
        paste=True,
    ),
    Program(
        "sparse tensors of other shapes",
        """
        @tf.function
        def f(x):
            return tf.sparse.reduce_sum(x)
        for n in range(1, 8):
            f(tf.sparse.from_dense(tf.eye(n)))
        """,
        says=(r"'x' was .*\[\d, \d\].* and is now .*\[\d, \d\]", r"tf\.SparseTensorSpec\("),
        paste=True,
    ),
    Program(
        "datasets of other elements",
        """
        @tf.function
        def f(data):
            total = 0.0
            for x in data:
                total += tf.reduce_sum(x)
            return total
        for n in range(1, 8):
            f(tf.data.Dataset.from_tensors(tf.ones([n])))
        """,
        says=(r"'data' was a dataset of .*\(\d,\).* and is now a dataset of .*\(\d,\)",),
        paste=True,
    ),
    Program(
        "a sparse tensor and a dense one",
        """
        @tf.function
        def f(x):
            return tf.sparse.reduce_sum(x) if isinstance(x, tf.SparseTensor) else tf.reduce_sum(x)
        f(tf.sparse.from_dense(tf.eye(2)))
        f(tf.eye(2))
        """,
        says=(
            r"'x' was a sparse float32 tensor of shape \[2, 2\] and is now a float32 tensor",
            r"tf\.sparse\.to_dense\(x\)",
        ),
        change=(("f(tf.sparse.from_dense(tf.eye(2)))", "f(tf.eye(2))"),),
        warns=False,
    ),
    Program(
        "iterators over other elements",
        """
        data = tf.data.Dataset.range(9)
        @tf.function
        def f(iterator):
            return next(iterator)
        f(iter(data))
        f(iter(data.batch(2)))
        """,
        says=(
            r"'iterator' was an iterator over int64 tensors of shape \(\) and is now an iterator",
        ),
        change=(("data.batch(2)", "data"),),
        warns=False,
    ),
    # --- functions made anew ---------------------------------------------------------------------
    Program(
        "a function decorated in a loop",
        """
        for i in range(12):
            @tf.function
            def f(x):
                return x + 1.0
            f(tf.ones([2]))
        """,
        says=(
            r"f \(program\.py:5\) was created and traced \d+ times",
            r"[Cc]reate it once, outside",
        ),
        change=(
            ("for i in range(12):", "if True:"),
            (
                "            f(tf.ones([2]))",
                "            for i in range(12):\n                f(tf.ones([2]))",
            ),
        ),
    ),
    Program(
        "a lambda that is made a function per call",
        """
        def run(x):
            return tf.function(lambda t: t + 1.0)(x)
        for i in range(12):
            run(tf.ones([2]))
        f = tf.function(run)
        """,
        says=(r"<lambda> \(program\.py:5\) was created and traced \d+ times", r"once, outside"),
        change=(
            ("def run(x):", "f = tf.function(lambda t: t + 1.0)\n        def run(x):"),
            ("return tf.function(lambda t: t + 1.0)(x)", "return f(x)"),
            ("        f = tf.function(run)", ""),
        ),
    ),
    Program(
        "a closure made per call",
        """
        def run(x, scale):
            @tf.function
            def f(t):
                return t * scale
            return f, f(x)
        for i in range(12):
            f, _ = run(tf.ones([2]), float(i))
        """,
        says=(
            r"f \(program\.py:\d\) was created and traced \d+ times",
            r"'?scale'?.* (an )?argument",
        ),
        change=(
            (
                "def run(x, scale):",
                """@tf.function
        def f(t, scale):
            return t * scale
        def run(x, scale):""",
            ),
            (
                """            @tf.function
            def f(t):
                return t * scale
""",
                "",
            ),
            ("return f, f(x)", "return f, f(x, tf.constant(scale))"),
        ),
    ),
    Program(
        "a method of new instances",
        """
        class Model:
            def __init__(self, rate):
                self.rate = rate
            @tf.function
            def step(self, x):
                return x * self.rate
        for i in range(12):
            model = Model(0.5)
            model.step(tf.ones([2]))
        f = Model.step
        """,
        says=(
            r"step \(program\.py:\d\) .*12 instances of Model",
            r"[Cc]reate the instance once, outside",
        ),
        change=(
            (
                "for i in range(12):\n            model = Model(0.5)\n",
                "model = Model(0.5)\n        for i in range(12):\n",
            ),
        ),
    ),
    Program(
        "the instances of a class",
        """
        class Model:
            @tf.function
            def step(self, x):
                return x * 2.0
        models = [Model() for _ in range(3)]
        for model in models:
            model.step(tf.ones([2]))
            model.step(tf.ones([3]))
        f = Model.step
        """,
        says=(
            r"3 instances",
            r"6 traces",
            r"\(2,\) and is now \(3,\)",
            r"input_signature|reduce_re",
        ),
        traces=3,
        warns=False,
        paste=True,
    ),
    Program(
        "a function inside of a function",
        """
        @tf.function
        def f(x, n):
            return x * float(n)
        @tf.function
        def outer(x):
            for i in [1, 2, 3, 4, 5, 6]:
                x = f(x, i)
            return x
        outer(tf.ones([2]))
        """,
        says=(
            r"the value of 'n' was \d and is now \d",
            r"called from .*program\.py:10",
            r"tf\.constant\(\d\)",
        ),
        change=(
            ("x * float(n)", "x * tf.cast(n, tf.float32)"),
            ("f(x, i)", "f(x, tf.constant(i))"),
        ),
        warns=False,
    ),
    Program(
        "a function that uses tensors of the one around it",
        """
        @tf.function
        def outer(x):
            y = x * 2.0
            @tf.function
            def f(t):
                return t + y
            kept.append(f)
            return f(x)
        kept = []
        for n in range(1, 4):
            outer(tf.ones([n]))
        f = kept[-1]
        """,
        says=(r"created and traced 3 times|3 functions were made of this code", r"'y'"),
        change=(
            ("            @tf.function\n            def f(t):\n                return t + y\n", ""),
            (
                "kept = []",
                "kept = []\n        @tf.function\n        def f(t, y):\n            return t + y",
            ),
            ("return f(x)", "return f(x, y)"),
        ),
        traces=3,
        warns=False,
    ),
    Program(
        "traces that were dropped",
        """
        @tf.function(max_traces=2)
        def f(x):
            return x * 2.0
        for i in range(3):
            for n in range(1, 4):
                f(tf.zeros([n]))
        """,
        says=(r"its trace had been dropped.*max_traces=2", r"max_traces=\d"),
        warns=False,
        change=(("max_traces=2", "max_traces=3"),),
        traces=3,
    ),
    # --- what the decorator already says ---------------------------------------------------------
    Program(
        "other arguments of the decorator",
        """
        @tf.function(autograph=False)
        def f(x):
            return x * 2.0
        for n in range(1, 8):
            f(tf.zeros([n, 3]))
        """,
        says=(r"autograph=False",),
        paste=True,
    ),
    Program(
        "an argument by keyword only",
        """
        @tf.function
        def f(*, x):
            return x * 2.0
        for n in range(1, 8):
            f(x=tf.zeros([n, 3]))
        """,
        says=(r"the shape of 'x'",),
        never=(r"input_signature",),
        paste=True,
        traces=2,
    ),
    Program(
        "a method with sizes",
        """
        class Model:
            @tf.function
            def step(self, x, y):
                return x * y
        model = Model()
        for n in range(1, 8):
            model.step(tf.zeros([n]), tf.zeros([n]))
        f = model.step
        """,
        says=(r"the shape of 'x'",),
        paste=True,
    ),
    Program(
        "a default that was left out",
        """
        @tf.function
        def f(x, scale=2.0):
            return x * scale
        for n in range(1, 8):
            f(tf.zeros([n]))
        """,
        says=(r"the shape of 'x'", r"\[None\]"),
        paste=True,
        traces=2,
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_cause_is_named_and_the_remedy_works(program: Program) -> None:
    assert outcome(program) == []
