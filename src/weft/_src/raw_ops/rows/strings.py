"""Rows of strings."""

from __future__ import annotations

ROWS = """
AsString: strings.as_string(input precision=-1 scientific=False shortest=False width=-1 fill='')
Fingerprint: raw.text.fingerprint(data method)
ReduceJoin: strings.reduce_join(inputs reduction_indices:axis keep_dims:keepdims=False separator='')
RegexFullMatch: strings.regex_full_match(input pattern)
RegexReplace: strings.regex_replace(input pattern rewrite replace_global=True)
StaticRegexFullMatch: strings.regex_full_match(input pattern)
StaticRegexReplace: strings.regex_replace(input pattern rewrite replace_global=True)
StringFormat: strings.format(inputs template='%s' placeholder='%s' summarize=3)
StringJoin: strings.join(inputs separator='')
StringLength: strings.length(input unit='BYTE')
StringLower: strings.lower(input encoding='')
StringNGrams: =StringNGrams(data data_splits separator ngram_widths left_pad right_pad pad_width preserve_short_sequences)
StringSplit: raw.text.split(input delimiter skip_empty=True)
StringSplitV2: =StringSplitV2(input sep maxsplit=-1)
StringToHashBucket: strings.to_hash_bucket(string_tensor:input num_buckets)
StringToHashBucketFast: strings.to_hash_bucket_fast(input num_buckets)
StringToHashBucketStrong: strings.to_hash_bucket_strong(input num_buckets key)
StringToNumber: strings.to_number(string_tensor:input out_type=tf.float32)
StringUpper: strings.upper(input encoding='')
Substr: strings.substr(input pos len unit='BYTE')
UnicodeDecode: raw.text.decode(input input_encoding errors='replace' replacement_char=65533 replace_control_characters=False Tsplits=tf.int64)
UnicodeDecodeWithOffsets: =UnicodeDecodeWithOffsets(input input_encoding errors='replace' replacement_char=65533 replace_control_characters=False Tsplits:splits_dtype=tf.int64)
UnicodeEncode: =UnicodeEncode(input_values input_splits output_encoding errors='replace' replacement_char=65533)
UnicodeTranscode: strings.unicode_transcode(input input_encoding output_encoding errors='replace' replacement_char=65533 replace_control_characters=False)
UnsortedSegmentJoin: strings.unsorted_segment_join(inputs segment_ids num_segments separator='')
"""  # noqa: E501
