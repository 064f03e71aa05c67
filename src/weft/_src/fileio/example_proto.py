"""`tf.train.Example`: named lists of bytes, floats or integers, as TFRecord files hold them.

The classes act like those that protocol buffers generate, and the bytes are the same (names of
features are written in sorted order). protobuf itself is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from weft._src.core.wire import BYTES, bytes_field, contents, fields, not_serialized
from weft._src.fileio.value_lists import (
    BytesList,
    FloatList,
    Int64List,
    Message,
    ValueList,
    check_message,
    message_bytes,
)

# --- Feature -------------------------------------------------------------------------------------


class Feature(Message):
    """A list of bytes, of floats or of integers.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('int64_list', [1, 2])
    """

    _KINDS: ClassVar[dict[str, tuple[int, type[ValueList]]]] = {
        "bytes_list": (1, BytesList),
        "float_list": (2, FloatList),
        "int64_list": (3, Int64List),
    }

    def __init__(
        self,
        bytes_list: BytesList | None = None,
        float_list: FloatList | None = None,
        int64_list: Int64List | None = None,
    ) -> None:
        self._kind: str | None = None
        self.Clear()
        given = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        for kind, value in given.items():
            if value is None:
                continue
            wanted = self._KINDS[kind][1]
            if not isinstance(value, wanted):
                raise TypeError(
                    f"Feature: {kind} must be a {wanted.__name__}, got {value!r} of type "
                    f"{type(value).__name__}."
                )
            self._lists[kind].value.extend(value.value)
            self._kind = kind

    def Clear(self) -> None:  # noqa: N802
        """Makes the feature one without a list."""
        self._kind = None
        self._lists: dict[str, ValueList] = {}
        for kind, (_, cls) in self._KINDS.items():
            made = self._lists[kind] = cls()
            made._parent = _Chooser(self, kind)

    def _choose(self, kind: str) -> None:
        """Only one of the lists can be there."""
        self._kind = kind
        for other, values in self._lists.items():
            if other != kind:
                values.value.clear()

    @property
    def bytes_list(self) -> BytesList:
        """The byte strings."""
        return self._lists["bytes_list"]  # type: ignore[return-value]

    @property
    def float_list(self) -> FloatList:
        """The floats."""
        return self._lists["float_list"]  # type: ignore[return-value]

    @property
    def int64_list(self) -> Int64List:
        """The integers."""
        return self._lists["int64_list"]  # type: ignore[return-value]

    def WhichOneof(self, oneof_group: str) -> str | None:  # noqa: N802
        """Which list is there; the group is called "kind".

        Args:
          oneof_group: "kind".

        Returns:
          "bytes_list", "float_list" or "int64_list"; None if there is none.

        Raises:
          ValueError: if the group is another one.

        >>> tf.train.Feature(int64_list=tf.train.Int64List(value=[1])).WhichOneof("kind")
        'int64_list'
        """
        if oneof_group != "kind":
            raise ValueError(f"Feature has no oneof {oneof_group!r}; it is called 'kind'.")
        return self._kind

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Whether this list is there.

        Args:
          field_name: "bytes_list", "float_list" or "int64_list".

        Returns:
          A bool.

        Raises:
          ValueError: if there is no field of that name.

        >>> tf.train.Feature(int64_list=tf.train.Int64List(value=[1])).HasField("float_list")
        False
        """
        if field_name not in self._KINDS:
            raise ValueError(f"Feature has no field {field_name!r}.")
        return self._kind == field_name

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes.

        Args:
          deterministic: accepted for compatibility.

        Returns:
          Bytes, empty if there is no list.
        """
        if self._kind is None:
            return b""
        number, _ = self._KINDS[self._kind]
        return bytes_field(number, self._lists[self._kind].SerializeToString())

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes hold.

        Args:
          serialized: a serialized Feature. Values are added to a list of the same kind; another
            kind takes its place.

        Returns:
          The number of bytes that were read.

        Raises:
          ParseError: if the bytes are no such message.
          TypeError: if it is not bytes.
        """
        data = message_bytes("Feature", serialized)
        names = {number: kind for kind, (number, _) in self._KINDS.items()}
        for number, stored, content in fields(data, "Feature"):
            if number in names and stored == BYTES:
                self._choose(names[number])
                self._lists[names[number]].MergeFromString(content)
        return len(data)

    def _lines(self) -> Iterator[str]:
        if self._kind is not None:
            yield from _block(self._kind, self._lists[self._kind])


class _Chooser:
    """Tells a feature which of its lists was changed, without keeping it alive by a closure."""

    def __init__(self, feature: Feature, kind: str) -> None:
        self._feature, self._kind = feature, kind

    def __call__(self) -> None:
        self._feature._choose(self._kind)


def _block(name: str, message: Message) -> Iterator[str]:
    yield f"{name} {{"
    for line in message._lines():
        yield f"  {line}"
    yield "}"


# --- Features and Example ------------------------------------------------------------------------


class FeatureMap(dict[str, Feature]):
    """Features by name; asking for one that is not there makes it."""

    def __missing__(self, name: str) -> Feature:
        made = Feature()
        super().__setitem__(self._checked(name), made)
        return made

    @staticmethod
    def _checked(name: str) -> str:
        if isinstance(name, bytes):
            name = name.decode()
        if not isinstance(name, str):
            raise TypeError(f"Features: a name must be text, got {name!r}.")
        return name

    def __setitem__(self, name: str, feature: Feature) -> None:
        raise ValueError(
            "Features: assign to a part, or use .CopyFrom(feature): "
            f"features.feature[{name!r}].CopyFrom(...)."
        )


class Features(Message):
    """Features by name.

    >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    >>> tf.train.Features(feature={"x": feature}).feature["x"].float_list.value
    [0.5]
    """

    def __init__(self, feature: Any = None) -> None:
        self.feature = FeatureMap()
        for name, value in dict(feature or {}).items():
            if not isinstance(value, Feature):
                raise TypeError(
                    f"Features: feature[{name!r}] must be a tf.train.Feature, got {value!r} of "
                    f"type {type(value).__name__}."
                )
            self.feature[FeatureMap._checked(name)].CopyFrom(value)

    def Clear(self) -> None:  # noqa: N802
        """Removes all features."""
        self.feature.clear()

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes, features sorted by name.

        Args:
          deterministic: accepted for compatibility; the order is always the same.

        Returns:
          Bytes.
        """
        entries = [
            bytes_field(1, name.encode()) + bytes_field(2, self.feature[name].SerializeToString())
            for name in sorted(self.feature)
        ]
        return b"".join([bytes_field(1, entry) for entry in entries])

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes hold.

        Args:
          serialized: serialized Features. Those of a name that is there take its place.

        Returns:
          The number of bytes that were read.

        Raises:
          ParseError: if the bytes are no such message.
          TypeError: if it is not bytes.
        """
        data = message_bytes("Features", serialized)
        for name, content in feature_entries(data):
            self.feature[name].ParseFromString(content)
        return len(data)

    def _lines(self) -> Iterator[str]:
        for name in sorted(self.feature):
            yield "feature {"
            yield f"  key: {BytesList._shown(name.encode())}"
            for line in _block("value", self.feature[name]):
                yield f"  {line}"
            yield "}"


def feature_entries(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The names and (serialized) features of serialized Features."""
    for entry in contents(data, 1, "Features"):
        parts = {n: part for n, stored, part in fields(entry, "Features") if stored == BYTES}
        try:
            yield parts.get(1, b"").decode(), parts.get(2, b"")
        except UnicodeDecodeError:
            raise not_serialized("Features") from None


class Example(Message):
    """Features by name: one training example, as TFRecord files hold them.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"label": feature}))
    >>> tf.train.Example.FromString(example.SerializeToString()) == example
    True
    >>> print(example)
    features {
      feature {
        key: "label"
        value {
          int64_list {
            value: 7
          }
        }
      }
    }
    <BLANKLINE>
    """

    def __init__(self, features: Features | None = None) -> None:
        self.features = Features()
        self._given = features is not None
        if features is not None:
            check_message(self.features, features)
            self.features.CopyFrom(features)

    def Clear(self) -> None:  # noqa: N802
        """Removes all features."""
        self.features.Clear()
        self._given = False

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Whether there are features.

        Args:
          field_name: "features".

        Returns:
          A bool.

        Raises:
          ValueError: if there is no field of that name.

        >>> tf.train.Example().HasField("features")
        False
        """
        if field_name != "features":
            raise ValueError(f"Example has no field {field_name!r}.")
        return self._given or bool(self.features.feature)

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes.

        Args:
          deterministic: accepted for compatibility; the order is always the same.

        Returns:
          Bytes, empty if there are no features.
        """
        if not self.HasField("features"):
            return b""
        return bytes_field(1, self.features.SerializeToString())

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes hold.

        Args:
          serialized: a serialized Example. Features of a name that is there take its place.

        Returns:
          The number of bytes that were read.

        Raises:
          ParseError: if the bytes are no such message.
          TypeError: if it is not bytes.
        """
        data = message_bytes("Example", serialized)
        for content in contents(data, 1, "Example"):
            self._given = True
            self.features.MergeFromString(content)
        return len(data)

    def _lines(self) -> Iterator[str]:
        if self.HasField("features"):
            yield from _block("features", self.features)
