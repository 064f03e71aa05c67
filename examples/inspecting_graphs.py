"""Story 7: what is in a graph, and how its size depends on how a loop is written."""

from __future__ import annotations

from collections import Counter
from typing import Any

from telling import Story, run_alone

import weft as tf

TITLE = "7. Looking into graphs: a dataset against a Python list"

w = tf.Variable(0.5, name="w")


@tf.function
def train(batches: Any) -> tf.Tensor:
    """One pass over something that can be iterated over."""
    total = tf.constant(0.0)
    for x in batches:
        with tf.GradientTape() as tape:
            loss = tf.square(w * x - 1.0)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        total += loss
    return total


@tf.function
def wasteful(x: tf.Tensor) -> tf.Tensor:
    """Work that the passes find: done twice, unused, known beforehand."""
    unused = tf.exp(x)
    del unused
    scale = tf.constant(2.0) * 3.0 + 1.0
    return tf.sin(x) * scale + tf.sin(x) * scale


def tell(story: Story) -> None:
    """Counts nodes."""
    story.say("A Python list is unrolled: the graph grows with it. A dataset is one loop node.")
    rows = []
    for n in (1, 10, 100):
        values = [tf.constant(float(i)) for i in range(n)]
        unrolled = train.get_concrete_function(values).graph
        loop = train.get_concrete_function(tf.data.Dataset.from_tensor_slices(values)).graph
        rows.append(
            f"{n:>4} elements: list {len(unrolled.nodes):>5} nodes, dataset {len(loop.nodes)}"
        )
    story.show("\n".join(rows), "the number of nodes")
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
    concrete = train.get_concrete_function(dataset)
    story.graph(concrete, "a training loop over a dataset")
    ops = Counter(node.op for node in concrete.graph.as_graph_def().node)
    story.show("\n".join(f"{count:>4} {op}" for op, count in ops.most_common()), "ops by kind")

    story.say("A graph is text, a list of operations, a GraphDef; and the code that runs it.")
    concrete = wasteful.get_concrete_function(tf.TensorSpec([None]))
    story.show(concrete.graph, "as it was traced")
    wasteful(tf.constant([1.0, 2.0]))
    wasteful_plan = concrete.graph.plan.source
    story.show(wasteful_plan, "the code after the passes: nothing twice, nothing unused")
    x = tf.range(1000, dtype=tf.float32)
    story.compare("sums of sines, 1,000 points", wasteful.python_function, x)


if __name__ == "__main__":
    run_alone(tell, TITLE)
