"""Images and sound as bytes: PNG, BMP, GIF, JPEG, WebP and WAV files, read and written."""
