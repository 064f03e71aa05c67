"""Records what the demo needs of TensorFlow: a model that was trained there, and what it gives.

    PATH/bin/python checks/record_demo_models.py

runs in an environment with TensorFlow and Keras and writes examples/recorded/sentiment, a
SavedModel, and examples/recorded/results.json. `--weft FOLDER` adds what TensorFlow gives for a
model that Weft has written (story 10 leaves it in demo/line), at a few points.
"""

import json
import os
import shutil
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.path.dirname(HERE), "examples", "recorded")
GOOD = ["good", "great", "lovely", "fine", "wonderful", "clever", "warm", "funny", "bright"]
BAD = ["bad", "awful", "dull", "weak", "terrible", "boring", "cold", "stupid", "sad", "dark"]
THINGS = ["film", "story", "book", "song", "evening", "place", "dinner", "journey"]
TEXTS = [
    "A wonderful film, and a clever story!",
    "The dinner was cold. The evening: boring.",
    "a great song about a sad journey",
    "Nothing is known of this one.",
]


def sentences(count):
    """Sentences, and whether they praise."""
    rng = np.random.RandomState(0)
    texts, labels = [], []
    for _ in range(count):
        label = rng.randint(2)
        words = rng.choice(GOOD if label else BAD, 2)
        things = rng.choice(THINGS, 2)
        texts.append(f"the {things[0]} was {words[0]} and the {things[1]} {words[1]}")
        labels.append(label)
    return texts, np.array(labels, "float32")


def sentiment(tf, keras):
    """A model of texts, trained and exported; what it gives, and how long a call takes."""
    keras.utils.set_random_seed(1)
    layers = keras.layers
    texts, labels = sentences(400)
    words = layers.TextVectorization(max_tokens=100, output_sequence_length=12)
    words.adapt(tf.constant(texts))
    model = keras.Sequential([
        keras.Input((), dtype="string"), words, layers.Embedding(100, 6, mask_zero=False),
        layers.GlobalAveragePooling1D(), layers.Dense(8, "relu"), layers.Dense(1, "sigmoid"),
    ])  # fmt: skip
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy")
    model.fit(tf.constant(texts), labels, epochs=15, verbose=0)
    path = os.path.join(RECORDED, "sentiment")
    shutil.rmtree(path, ignore_errors=True)
    model.export(path, verbose=False)
    started = time.perf_counter()
    loaded = tf.saved_model.load(path)
    serve = loaded.serve
    given = tf.constant(TEXTS)
    first = serve(given)
    seconds = time.perf_counter() - started
    best = min(_timed(serve, given) for _ in range(300))
    return {
        "texts": TEXTS,
        "results": [round(float(x), 6) for x in first.numpy().reshape(-1)],
        "microseconds": round(best * 1e6),
        "load_seconds": round(seconds, 2),
        "version": tf.__version__,
    }


def _timed(function, *args):
    started = time.perf_counter()
    function(*args)
    return time.perf_counter() - started


def written_by_weft(tf, folder):
    """What TensorFlow gives for a model of Weft's, and its gradient."""
    model = tf.saved_model.load(folder)
    x = tf.constant([[-1.0], [0.0], [2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model(x)
    return {
        "x": x.numpy().tolist(),
        "y": np.round(y.numpy(), 5).tolist(),
        "slope": np.round(tape.gradient(y, x).numpy(), 5).tolist(),
        "version": tf.__version__,
    }


def main():
    """Writes the files."""
    import tensorflow as tf

    import keras

    path = os.path.join(RECORDED, "results.json")
    kept = {}
    if os.path.exists(path):
        with open(path) as file:
            kept = json.load(file)
    if "--weft" in sys.argv:
        kept["line"] = written_by_weft(tf, sys.argv[sys.argv.index("--weft") + 1])
    else:
        kept["sentiment"] = sentiment(tf, keras)
    os.makedirs(RECORDED, exist_ok=True)
    with open(path, "w") as file:
        json.dump(kept, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
