"""Rows of images and sound in files."""

from __future__ import annotations

ROWS = """
DecodeAndCropJpeg: io.decode_and_crop_jpeg(contents crop_window channels=0 ratio=1 fancy_upscaling=True try_recover_truncated=False acceptable_fraction=1 dct_method='')
DecodeBmp: io.decode_bmp(contents channels=0)
DecodeGif: io.decode_gif(contents)
DecodeImage: raw.media.decode_image(contents channels=0 dtype=tf.uint8 expand_animations=True)
DecodeJpeg: io.decode_jpeg(contents channels=0 ratio=1 fancy_upscaling=True try_recover_truncated=False acceptable_fraction=1 dct_method='')
DecodePng: io.decode_png(contents channels=0 dtype=tf.uint8)
DecodeWav: audio.decode_wav(contents desired_channels=-1 desired_samples=-1)
DecodeWebP: io.decode_webp(contents channels=0 dtype=tf.uint8)
EncodeJpeg: io.encode_jpeg(image format='' quality=95 progressive=False optimize_size=False chroma_downsampling=True density_unit='in' x_density=300 y_density=300 xmp_metadata='')
EncodeJpegVariableQuality: raw.media.encode_jpeg_variable_quality(images quality)
EncodePng: io.encode_png(image compression=-1)
EncodeWav: audio.encode_wav(audio sample_rate)
ExtractJpegShape: io.extract_jpeg_shape(contents output_type=tf.int32)
"""  # noqa: E501
