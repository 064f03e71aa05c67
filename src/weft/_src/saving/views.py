"""`tf.train.TrackableView` and `CheckpointView`: the objects of a program, and those of a file."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import PathLike
from weft._src.errors import NotFoundError
from weft._src.fileio.paths import path_text
from weft._src.saving.files import open_checkpoint
from weft._src.saving.object_graph import OBJECT_GRAPH, saved_objects, walk
from weft._src.saving.safetensors import SafetensorsReader
from weft._src.state.tracking import children_of


class TrackableView:
    """The objects that a checkpoint of an object would hold.

    >>> module = tf.Module()
    >>> module.v = tf.Variable(1.0)
    >>> view = tf.train.TrackableView(module)
    >>> list(view.children(module))
    ['v']
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    @property
    def root(self) -> Any:
        """Where it begins."""
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children of an object, by name.

        Args:
          obj: the object.
          save_type: "checkpoint" or "savedmodel".
          **kwargs: accepted for compatibility.

        Returns:
          A dict.

        >>> list(tf.train.TrackableView.children([tf.Variable(1.0)]))
        ['0']
        """
        return children_of(obj)

    def descendants(self) -> list[Any]:
        """All objects, the root first.

        Returns:
          A list.

        >>> len(tf.train.TrackableView([tf.Variable(1.0), tf.Variable(2.0)]).descendants())
        3
        """
        return [one.value for one in walk(self._root)]


class CheckpointView:
    """The objects that a checkpoint holds, by their numbers.

    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("view")
    >>> view = tf.train.CheckpointView(path)
    >>> view.children(0)
    {'v': 1}
    """

    def __init__(self, save_path: PathLike, options: Any = None) -> None:
        prefix = path_text("tf.train.CheckpointView", save_path)
        reader = open_checkpoint(prefix)
        if isinstance(reader, SafetensorsReader) or OBJECT_GRAPH not in reader:
            raise NotFoundError(
                None,
                None,
                f"tf.train.CheckpointView: {prefix} has no map of objects: it was written by name.",
            )
        self._nodes = saved_objects(reader)

    @property
    def root(self) -> int:
        """The number of the object where it begins."""
        return 0

    def children(self, node_id: int) -> dict[str, int]:
        """The numbers of an object's children, by name.

        Args:
          node_id: the number of the object.

        Returns:
          A dict.

        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("view-children")
        >>> tf.train.CheckpointView(path).children(1)
        {}
        """
        return {child.local_name: child.node_id for child in self._nodes[node_id].children}

    def descendants(self) -> list[int]:
        """The numbers of all objects that the root leads to.

        Returns:
          A list, the root first.

        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("view-all")
        >>> tf.train.CheckpointView(path).descendants()
        [0, 1]
        """
        found = [0]
        for number in found:
            found += [n for n in self.children(number).values() if n not in found]
        return found

    def match(self, obj: Any) -> dict[int, Any]:
        """Which objects below another one have a counterpart in the checkpoint.

        Args:
          obj: where the walk begins.

        Returns:
          A dict from numbers to objects.

        >>> module = tf.Module()
        >>> module.v = tf.Variable(1.0)
        >>> path = tf.train.Checkpoint(module).write("view-match")
        >>> sorted(tf.train.CheckpointView(path).match(module))
        [0, 1]
        """
        found = {0: obj}
        pending = [0]
        while pending:
            number = pending.pop()
            here = children_of(found[number])
            for name, child in self.children(number).items():
                if name in here and child not in found:
                    found[child] = here[name]
                    pending.append(child)
        return found

    def diff(self, obj: Any) -> tuple[dict[int, Any], dict[int, str], dict[Any, str]]:
        """What matches, what only the checkpoint has, and what only the program has.

        Args:
          obj: where the walk begins.

        Returns:
          A dict from numbers to objects that match, one from numbers to names that only the
          checkpoint has, and one from objects to names that only the program has.

        >>> module = tf.Module()
        >>> module.v = tf.Variable(1.0)
        >>> path = tf.train.Checkpoint(module).write("view-diff")
        >>> tf.train.CheckpointView(path).diff(module)[1:]
        ({}, {})
        """
        matched = self.match(obj)
        theirs = {
            child: name
            for number in matched
            for name, child in self.children(number).items()
            if child not in matched
        }
        held = {id(value) for value in matched.values()}
        ours = {
            one.value: one.path[-1]
            for one in walk(obj)
            if id(one.value) not in held and one.path and not isinstance(one.value, (list, dict))
        }
        return matched, theirs, ours
