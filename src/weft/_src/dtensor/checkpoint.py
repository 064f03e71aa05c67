"""Checkpoints of variables that several devices have together: ordinary ones."""

from __future__ import annotations

from typing import Any

from weft._src.dtensor.mesh import Mesh
from weft._src.errors import UnsupportedError
from weft._src.saving.checkpoint import Checkpoint


class DTensorCheckpoint(Checkpoint):
    """A `tf.train.Checkpoint`, which saves and restores such variables itself.

    What it restores goes where the variables are, whatever layout it was saved with.

    >>> d = tf.experimental.dtensor
    >>> mesh = d.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> v = d.DVariable(d.relayout([1.0, 2.0], d.Layout(["x"], mesh)))
    >>> checkpoint = d.DTensorCheckpoint(mesh, v=v)
    >>> path = checkpoint.save("meshed")
    >>> _ = v.assign([0.0, 0.0])
    >>> _ = checkpoint.restore(path)
    >>> v.numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any) -> None:
        if not isinstance(mesh, Mesh):
            raise ValueError(f"DTensorCheckpoint: mesh must be a Mesh, got {mesh!r}.")
        super().__init__(root, **kwargs)


def name_based_save(mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: dict[str, Any]) -> None:
    """Refuses: checkpoints are made of objects.

    Args:
      mesh: accepted for compatibility.
      checkpoint_prefix: accepted for compatibility.
      name_tensor_dict: accepted for compatibility.

    Raises:
      UnsupportedError: always.

    >>> tf.experimental.dtensor.name_based_save(None, "x", {})
    Traceback (most recent call last):
    ...
    weft.errors.UnsupportedError: name_based_save: ...
    """
    raise _by_objects("name_based_save")


def name_based_restore(mesh: Mesh, checkpoint_prefix: Any, name_tensor_dict: dict[str, Any]) -> Any:
    """Refuses: checkpoints are made of objects.

    Args:
      mesh: accepted for compatibility.
      checkpoint_prefix: accepted for compatibility.
      name_tensor_dict: accepted for compatibility.

    Returns:
      Nothing: it always raises.

    Raises:
      UnsupportedError: always.

    >>> tf.experimental.dtensor.name_based_restore(None, "x", {})
    Traceback (most recent call last):
    ...
    weft.errors.UnsupportedError: name_based_restore: ...
    """
    raise _by_objects("name_based_restore")


def sharded_save(
    mesh: Mesh, file_prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Any
) -> Any:
    """Refuses: checkpoints are made of objects.

    Args:
      mesh: accepted for compatibility.
      file_prefix: accepted for compatibility.
      tensor_names: accepted for compatibility.
      shape_and_slices: accepted for compatibility.
      tensors: accepted for compatibility.

    Returns:
      Nothing: it always raises.

    Raises:
      UnsupportedError: always.

    >>> tf.experimental.dtensor.sharded_save(None, "x", [], [], [])
    Traceback (most recent call last):
    ...
    weft.errors.UnsupportedError: sharded_save: ...
    """
    raise _by_objects("sharded_save")


def _by_objects(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"{function}: Weft has no checkpoints of single names of devices. "
        "tf.train.Checkpoint(v=v).save(prefix) saves variables that several devices have, too."
    )
