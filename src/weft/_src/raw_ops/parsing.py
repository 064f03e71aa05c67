"""Raw ops that parse serialized Examples, with the features as flat lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike


def _keys(op: str, keys: Any, name: str) -> list[str]:
    """The names of features: texts, or tensors of which tracing knows the value."""
    found = []
    for key in keys if isinstance(keys, (list, tuple)) else [keys]:
        known = tf.get_static_value(key) if isinstance(key, tf.Tensor) else key
        if known is None:
            raise TypeError(f"{op}: {name} must be known while tracing, got {key!r}.")
        items = known.ravel().tolist() if hasattr(known, "ravel") else [known]
        found += [item.decode() if isinstance(item, bytes) else str(item) for item in items]
    return found


def _dense_feature(default: TensorLike, shape: Any) -> Any:
    """A feature of known shape, or of any number of rows; an empty default means there is none."""
    value, sizes = tf.convert_to_tensor(default), tf.TensorShape(shape)
    if sizes.rank and sizes[0] is None:
        padding = value if value.shape.rank == 0 else None
        return tf.io.FixedLenSequenceFeature(
            sizes[1:].as_list(), value.dtype, allow_missing=True, default_value=padding
        )
    is_missing = value.shape.num_elements() == 0 and sizes.num_elements() != 0
    given = None if is_missing else tf.reshape(value, sizes.as_list())
    return tf.io.FixedLenFeature(sizes.as_list(), value.dtype, given)


def _parsed(
    op: str,
    serialized: TensorLike,
    sparse: Sequence[tuple[str, Any]],
    dense: Sequence[tuple[str, Any, Any]],
    ragged: Sequence[tuple[str, Any, Any]] = (),
) -> tuple[list[Any], ...]:
    """The parts of sparse, dense and ragged results, each kind of part in a list."""
    features: dict[str, Any] = {}
    features.update({f"sparse {key}": (key, tf.io.VarLenFeature(dtype)) for key, dtype in sparse})
    features.update({f"dense {key}": (key, _dense_feature(d, s)) for key, d, s in dense})
    for key, dtype, splits in ragged:
        feature: Any = tf.io.RaggedFeature
        features[f"ragged {key}"] = (key, feature(dtype, row_splits_dtype=splits))
    wanted = dict(features.values())
    if len(wanted) != len(features):
        raise ValueError(f"{op}: a feature is asked for twice, of {sorted(wanted)}.")
    found = tf.io.parse_example(serialized, wanted) if wanted else {}
    rows = [found[key] for key, *_ in sparse]
    ragged_rows = [found[key] for key, *_ in ragged]
    return (
        [x.indices for x in rows],
        [x.values for x in rows],
        [x.dense_shape for x in rows],
        [found[key] for key, *_ in dense],
        [x.values if isinstance(x, tf.RaggedTensor) else x for x in ragged_rows],
        [x.row_splits for x in ragged_rows if isinstance(x, tf.RaggedTensor)],
    )


def examples(
    serialized: TensorLike,
    names: TensorLike,
    sparse_keys: Any,
    dense_keys: Any,
    ragged_keys: Any,
    dense_defaults: Sequence[Any],
    num_sparse: int,
    sparse_types: Sequence[Any],
    ragged_value_types: Sequence[Any],
    ragged_split_types: Sequence[Any],
    dense_shapes: Sequence[Any],
    name: str | None = None,
) -> tuple[list[Any], ...]:
    op = "ParseExampleV2"
    ragged = _keys(op, ragged_keys, "ragged_keys")
    return _parsed(
        op,
        serialized,
        list(zip(_keys(op, sparse_keys, "sparse_keys"), sparse_types, strict=True)),
        list(zip(_keys(op, dense_keys, "dense_keys"), dense_defaults, dense_shapes, strict=True)),
        list(zip(ragged, ragged_value_types, ragged_split_types, strict=True)),
    )


def older_examples(
    serialized: TensorLike,
    names: TensorLike,
    sparse_keys: Any,
    dense_keys: Any,
    dense_defaults: Sequence[Any],
    sparse_types: Sequence[Any],
    dense_shapes: Sequence[Any],
    name: str | None = None,
) -> tuple[list[Any], ...]:
    op = "ParseExample"
    return _parsed(
        op,
        serialized,
        list(zip(_keys(op, sparse_keys, "sparse_keys"), sparse_types, strict=True)),
        list(zip(_keys(op, dense_keys, "dense_keys"), dense_defaults, dense_shapes, strict=True)),
    )[:4]


def one_example(
    serialized: TensorLike,
    dense_defaults: Sequence[Any],
    num_sparse: int,
    sparse_keys: Sequence[str],
    dense_keys: Sequence[str],
    sparse_types: Sequence[Any],
    dense_shapes: Sequence[Any],
    name: str | None = None,
) -> tuple[list[Any], ...]:
    op = "ParseSingleExample"
    return _parsed(
        op,
        tf.ensure_shape(serialized, []),
        list(zip(_keys(op, sparse_keys, "sparse_keys"), sparse_types, strict=True)),
        list(zip(_keys(op, dense_keys, "dense_keys"), dense_defaults, dense_shapes, strict=True)),
    )[:4]
