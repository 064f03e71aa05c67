"""`tf.signal`: Fourier and cosine transforms, frames, windows."""

from typing import Any as _Any

from weft.core.missing import (
    missing_name as _missing_name,
)
from weft.ops.signal.cosine import (
    dct as dct,
    fftshift as fftshift,
    idct as idct,
    ifftshift as ifftshift,
    mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms,
)
from weft.ops.signal.fourier import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
    irfft as irfft,
    irfft2d as irfft2d,
    irfft3d as irfft3d,
    rfft as rfft,
    rfft2d as rfft2d,
    rfft3d as rfft3d,
)
from weft.ops.signal.fourier_nd import (
    fftnd as fftnd,
    ifftnd as ifftnd,
    irfftnd as irfftnd,
    rfftnd as rfftnd,
)
from weft.ops.signal.frames import (
    frame as frame,
    inverse_stft as inverse_stft,
    inverse_stft_window_fn as inverse_stft_window_fn,
    overlap_and_add as overlap_and_add,
    stft as stft,
)
from weft.ops.signal.windows import (
    hamming_window as hamming_window,
    hann_window as hann_window,
    kaiser_bessel_derived_window as kaiser_bessel_derived_window,
    kaiser_window as kaiser_window,
    linear_to_mel_weight_matrix as linear_to_mel_weight_matrix,
    vorbis_window as vorbis_window,
)


def __getattr__(name: str) -> _Any:
    raise _missing_name(__name__, name, globals())
