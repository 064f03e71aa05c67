"""`DTensorDataset`: batches that several devices have together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft._src import nest
from weft._src.data.dataset import Dataset
from weft._src.dtensor.layout import Layout, as_layout
from weft._src.dtensor.mesh import Mesh
from weft._src.dtensor.tensors import relayout
from weft._src.errors import UnsupportedError


class DTensorDataset:
    """The batches of a dataset, each with its parts where a layout has them.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> data = d.DTensorDataset(
    ...     tf.data.Dataset.range(4),
    ...     mesh=mesh,
    ...     layouts=d.Layout(["x"], mesh),
    ...     global_batch_size=2,
    ...     batch_dim="x",
    ... )
    >>> [x.numpy().tolist() for x in data]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        mesh: Mesh,
        layouts: Any,
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ) -> None:
        if tf_data_service_config is not None:
            raise UnsupportedError(
                "DTensorDataset: Weft has no tf.data service. Leave tf_data_service_config out."
            )
        if batch_dim is not None and global_batch_size % mesh.dim_size(batch_dim):
            raise ValueError(
                f"DTensorDataset: a batch of {global_batch_size} cannot be divided evenly along "
                f"{batch_dim!r}, which has {mesh.dim_size(batch_dim)} devices."
            )
        if not dataset_already_batched:
            dataset = dataset.batch(global_batch_size, drop_remainder=True)
        if prefetch is not None:
            dataset = dataset.prefetch(prefetch)
        nest.assert_same_structure(dataset.element_spec, layouts)
        for layout in nest.flatten(layouts):
            _check(as_layout("DTensorDataset", layout), mesh)
        self._dataset, self._layouts = dataset, layouts

    @property
    def element_spec(self) -> Any:
        """The types of the batches."""
        return self._dataset.element_spec

    def __iter__(self) -> Iterator[Any]:
        for element in self._dataset:
            yield nest.map_structure(relayout, element, self._layouts)

    def __len__(self) -> int:
        return len(self._dataset)


def _check(layout: Layout, mesh: Mesh) -> None:
    if layout.mesh != mesh:
        raise ValueError(f"DTensorDataset: a layout is of another mesh, {layout.mesh}.")
