"""`tf.signal`: Fourier and cosine transforms, frames, windows."""

from weft._src.ops.spectral.cosine import (
    dct,
    fftshift,
    idct,
    ifftshift,
    mfccs_from_log_mel_spectrograms,
)
from weft._src.ops.spectral.fourier import (
    fft,
    fft2d,
    fft3d,
    ifft,
    ifft2d,
    ifft3d,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)
from weft._src.ops.spectral.fourier_nd import fftnd, ifftnd, irfftnd, rfftnd
from weft._src.ops.spectral.frames import (
    frame,
    inverse_stft,
    inverse_stft_window_fn,
    overlap_and_add,
    stft,
)
from weft._src.ops.spectral.lapped import inverse_mdct, mdct
from weft._src.ops.spectral.windows import (
    hamming_window,
    hann_window,
    kaiser_bessel_derived_window,
    kaiser_window,
    linear_to_mel_weight_matrix,
    vorbis_window,
)
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = [
    "dct",
    "fft",
    "fft2d",
    "fft3d",
    "fftnd",
    "fftshift",
    "frame",
    "hamming_window",
    "hann_window",
    "idct",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftnd",
    "ifftshift",
    "inverse_mdct",
    "inverse_stft",
    "inverse_stft_window_fn",
    "irfft",
    "irfft2d",
    "irfft3d",
    "irfftnd",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "linear_to_mel_weight_matrix",
    "mdct",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "rfft",
    "rfft2d",
    "rfft3d",
    "rfftnd",
    "stft",
    "vorbis_window",
]

_open_namespace(__name__)
