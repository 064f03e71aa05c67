"""`tf.audio`: sound from files and to files."""

from weft._src.media.sound import decode_wav, encode_wav
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["decode_wav", "encode_wav"]

_open_namespace(__name__)
