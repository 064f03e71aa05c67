"""Files, records and serialized data: `tf.io`."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from weft._src.fileio.csv_lines import decode_csv
from weft._src.fileio.examples import parse_example, parse_single_example
from weft._src.fileio.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from weft._src.fileio.files import match_filenames_once, matching_files, read_file, write_file
from weft._src.fileio.json_examples import decode_json_example
from weft._src.fileio.protos import decode_proto, encode_proto
from weft._src.fileio.records import TFRecordOptions, TFRecordWriter
from weft._src.fileio.sequence_examples import parse_sequence_example, parse_single_sequence_example
from weft._src.fileio.sparse_strings import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from weft._src.fileio.tensors import (
    decode_base64,
    decode_compressed,
    decode_raw,
    encode_base64,
    parse_tensor,
    serialize_tensor,
)
from weft._src.media.decoding import (
    decode_bmp,
    decode_gif,
    decode_image,
    decode_png,
    decode_webp,
)
from weft._src.media.encoding import (
    encode_jpeg,
    encode_png,
)
from weft._src.media.jpeg_files import (
    decode_and_crop_jpeg,
    decode_jpeg,
    extract_jpeg_shape,
    is_jpeg,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft.io import gfile

if _TYPE_CHECKING:
    from weft._src.saved_model.graph_defs import write_graph as write_graph

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_and_crop_jpeg",
    "decode_base64",
    "decode_bmp",
    "decode_compressed",
    "decode_csv",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_json_example",
    "decode_png",
    "decode_proto",
    "decode_raw",
    "decode_webp",
    "deserialize_many_sparse",
    "encode_base64",
    "encode_jpeg",
    "encode_png",
    "encode_proto",
    "extract_jpeg_shape",
    "gfile",
    "is_jpeg",
    "match_filenames_once",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
    "write_file",
    "write_graph",
]

_open_namespace(__name__, lazy={"write_graph": "weft._src.saved_model.graph_defs"})
