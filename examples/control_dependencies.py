"""Story 4: effects happen in the order of the program; variables are made once."""

from __future__ import annotations

import sys

from telling import Story, run_alone

import weft as tf

TITLE = "4. Automatic control dependencies, and variables"

a = tf.Variable(1.0, name="a")
b = tf.Variable(2.0, name="b")


@tf.function
def in_order(x: tf.Tensor) -> tf.Tensor:
    """Nothing connects these lines but the order in which they stand."""
    a.assign(x * b)
    tf.print("a is", a, output_stream=sys.stdout)
    b.assign_add(a)
    tf.print("b is", b, output_stream=sys.stdout)
    a.assign(0.0)
    return a + b


@tf.function
def new_variable_each_time(x: tf.Tensor) -> tf.Tensor:
    """Wrong: a graph cannot make a variable in every call."""
    v = tf.Variable(1.0)
    return v + x


class Counter(tf.Module):
    """Right: the variable is made in the first call, and kept."""

    def __init__(self) -> None:
        super().__init__()
        self.count: tf.Variable | None = None

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if self.count is None:
            self.count = tf.Variable(tf.zeros_like(x))
        return self.count.assign_add(x)


def tell(story: Story) -> None:
    """Runs functions whose lines depend on each other through variables only."""
    story.say("Reads, writes and prints of a function happen in the order of its lines.")
    with story.listening("two calls"):
        for _ in range(2):
            print("returned", in_order(tf.constant(3.0)).numpy())
    concrete = in_order.get_concrete_function(tf.constant(3.0))
    story.graph(concrete, "red boxes have effects; dashed lines go to what waits for them")

    story.say("Even a write that nobody reads runs; a pure op that nobody uses does not.")
    plan = concrete.graph.plan.source
    story.show(plan, "the generated code of the function")

    story.say("A variable made in every call is refused; one made in the first call is kept.")
    story.failure(lambda: new_variable_each_time(tf.constant(1.0)))
    counter = Counter()
    story.show([float(counter(tf.constant(2.0))) for _ in range(3)])
    story.compare("three assignments", _quiet, tf.constant(3.0))


def _quiet(x: tf.Tensor) -> tf.Tensor:
    """As `in_order`, without printing."""
    a.assign(x * b)
    b.assign(a / x)
    a.assign(0.0)
    return a + b


if __name__ == "__main__":
    run_alone(tell, TITLE)
