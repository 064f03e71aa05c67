"""`tf.strings`: operations on strings."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.strings.formatting import (
    format as format,
)
from weft.ops.strings.hashing import (
    to_hash_bucket as to_hash_bucket,
    to_hash_bucket_fast as to_hash_bucket_fast,
    to_hash_bucket_strong as to_hash_bucket_strong,
)
from weft.ops.strings.joining import (
    join as join,
    reduce_join as reduce_join,
    unsorted_segment_join as unsorted_segment_join,
)
from weft.ops.strings.numbers import (
    as_string as as_string,
    to_number as to_number,
)
from weft.ops.strings.regex import (
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
)
from weft.ops.strings.splitting import (
    bytes_split as bytes_split,
    ngrams as ngrams,
    split as split,
)
from weft.ops.strings.text import (
    length as length,
    lower as lower,
    strip as strip,
    substr as substr,
    upper as upper,
)
from weft.ops.strings.transcoding import (
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
    unicode_transcode as unicode_transcode,
)
from weft.ops.strings.unicode import (
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
