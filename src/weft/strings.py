"""`tf.strings`: operations on strings."""

from weft._src.ops.strings.formatting import format
from weft._src.ops.strings.hashing import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from weft._src.ops.strings.joining import join, reduce_join, unsorted_segment_join
from weft._src.ops.strings.number_text import as_string, to_number
from weft._src.ops.strings.regex import regex_full_match, regex_replace
from weft._src.ops.strings.scripts import unicode_script
from weft._src.ops.strings.splitting import bytes_split, ngrams, split
from weft._src.ops.strings.text import length, lower, strip, substr, upper
from weft._src.ops.strings.transcoding import (
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)
from weft._src.ops.strings.unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "ngrams",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "unsorted_segment_join",
    "upper",
]

_open_namespace(__name__)
