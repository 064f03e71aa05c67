"""Files, records and serialized data: `tf.io`."""

from typing import Any as _Any

from weft.core.missing import missing_name as _missing_name
from weft.io import gfile as gfile
from weft.io.csv import decode_csv as decode_csv
from weft.io.examples import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    VarLenFeature as VarLenFeature,
    parse_example as parse_example,
    parse_single_example as parse_single_example,
)
from weft.io.files import (
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from weft.io.records import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from weft.io.tensors import (
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
