"""Story 5: Python's if, while and for on tensors, and what AutoGraph says when it cannot."""

from __future__ import annotations

import sys
from typing import Any

from telling import Story, run_alone

import weft as tf

TITLE = "5. AutoGraph: conditionals, loops and their errors"


@tf.function
def fizzbuzz(n: tf.Tensor) -> None:
    """Conditions and a loop on tensors, with a break."""
    for i in tf.range(1, n + 1):
        if i > 15:
            break
        if i % 15 == 0:
            tf.print("FizzBuzz", end=" ", output_stream=sys.stdout)
        elif i % 3 == 0:
            tf.print("Fizz", end=" ", output_stream=sys.stdout)
        elif i % 5 == 0:
            tf.print("Buzz", end=" ", output_stream=sys.stdout)
        else:
            tf.print(i, end=" ", output_stream=sys.stdout)


@tf.function
def collatz_length(n: tf.Tensor) -> tf.Tensor:
    """How many steps until 1, at most 1000."""
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps >= 1000:
            return -1
    return steps


@tf.function
def square_root(x: tf.Tensor) -> tf.Tensor:
    """Newton's method until it stands still."""
    guess = tf.maximum(x, 1.0)
    while tf.abs(guess * guess - x) > 1e-6 * x:
        guess = 0.5 * (guess + x / guess)
    return guess


@tf.function
def only_in_one_branch(x: tf.Tensor) -> tf.Tensor:
    """`y` has no value if the condition is false."""
    if x > 0:
        y = x
    return y


@tf.function
def two_dtypes(x: tf.Tensor) -> Any:
    """The branches do not agree."""
    return 1.5 if x > 0 else tf.constant("negative")


@tf.function
def growing(x: tf.Tensor) -> tf.Tensor:
    """The shape changes from one iteration to the next."""
    while tf.size(x) < 10:
        x = tf.concat([x, x], 0)
    return x


def tell(story: Story) -> None:
    """Runs control flow, then makes each of the usual mistakes."""
    story.say("if, while, for, break and return on tensors become nodes of the graph.")
    with story.listening("FizzBuzz"):
        fizzbuzz(tf.constant(100))
    lengths = [int(collatz_length(tf.constant(n))) for n in (1, 6, 27, 97)]
    story.show(
        f"Collatz lengths {lengths}, traced {collatz_length.experimental_get_tracing_count()} time"
    )
    story.show(tf.autograph.to_code(square_root), "what AutoGraph makes of Newton's method")
    two = tf.constant(2.0)
    story.graph(square_root.get_concrete_function(two), "Newton's method")
    with tf.GradientTape() as tape:
        tape.watch(two)
        root = square_root(two)
    story.show(f"square root of 2: {root.numpy()}, its derivative: {tape.gradient(root, two)}")
    story.say("Mistakes are named with the variable, the line, and what to do.")
    for wrong, value in ((only_in_one_branch, -1.0), (two_dtypes, 1.0), (growing, [1.0])):
        story.failure(lambda wrong=wrong, value=value: wrong(tf.constant(value)))
    story.compare("Collatz length of 27", collatz_length.python_function, tf.constant(27))
    story.compare("Newton's square root", square_root.python_function, two)


if __name__ == "__main__":
    run_alone(tell, TITLE)
