"""Errors of small programs: the user's thing, expected and got, the line, a fix that works."""

from __future__ import annotations

import re
import traceback

import pytest
from tests.support.explained import Program, Run

PROGRAMS = [
    Program(
        "an int times a float",
        """
        x = tf.constant(5)
        y = x * 1.5
        """,
        says=(r"x has dtype int32, but y has dtype float32", r"tf\.cast\(x, tf\.float32\)"),
        never=(r"tf\.cast\([^)]*tf\.int32",),
        change=(("x * 1.5", "tf.cast(x, tf.float32) * 1.5"),),
    ),
    Program(
        "float32 and float64",
        """
        x, y = tf.constant(5.0), tf.constant(1.5, tf.float64)
        z = x + y
        """,
        says=(r"x has dtype float32, but y has dtype float64", r"tf\.cast\(x, tf\.float64\)"),
        never=(r"tf\.cast\([^)]*tf\.float32",),
        change=(("x + y", "tf.cast(x, tf.float64) + y"),),
    ),
    Program(
        "int32 and int64",
        """
        x, y = tf.constant(5, tf.int64), tf.constant(1)
        z = x + y
        """,
        says=(r"x has dtype int64, but y has dtype int32", r"tf\.cast\(y, tf\.int64\)"),
        never=(r"tf\.cast\([^)]*tf\.int32",),
        change=(("x + y", "x + tf.cast(y, tf.int64)"),),
    ),
    Program(
        "a float for an int variable",
        """
        v = tf.Variable(1)
        v.assign(tf.constant(1.5))
        """,
        says=(r"int32 is wanted", r"float32", r"tf\.round"),
        never=(r"tf\.cast\(x, tf\.int32\)",),
        change=(("tf.constant(1.5)", "tf.cast(tf.round(tf.constant(1.5)), tf.int32)"),),
    ),
    Program(
        "text where numbers are needed",
        """
        total = tf.reduce_sum(tf.constant(["1", "2"]))
        """,
        says=(r"input_tensor has dtype string", r"tf\.strings\.to_number\(input_tensor"),
        change=(('tf.constant(["1", "2"])', 'tf.strings.to_number(tf.constant(["1", "2"]))'),),
    ),
    Program(
        "integers for a softmax",
        """
        y = tf.nn.softmax(tf.constant([1, 2]))
        """,
        says=(r"logits has dtype int32", r"tf\.cast\(logits, tf\.float64\)"),
        change=(("tf.constant([1, 2])", "tf.cast(tf.constant([1, 2]), tf.float64)"),),
    ),
    Program(
        "parts of a list",
        """
        y = tf.concat([tf.ones([2]), tf.ones([2], tf.float64)], 0)
        """,
        says=(r"values\[0\] has dtype float32, but values\[1\]", r"tf\.cast\(values\[0\], tf\.fl"),
        change=(("tf.ones([2]),", "tf.cast(tf.ones([2]), tf.float64),"),),
    ),
    Program(
        "an index that is no integer",
        """
        y = tf.gather(tf.ones([3]), tf.constant(1.0))
        """,
        says=(r"indices has dtype float32", r"tf\.cast\(tf\.round\(indices\), tf\.int32\)"),
        change=(("tf.constant(1.0)", "tf.cast(tf.round(tf.constant(1.0)), tf.int32)"),),
    ),
    Program(
        "missing and unexpected arguments",
        """
        @tf.function
        def f(x, y, scale=1.0):
            return (x + y) * scale
        f(tf.ones([2]), scal=2.0)
        """,
        says=(r"missing argument 'y'", r"unexpected argument 'scal'", r"did you mean 'scale'"),
        change=(("scal=2.0", "y=tf.ones([2]), scale=2.0"),),
    ),
    Program(
        "a concrete function with missing and unexpected arguments",
        """
        @tf.function
        def f(x, y):
            return x + y
        c = f.get_concrete_function(tf.ones([2]), tf.ones([2]))
        c(tf.ones([2]), z=tf.ones([2]))
        """,
        says=(r"missing argument 'y'", r"unexpected argument 'z'"),
        change=(("z=tf.ones([2])", "y=tf.ones([2])"),),
    ),
    Program(
        "too many arguments",
        """
        @tf.function
        def f(x):
            return x
        f(tf.ones([2]), 3)
        """,
        says=(r"2 arguments by position where it takes 1", r"float32\(2,\), 3"),
        change=((", 3)", ")"),),
    ),
    Program(
        "a callback that fails",
        """
        def look(value):
            raise ValueError(f"no good: {value.shape}")
        @tf.function
        def f(x):
            y = x + 1.0
            return tf.py_function(look, [y], tf.float32)
        f(tf.ones([2]))
        """,
        says=(
            r"program\.py\", line 5, in look",
            r"raise ValueError\(f\"no good",
            r"program\.py:9, in f",
            r"return tf\.py_function\(look, \[y\], tf\.float32\)",
        ),
        change=(('raise ValueError(f"no good: {value.shape}")', "return value"),),
    ),
    Program(
        "a NumPy callback that fails",
        """
        def look(value):
            raise KeyError("missing")
        @tf.function
        def f(x):
            return tf.numpy_function(look, [x], tf.float32)
        f(tf.ones([2]))
        """,
        says=(r"line 5, in look", r"program\.py:8, in f", r"tf\.numpy_function\(look"),
        change=(('raise KeyError("missing")', "return value"),),
    ),
    Program(
        "branches of other dtypes",
        """
        @tf.function
        def f(x):
            if x > 0.0:
                y = tf.constant(1)
            else:
                y = tf.constant(1.5)
            return y
        f(tf.constant(1.0))
        """,
        says=(
            r"'y' has dtype int32 in the if branch \(program\.py:7\)",
            r"float32 in the else branch \(program\.py:9\)",
            r"program\.py:6, in f",
            r"[Cc]onvert y in the if branch with tf\.cast\(y, tf\.float32\)",
        ),
        change=(("y = tf.constant(1)\n", "y = tf.cast(tf.constant(1), tf.float32)\n"),),
    ),
    Program(
        "tf.cond with other dtypes",
        """
        @tf.function
        def f(x):
            return tf.cond(x > 0.0, lambda: tf.constant(1, tf.int64), lambda: tf.constant(1))
        f(tf.constant(1.0))
        """,
        says=(
            r"int64 in true_fn and int32 in false_fn",
            r"line 6, in f",
            r"in false_fn with tf\.ca",
        ),
        change=(("tf.constant(1))", "tf.cast(tf.constant(1), tf.int64))"),),
    ),
    Program(
        "a loop whose variable grows",
        """
        @tf.function
        def f(x):
            for i in tf.range(3):
                x = tf.concat([x, x], 0)
            return x
        f(tf.constant([1.0]))
        """,
        says=(
            r"'x' has shape \(1,\) before the loop, but shape \(2,\) after one iteration",
            r"line 6, in f",
        ),
        paste=True,
    ),
    Program(
        "a loop whose matrix grows",
        """
        @tf.function
        def f(rows):
            while tf.shape(rows)[0] < 5:
                rows = tf.concat([rows, tf.zeros([1, 3])], 0)
            return rows
        f(tf.zeros([1, 3]))
        """,
        says=(r"\(rows, tf\.TensorShape\(\[None, 3\]\)\)",),
        paste=True,
    ),
    Program(
        "a loop whose variable changes its dtype",
        """
        @tf.function
        def f(x):
            while tf.reduce_sum(x) < 10:
                x = tf.cast(x, tf.int64) * 2
            return x
        f(tf.constant([1]))
        """,
        says=(r"'x' has dtype int32 before the loop, but dtype int64 after one iteration",),
        never=(r"[Cc]onvert it with tf\.cast",),
        change=(("f(tf.constant([1]))", "f(tf.constant([1], tf.int64))"),),
    ),
    Program(
        "a name that is like no other",
        """
        tf.nothing_like_that
        """,
        says=(r"does not have tf\.nothing_like_that", r"dir\(tf\)"),
        change=(("tf.nothing_like_that", "dir(tf)"),),
    ),
    Program(
        "an import of a name that is not there",
        """
        from weft import nothing_like_that
        """,
        says=(r"ImportError", r"does not have tf\.nothing_like_that", r"dir\(tf\)"),
        change=(("from weft import nothing_like_that", "dir(tf)"),),
    ),
    Program(
        "an import with a slip",
        """
        from weft.nn import reluu
        """,
        says=(r"ImportError", r"nearest name is 'relu'"),
        change=(("reluu", "relu"),),
    ),
    Program(
        "a function that is elsewhere",
        """
        tf.relu(tf.ones([2]))
        """,
        says=(r"it has tf\.nn\.relu",),
        change=(("tf.relu", "tf.nn.relu"),),
    ),
    Program(
        "a dataclass that is not frozen",
        """
        import dataclasses
        @dataclasses.dataclass
        class Options:
            rate: float
        @tf.function
        def f(x, options):
            return x * options.rate
        f(tf.ones([2]), Options(0.5))
        """,
        says=(
            r"the argument 'options' holds a Options",
            r"make Options a @dataclass\(frozen=True\)",
        ),
        change=(("@dataclasses.dataclass", "@dataclasses.dataclass(frozen=True)"),),
    ),
    Program(
        "a signature that does not fit",
        """
        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def f(batch):
            return batch
        f(tf.ones([2, 4]))
        """,
        says=(r"the argument 'batch' must be float32 of shape \(None, 3\)", r"got float32\(2, 4\)"),
        change=(("[None, 3]", "[None, None]"),),
    ),
]


def outcome(program: Program) -> list[str]:
    """What is wrong with the error of a program; the fix must make it run."""
    run = Run(program.text)
    if run.error is None:
        return ["there is no error"]
    said = "".join(traceback.format_exception(run.error))
    found = [f"does not say: {part}" for part in program.says if not re.search(part, said)]
    found += [f"must not say: {part}" for part in program.never if re.search(part, said)]
    if found:
        return [*found, said]
    text = program.text
    if program.paste:
        advised = re.findall(r"tf\.autograph\.experimental\.set_loop_options\(.*\)", said)[-1]
        text = re.sub(r"(\n( +)(?:for|while) [^\n]*:)", rf"\1\n\2    {advised}", text)
    for old, new in program.change:
        assert old in text, old
        text = text.replace(old, new)
    after = Run(text)
    return [] if after.error is None else [f"the fix fails: {after.error}", text]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_error_says_what_to_do(program: Program) -> None:
    assert outcome(program) == []
