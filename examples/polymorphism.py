"""Story 2: one Python function, many graphs - and why each of them was made."""

from __future__ import annotations

from typing import Any

from telling import Story, run_alone

import weft as tf

TITLE = "2. Polymorphism: one function, a graph for each kind of arguments"


@tf.function
def double(a: Any) -> Any:
    """Says when it is traced."""
    print("tracing with", a)
    return a + a


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def mean_square(x: tf.Tensor) -> tf.Tensor:
    """One graph for vectors of every length."""
    return tf.reduce_mean(tf.square(x))


@tf.function
def powers(x: tf.Tensor, count: Any) -> tf.Tensor:
    """A loop that is unrolled if `count` is a Python number, and a node if it is a tensor."""
    total = tf.zeros_like(x)
    for i in tf.range(count) if tf.is_tensor(count) else range(count):
        total += x ** tf.cast(i, x.dtype)
    return total


def tell(story: Story) -> None:
    """Calls functions with many kinds of arguments."""
    story.say("The Python code runs once for each kind of arguments; after that the graph runs.")
    with story.listening("double of 1, 2, 1.5 and 'a'"):
        for value in (1, 2, 1.5, "a"):
            print("   ", double(tf.constant(value)).numpy())
    story.traces(double)

    story.say("A concrete function is one of these graphs. It takes what it was traced for.")
    strings = double.get_concrete_function(tf.TensorSpec([], tf.string))
    story.show(strings)
    story.show(strings(tf.constant("ab")).numpy())
    story.failure(lambda: strings(tf.constant(1)))

    story.say("An input signature allows one graph only; what does not fit is an error.")
    for n in (2, 3, 5):
        mean_square(tf.range(n, dtype=tf.float32))
    story.show(f"{mean_square.experimental_get_tracing_count()} trace for three lengths")
    story.failure(lambda: mean_square(tf.constant([[1.0, 2.0]])))

    story.say(
        "A Python number is part of the program: each value is another graph. After some of them "
        "Weft says which argument it is, and what to do."
    )
    x = tf.constant([1.0, 0.5])
    with story.listening("called with count = 0, 1, ..., 5"):
        for count in range(6):
            powers(x, count)
    story.traces(powers)
    story.say("As a tensor the count is data, and one more graph serves every value.")
    results = [powers(x, tf.constant(count)).numpy()[1] for count in range(6)]
    story.show(f"{[float(r) for r in results]}\n{powers.experimental_get_tracing_count()} traces")
    five = tf.constant(5)
    story.compare("powers, a tensor count", powers.python_function, x, five, traced=powers)


if __name__ == "__main__":
    run_alone(tell, TITLE)
