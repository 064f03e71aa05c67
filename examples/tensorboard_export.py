"""Story 8: scalars, histograms and a function's graph for TensorBoard."""

from __future__ import annotations

import shutil
from pathlib import Path

from regression import Training, houses
from telling import Story, run_alone

import weft as tf

TITLE = "8. Exporting to TensorBoard"
LOGS = Path(__file__).resolve().parents[1] / "demo" / "logs"


def tell(story: Story) -> None:
    """Trains the network of story 6 and writes what happens into an event file."""
    shutil.rmtree(LOGS, ignore_errors=True)
    x, y = houses()
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)
    training = Training()
    writer = tf.summary.create_file_writer(str(LOGS / "regression"))
    step = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function
    def logged_step(x: tf.Tensor, y: tf.Tensor) -> None:
        training.eager_step(x, y)
        with tf.summary.record_if(step % 5 == 0):
            tf.summary.scalar("mean loss", training.loss.total / training.loss.count)
            tf.summary.histogram("first layer", training.network.layers[0].w)
        step.assign_add(1)

    story.say(
        "Summaries are ops: in a function they are written each time it runs, here at every "
        "fifth step. The step is a variable, so the graph reads it."
    )
    with writer.as_default(step=step):
        tf.summary.text("about", "The regression of **story 6**.")
        tf.summary.trace_on(graph=True, profiler=True)
        logged_step(*next(iter(data)))
        tf.summary.trace_export("train step", profiler_outdir=str(LOGS / "regression"))
        for batch in data.repeat(20):
            logged_step(*batch)
    writer.close()
    (path,) = (LOGS / "regression").glob("events.out.tfevents.*")
    records = sum(1 for _ in tf.data.TFRecordDataset(str(path)))
    story.show(f"{records} events, {path.stat().st_size:,} bytes")
    story.say("To look at them: pip install tensorboard, then tensorboard --logdir demo/logs")
    concrete = logged_step.get_concrete_function(*next(iter(data)))
    scopes = sorted({n.name.split("/")[0] for n in concrete.graph.nodes if "/" in n.name})
    story.show("\n".join(scopes), "the name scopes that TensorBoard's graph page shows")


if __name__ == "__main__":
    run_alone(tell, TITLE)
