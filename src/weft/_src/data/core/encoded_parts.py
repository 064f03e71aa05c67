"""Datasets whose elements hold extension types with encoders of users.

They are stacked and taken apart as the tensors that the encoder makes. (What the usual encoder
does, to stack each tensor of a value, needs no function: it is what columns do.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft._src import nest
from weft._src.core.aliases import SpecNest
from weft._src.ops.extension import batching


def need_encoding(spec: SpecNest) -> bool:
    """Whether elements of a type have parts that an encoder of the user turns into tensors."""
    return any(batching.encodes_otherwise(leaf) for leaf in nest.flatten(spec))


def through_encodings(
    dataset: Any, change: Callable[[Any], Any], spec_of: Callable[[Any], Any]
) -> Any:
    """A dataset that is changed as one of tensors: encoded before, decoded afterwards.

    `spec_of` tells what becomes of the type of one part.
    """
    given = dataset.element_spec

    def encode(*parts: Any) -> Any:
        # `map` hands on the parts of a tuple one by one.
        element = parts if type(given) is tuple else parts[0]
        return _kept_together(batching.encoded(element))

    return _decoded(change(dataset.map(encode)), _changed(given, spec_of))


def slices(make: Callable[[Any], Any], element: Any, spec: SpecNest) -> Any:
    """The rows of a value with extension types in it."""
    rows = make(_kept_together(batching.encoded(element, minimum_rank=1)))
    return _decoded(rows, _changed(spec, lambda s: batching.row_spec(s, "from_tensor_slices")))


def _kept_together(encoding: Any) -> dict[str, Any]:
    """An encoding that is a tuple goes to functions as one argument, as part of a dict."""
    return {"encoding": encoding}


def _changed(spec: SpecNest, spec_of: Callable[[Any], Any]) -> SpecNest:
    return nest.map_structure(lambda s: spec_of(s) if batching.has_encoder(s) else s, spec)


def _decoded(dataset: Any, spec: SpecNest) -> Any:
    return dataset.map(lambda element: batching.decoded(spec, element["encoding"]))
