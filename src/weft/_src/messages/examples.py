"""`tf.train.Example` and `SequenceExample`: named lists of bytes, floats or integers.

The classes act like those that protocol buffers generate, and the bytes are the same (names of
features are written in sorted order). protobuf itself is not needed.
"""

from __future__ import annotations

from weft._src.messages.kinds import BYTES, FLOAT, INT64, STRING
from weft._src.messages.message import Message
from weft._src.messages.table import many, mapping, one


class BytesList(Message):
    """Byte strings.

    >>> tf.train.BytesList(value=[b"ab", b"c"]).value
    [b'ab', b'c']
    """

    FIELDS = (many(1, "value", BYTES),)


class FloatList(Message):
    """Numbers, stored as float32.

    >>> tf.train.FloatList(value=[1.5, 2]).value
    [1.5, 2.0]
    """

    FIELDS = (many(1, "value", FLOAT),)


class Int64List(Message):
    """Integers of 64 bits.

    >>> tf.train.Int64List(value=[1, -2]).value
    [1, -2]
    """

    FIELDS = (many(1, "value", INT64),)


class Feature(Message):
    """A list of bytes, of floats or of integers.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('int64_list', [1, 2])
    """

    FIELDS = (
        one(1, "bytes_list", BytesList, "kind"),
        one(2, "float_list", FloatList, "kind"),
        one(3, "int64_list", Int64List, "kind"),
    )
    READ_AT_ONCE = True


class Features(Message):
    """Features by name.

    >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    >>> tf.train.Features(feature={"x": feature}).feature["x"].float_list.value
    [0.5]
    """

    FIELDS = (mapping(1, "feature", STRING, Feature),)
    READ_AT_ONCE = True


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

    FIELDS = (one(1, "features", Features),)
    READ_AT_ONCE = True


class FeatureList(Message):
    """The features of one name, step by step.

    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> len(tf.train.FeatureList(feature=[step, step]).feature)
    2
    """

    FIELDS = (many(1, "feature", Feature),)
    READ_AT_ONCE = True


class FeatureLists(Message):
    """Lists of features by name.

    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> steps = tf.train.FeatureList(feature=[step])
    >>> tf.train.FeatureLists(feature_list={"x": steps}).feature_list["x"].feature[0] == step
    True
    """

    FIELDS = (mapping(1, "feature_list", STRING, FeatureList),)
    READ_AT_ONCE = True


class SequenceExample(Message):
    """A training example with features of its own, and others that have many steps.

    >>> label = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> step = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    >>> example = tf.train.SequenceExample(
    ...     context=tf.train.Features(feature={"label": label}),
    ...     feature_lists=tf.train.FeatureLists(
    ...         feature_list={"x": tf.train.FeatureList(feature=[step, step])}
    ...     ),
    ... )
    >>> tf.train.SequenceExample.FromString(example.SerializeToString()) == example
    True
    """

    FIELDS = (one(1, "context", Features), one(2, "feature_lists", FeatureLists))
    READ_AT_ONCE = True
