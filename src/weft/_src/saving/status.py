"""What a restored checkpoint tells: whether everything found its place."""

from __future__ import annotations

import logging
from typing import Any, Protocol, Self

from weft._src.saving.files import Reader

_log = logging.getLogger("weft")


class Restored(Protocol):
    """What is known after restoring: what was taken, and what is left on either side."""

    @property
    def reader(self) -> Reader: ...
    @property
    def taken(self) -> set[str]: ...
    def missing(self) -> list[str]: ...
    def unused(self) -> list[str]: ...
    def deferred(self) -> list[str]: ...
    def report(self) -> str: ...


class CheckpointLoadStatus:
    """What came of a `restore`.

    Whoever drops it without having asked is told at once if something did not find its place.

    >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    >>> path = checkpoint.write("status")
    >>> status = checkpoint.read(path)
    >>> status.missing, status.unused, status.deferred
    ([], [], [])
    """

    def __init__(self, restoration: Restored) -> None:
        self._restoration = restoration
        self._asked = False

    @property
    def missing(self) -> list[str]:
        """Paths of variables of the program that the checkpoint has nothing for."""
        return self._restoration.missing()

    @property
    def unused(self) -> list[str]:
        """Keys of values in the checkpoint that nothing in the program took."""
        return self._restoration.unused()

    @property
    def deferred(self) -> list[str]:
        """Keys of values that wait for objects which are not there yet."""
        return self._restoration.deferred()

    def assert_consumed(self) -> Self:
        """Fails unless every value of the checkpoint, and every variable, found its counterpart.

        Returns:
          The status.

        Raises:
          AssertionError: if something is left on either side, with a list of it.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> _ = checkpoint.read(checkpoint.write("consumed")).assert_consumed()
        """
        self._asked = True
        if self.missing or self.unused or self.deferred:
            self._fail("not everything in the checkpoint and in the program found its counterpart")
        return self

    def assert_existing_objects_matched(self) -> Self:
        """Fails unless every variable there is was restored; values may wait for other objects.

        Returns:
          The status.

        Raises:
          AssertionError: if a variable was not restored, with a list of them.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> path = checkpoint.write("existing")
        >>> _ = checkpoint.read(path).assert_existing_objects_matched()
        """
        self._asked = True
        if self.missing:
            self._fail("there are variables that the checkpoint has nothing for")
        return self

    def assert_nontrivial_match(self) -> Self:
        """Fails if nothing was restored at all.

        Returns:
          The status.

        Raises:
          AssertionError: if nothing of the checkpoint found an object of the program.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> path = checkpoint.write("nontrivial")
        >>> _ = checkpoint.read(path).assert_nontrivial_match()
        """
        self._asked = True
        if not self._restoration.taken:
            self._fail("nothing was restored")
        return self

    def expect_partial(self) -> Self:
        """Says that it is meant to be a part only: nobody is told of what is left.

        Returns:
          The status.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> _ = checkpoint.read(checkpoint.write("partial")).expect_partial()
        """
        self._asked = True
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Kept for programs of TensorFlow 1: values are restored at once.

        Args:
          session: accepted for compatibility.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> checkpoint.read(checkpoint.write("init")).initialize_or_restore()
        """

    def run_restore_ops(self, session: Any = None) -> None:
        """Kept for programs of TensorFlow 1: values are restored at once.

        Args:
          session: accepted for compatibility.

        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> checkpoint.read(checkpoint.write("ops")).run_restore_ops()
        """

    def _fail(self, what: str) -> None:
        prefix = self._restoration.reader.prefix
        raise AssertionError(f"Restoring {prefix}: {what}:\n{self._restoration.report()}")

    def __del__(self) -> None:
        """A part that was restored without anybody having asked is told of here."""
        if self.__dict__.get("_asked", True):
            return
        report = self._restoration.report()
        if report:
            _log.warning(
                "%s was restored in part:\n%s\nassert_consumed() makes this an error, "
                "expect_partial() says that it is meant so.",
                self._restoration.reader.prefix,
                report,
            )

    def __repr__(self) -> str:
        report = self._restoration.report()
        return f"<restored from {self._restoration.reader.prefix}{report and ' in part'}>"


class InitializationOnlyStatus:
    """What `restore(None)` gives: there was nothing to restore.

    >>> tf.train.Checkpoint(v=tf.Variable(1.0)).restore(None)
    <nothing was restored: no checkpoint was named>
    """

    def _refuse(self) -> Any:
        raise AssertionError("Nothing was restored: restore() got None instead of a checkpoint.")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = _refuse

    def expect_partial(self) -> Self:
        """Says that nothing need be restored.

        Returns:
          The status.

        >>> _ = tf.train.Checkpoint().restore(None).expect_partial()
        """
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Variables have their initial values already.

        Args:
          session: accepted for compatibility.

        >>> tf.train.Checkpoint().restore(None).initialize_or_restore()
        """

    def run_restore_ops(self, session: Any = None) -> None:
        """There is nothing to run.

        Args:
          session: accepted for compatibility.

        >>> tf.train.Checkpoint().restore(None).run_restore_ops()
        """

    def __repr__(self) -> str:
        return "<nothing was restored: no checkpoint was named>"
