"""Story 3: what happens while tracing, and what happens each time."""

from __future__ import annotations

import sys
from typing import Any

from telling import Story, run_alone

import weft as tf

TITLE = "3. Side effects: once while tracing, or every time"
seen: list[Any] = []


@tf.function
def announce(x: tf.Tensor) -> None:
    """Prints in two ways, and notes its argument in two ways."""
    print("traced with", x)
    tf.print("called with", x, output_stream=sys.stdout)
    seen.append("traced")
    tf.py_function(lambda value: seen.append(value.numpy().item()), inp=[x], Tout=[])


@tf.function
def next_of_python(iterator: Any, x: tf.Tensor) -> tf.Tensor:
    """Takes from a Python iterator: once, while tracing."""
    return x + next(iterator)


@tf.function
def next_of_dataset(iterator: Any, x: tf.Tensor) -> tf.Tensor:
    """Takes from a dataset's iterator: in every call."""
    return x + next(iterator)


@tf.function
def running_sums(x: tf.Tensor) -> tf.Tensor:
    """Collects the results of a loop, whose length nobody knows while tracing."""
    sums = tf.TensorArray(x.dtype, size=0, dynamic_size=True)
    total = tf.zeros([], x.dtype)
    for i in tf.range(tf.size(x)):
        total += x[i]
        sums = sums.write(i, total)
    return sums.stack()


@tf.function
def running_sums_in_a_list(x: tf.Tensor) -> tf.Tensor:
    """The same with a list, which AutoGraph turns into a TensorArray."""
    sums = []
    total = tf.zeros([], x.dtype)
    for item in x:
        total += item
        sums.append(total)
    return tf.stack(sums)


def tell(story: Story) -> None:
    """Calls functions with side effects three times."""
    story.say("print and list.append are Python: they run while tracing. tf.print and "
              "tf.py_function are part of the graph: they run in every call.")  # fmt: skip
    with story.listening("three calls"):
        for i in range(3):
            announce(tf.constant(i))
    story.show(f"seen = {seen}")

    story.say("A Python iterator moves on while tracing only; that of a dataset in every call.")
    python, dataset = iter(range(10)), iter(tf.data.Dataset.range(10))
    zero = tf.constant(0, tf.int64)
    story.show(
        f"Python:  {[int(next_of_python(python, zero)) for _ in range(4)]}\n"
        f"Dataset: {[int(next_of_dataset(dataset, zero)) for _ in range(4)]}"
    )

    story.say("Results of a loop go into a TensorArray; a list that grows becomes one by itself.")
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    story.show(f"{running_sums(x).numpy()}\n{running_sums_in_a_list(x).numpy()}")
    story.graph(running_sums.get_concrete_function(x), "running sums in a TensorArray")
    many = tf.range(200, dtype=tf.float32)
    story.compare("running sums, 200 steps", running_sums.python_function, many)


if __name__ == "__main__":
    run_alone(tell, TITLE)
