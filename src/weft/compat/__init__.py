"""`tf.compat`: strings in the form one wants, and names of TensorFlow 1."""

from weft.compat import v1 as v1
from weft.compat.text import as_bytes as as_bytes, as_str as as_str, as_text as as_text
