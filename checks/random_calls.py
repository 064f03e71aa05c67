"""Ten random calls of each public function, in Weft and in TensorFlow: values, dtypes, errors.

    python checks/random_calls.py calls CALLS                          # with Weft
    PYTHON_WITH_TENSORFLOW checks/random_calls.py record CALLS RESULTS  # in TensorFlow
    python checks/random_calls.py compare RESULTS                           # with Weft
    python checks/random_calls.py known > checks/random_calls_known.txt     # with Weft

A call is a valid one of `tests/robustness` or of `random_calls_more.py` with its arrays changed:
drawn anew, of other dtypes, longer, with one axis more, empty, with NaN and infinities. Some are
errors then: their class is compared. The results of TensorFlow 2.21 are kept in
`checks/random_calls.json.gz`; `compare` makes the calls again. What differs is listed in
`checks/random_calls_known.txt` with the reason (`random_calls_reasons.py`), and a test sees that
nothing is added to it.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import os
import pickle
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
KEPT = HERE / "random_calls.json.gz"
PATIENCE = 20  # seconds
MOST = 48  # elements of which a result is kept as it is
DIGITS = {"float16": 2, "bfloat16": 1, "float32": 4, "complex64": 4}  # that must agree
WIDER = {"float32": "float64", "complex64": "complex128", "int32": "int64"}
# Functions whose values are drawn, or are right up to signs: dtypes and shapes are compared.
DRAWN = (
    "random.", "nn.dropout", "image.random", "image.sample", "image.stateless_sample",
    "nn.fixed_unigram", "nn.learned_unigram", "nn.fractional", "nn.log_uniform",
    "nn.uniform_candidate", "timestamp", "eig", "linalg.eig", "linalg.qr", "linalg.svd",
    "experimental.numpy.random.", "experimental.numpy.empty",
)  # fmt: skip


# --- calls --------------------------------------------------------------------------------------


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """A nest of lists, tuples and dicts with its arrays changed."""
    if isinstance(value, dict):
        return {key: mapped(change, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(mapped(change, item) for item in value)
    return change(value) if isinstance(value, np.ndarray) else value


def redrawn(rng: np.random.Generator) -> Callable[[Any], Any]:
    """Other values between the least and the largest."""

    def change(a: Any) -> Any:
        if not a.size or a.dtype.names:
            return a
        if a.dtype.kind == "b":
            return rng.random(a.shape) < 0.5
        if a.dtype.kind in "iu":
            return rng.integers(int(a.min()), int(a.max()) + 1, a.shape).astype(a.dtype)
        if a.dtype.kind == "f":
            return rng.uniform(a.min(), a.max(), a.shape).astype(a.dtype)
        return rng.permutation(a.reshape(-1)).reshape(a.shape)

    return change


def with_special_values(rng: np.random.Generator) -> Callable[[Any], Any]:
    """NaN, infinities, zeros and large numbers at some places."""

    def change(a: Any) -> Any:
        if a.dtype.kind != "f" or not a.size:
            return a
        special = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e-30], a.shape)
        with np.errstate(over="ignore"):
            return np.where(rng.random(a.shape) < 0.3, special, a).astype(a.dtype)

    return change


def of_floats(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change of arrays of floats that have an axis."""
    return lambda a: change(a) if a.dtype.kind in "fc" and a.ndim else a


def variants(name: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Ten calls that are made of a valid one."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    changes: list[Callable[[Any], Any]] = [
        lambda a: a,
        redrawn(rng), redrawn(rng), redrawn(rng),
        lambda a: a.astype(WIDER.get(a.dtype.name, a.dtype)) if not a.dtype.names else a,
        lambda a: a.astype(np.float16) if a.dtype == np.float32 else a,
        of_floats(lambda a: np.concatenate([a, a])),
        with_special_values(rng),
        of_floats(lambda a: a[:0]),
        of_floats(lambda a: np.stack([a, a[::-1]])),
    ]  # fmt: skip
    for change in changes:
        yield mapped(change, arguments)


def plain(value: Any) -> Any:
    """A value that both libraries can make of plain parts; LookupError if there is none."""
    kind = type(value).__name__
    if isinstance(value, (dict, list, tuple)) and not hasattr(value, "_fields"):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = {key: plain(item) for key, item in items}
        return made if isinstance(value, dict) else type(value)(made.values())
    if kind == "DType":
        return _Made("dtype", value.name)
    if kind == "TensorShape":
        return _Made("shape", value.as_list() if value.rank is not None else None)
    if kind == "SparseTensor":
        parts = [value.indices.numpy(), value.values.numpy(), value.dense_shape.numpy()]
        return _Made("sparse", parts)
    if kind == "RaggedTensor":
        parts = [value.flat_values.numpy(), [s.numpy() for s in value.nested_row_splits]]
        return _Made("ragged", parts)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcO":
        return value
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, slice)):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value
    raise LookupError(kind)


class _Made:
    """Something that a library makes of plain parts."""

    def __init__(self, kind: str, parts: Any) -> None:
        self.kind, self.parts = kind, parts

    def of(self, tf: Any) -> Any:
        """The object of one library."""
        if self.kind == "dtype":
            return tf.as_dtype(self.parts)
        if self.kind == "shape":
            return tf.TensorShape(self.parts)
        if self.kind == "sparse":
            return tf.SparseTensor(*self.parts)
        return tf.RaggedTensor.from_nested_row_splits(*self.parts)


def made(tf: Any, value: Any) -> Any:
    """The arguments of a call for one library; arrays become tensors."""
    if isinstance(value, _Made):
        return value.of(tf)
    if isinstance(value, np.ndarray):
        return tf.constant(value)
    if isinstance(value, dict):
        return {key: made(tf, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(made(tf, item) for item in value)
    return value


def of_the_repository(name: str) -> Any:
    """A module of the tests or of the checks."""
    for path in (HERE.parent, HERE.parent / "tests"):
        if str(path) not in sys.path:
            sys.path.insert(0, str(path))
    return importlib.import_module(name)


def valid_calls() -> dict[str, dict[str, Any]]:
    """A valid call of each function: its name -> its arguments."""
    tables = of_the_repository("robustness.test_bad_input").VALID
    rows = of_the_repository("robustness.test_bad_input_numpy").ROWS
    more = of_the_repository("checks.random_calls_more").CALLS
    return tables | {f"experimental.numpy.{name}": given for name, given in rows.items()} | more


def found_in(tf: Any, name: str) -> Any:
    """The function of that name."""
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    return function


def split_up(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[list[Any], Any]:
    """Arguments by place, of functions that take any number of these, and those by name."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    if not names:
        return [], arguments
    rest = dict(arguments)
    first = [rest.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return [*first, *rest.pop(names[0], ())], rest


def all_calls() -> dict[str, tuple[str, list[Any], Any]]:
    """All calls: a key -> the function and its arguments, by place and by name."""
    tf = importlib.import_module("weft")
    out = {}
    for name, arguments in sorted(valid_calls().items()):
        function = found_in(tf, name)
        for number, variant in enumerate(variants(name, arguments)):
            try:
                out[f"{name}#{number}"] = name, *split_up(function, plain(variant))
            except LookupError:
                continue
    return out


# --- results ------------------------------------------------------------------------------------


def outcome(tf: Any, name: str, places: list[Any], names: Any) -> list[Any]:
    """What a call gives: ["ok", a description of each tensor] or ["error", names of classes]."""
    try:
        function = found_in(tf, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*made(tf, places), **made(tf, names))
        return ["ok", [described(tf, leaf) for leaf in tf.nest.flatten(result, True)]]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is compared
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return ["error", kinds, str(error)[:160]]


def described(tf: Any, leaf: Any) -> list[Any]:
    """A tensor as its dtype, shape and values (of large ones: sums and some of them)."""
    if not isinstance(leaf, tf.Tensor):
        return ["no tensor"]
    try:
        values = np.asarray(leaf.numpy())
    except Exception:  # noqa: BLE001 - a handle: of a list, a dataset, a resource
        return ["Tensor", leaf.dtype.name, list(leaf.shape)]
    if values.dtype.kind == "O":
        return [leaf.dtype.name, list(values.shape), [repr(v) for v in values.reshape(-1)[:MOST]]]
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    flat = values.reshape(-1).astype(np.float64)
    if flat.size > MOST:
        finite = flat[np.isfinite(flat)]
        ends = [flat.size - finite.size, finite.sum(), np.abs(finite).sum()]
        flat = np.concatenate([ends, flat[:MOST]])
    return [leaf.dtype.name, list(leaf.shape), [float(f"{v:.8g}") for v in flat]]


def agree(wanted: list[Any], found: list[Any], with_values: bool) -> str:
    """What differs between the outcome of TensorFlow and that of Weft; "" if nothing does."""
    if wanted[0] != found[0]:
        return "only Weft fails" if found[0] == "error" else "only TensorFlow fails"
    if wanted[0] == "error":
        return "" if wanted[1][0] in found[1] else "class of error"
    if len(wanted[1]) != len(found[1]):
        return "number of results"
    for a, b in zip(wanted[1], found[1], strict=True):
        if len(a) != len(b) or a[:1] != b[:1]:
            return "dtype"
        if a[1:2] != b[1:2]:
            return "shape"
        if with_values and len(a) > 2 and not same_values(a[0], a[2], b[2]):
            return "value"
    return ""


def same_values(dtype: str, a: list[Any], b: list[Any]) -> bool:
    """Whether numbers agree to the digits of their dtype, beside the largest of them."""
    if a and isinstance(a[0], str):
        return a == b
    x, y = np.array(a, np.float64), np.array(b, np.float64)
    finite = np.isfinite(x)
    if x.shape != y.shape:
        return False
    if not np.array_equal(np.where(finite, 0, x), np.where(np.isfinite(y), 0, y), equal_nan=True):
        return False
    if not dtype.startswith(("float", "complex", "bfloat")):
        return bool(np.array_equal(x, y))
    tolerance = 10.0 ** -DIGITS.get(dtype, 7)
    x, y = x[finite], y[finite]
    with np.errstate(over="ignore"):
        allowed = tolerance * (np.abs(x) + np.abs(x).max(initial=0) * 0.1 + 1e-30)
        return bool((np.abs(x - y) <= allowed).all())


# --- the three steps ----------------------------------------------------------------------------


def write(path: str) -> None:
    """Writes the calls for the other interpreter."""
    calls = all_calls()
    Path(path).write_bytes(pickle.dumps(calls))
    print(f"{len(calls)} calls of {len({name for name, *_ in calls.values()})} functions")


def record(calls_path: str, results_path: str) -> None:
    """Makes the calls in TensorFlow, in processes of their own: some of them end theirs."""
    results: dict[str, Any] = {}
    part = Path(f"{results_path}.part")
    part.unlink(missing_ok=True)
    calls = pickle.loads(Path(calls_path).read_bytes())
    while len(results) < len(calls):
        _watched([sys.executable, __file__, "some", calls_path, str(part)], part)
        lines = part.read_text().splitlines() if part.exists() else []
        results = dict(json.loads(line) for line in lines)
        missing = next((key for key in calls if key not in results), None)
        if missing is not None:  # it was the one that ended the process
            with part.open("a") as file:
                file.write(json.dumps([missing, ["ended the process"]]) + "\n")
            results[missing] = ["ended the process"]
    with gzip.open(results_path, "wt") as file:
        json.dump(results, file)
    part.unlink()


def _watched(command: list[str], part: Path) -> None:
    """Runs a process, and ends it if it writes nothing for a while: some calls never return."""
    process = subprocess.Popen(command)
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.5)
        now = part.stat().st_size if part.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            process.kill()
            process.wait()


def some(calls_path: str, part_path: str) -> None:
    """Goes on where the process before has ended."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    tf = importlib.import_module("tensorflow")
    calls = pickle.loads(Path(calls_path).read_bytes())
    part = Path(part_path)
    done = {json.loads(line)[0] for line in part.read_text().splitlines()} if part.exists() else ()
    with part.open("a") as file:
        for key, call in calls.items():
            if key not in done:
                file.write(json.dumps([key, outcome(tf, *call)]) + "\n")
                file.flush()


def differences(results_path: str | Path = KEPT) -> Iterator[tuple[str, str, Any, Any, Any]]:
    """Each call that differs: its key, what differs, its arguments and both outcomes."""
    tf = importlib.import_module("weft")
    with gzip.open(results_path, "rt") as file:
        results = json.load(file)
    for key, (name, *arguments) in all_calls().items():
        wanted = results.get(key)
        if wanted is None or wanted == ["ended the process"]:
            continue
        found = outcome(tf, name, *arguments)
        what = agree(wanted, found, not name.startswith(DRAWN))
        if what:
            yield key, what, arguments, wanted, found


def known() -> None:
    """Lists what differs, by the reason: the function, what it is, and the numbers of its calls."""
    reasons = of_the_repository("checks.random_calls_reasons")
    found: dict[tuple[str, str, str], list[str]] = {}
    for key, what, _, wanted, _ in differences():
        name, _, number = key.partition("#")
        why = reasons.reason(key, what, wanted) or "NOT EXPLAINED"
        found.setdefault((why, what, name), []).append(number)
    last = ""
    for (why, what, name), numbers in sorted(found.items()):
        if why != last:
            print(f"{'' if not last else chr(10)}# {why}")
            last = why
        print(f"{name}: {what}: {' '.join(numbers)}")


def compare(results_path: str) -> None:
    """Tells what differs, and how often."""
    counts: dict[str, int] = {}
    for key, what, _, wanted, found in differences(results_path):
        counts[what] = counts.get(what, 0) + 1
        print(f"{key}: {what}\n   TensorFlow {str(wanted)[:230]}\n   Weft       {str(found)[:230]}")
    print(counts)


if __name__ == "__main__":
    steps: dict[str, Callable[..., None]] = {
        "calls": write, "record": record, "some": some, "compare": compare, "known": known,
    }  # fmt: skip
    steps[sys.argv[1]](*sys.argv[2:])
