"""A program in four libraries: what it computes is the same, how it is written is their own."""

from __future__ import annotations

from dataclasses import dataclass

IMPORTS = {
    "weft": "import weft as tf",
    "tensorflow": "import tensorflow as tf",
    "jax": "import jax, jax.numpy as jnp\nfrom jax import lax",
    "torch": "import torch, torch.nn.functional as F",
}
_NUMPY = """
import numpy as np
rng = np.random.default_rng(0)
f32 = lambda *shape: rng.normal(size=shape).astype('float32')
"""


@dataclass(frozen=True)
class Text:
    """What a library runs: tensors and functions are made once, then comes call after call."""

    setup: str
    statement: str


@dataclass(frozen=True)
class Program:
    """A program: its data as NumPy arrays, and a text for each library.

    Weft and TensorFlow run the same text. A statement ends when its result is there. Its value,
    and that of `state` after it, are the same numbers in all libraries, up to rounding and layout.
    """

    key: str
    title: str
    data: str
    tf: Text
    jax: Text
    torch: Text
    state: str = "None"

    def text(self, library: str) -> Text:
        """What is run in a library."""
        return {"jax": self.jax, "torch": self.torch}.get(library, self.tf)

    @property
    def arrays(self) -> str:
        """Makes the data, with NumPy only."""
        return _NUMPY + self.data

    def body(self, library: str) -> str:
        """Data and setup: all but the import of the library."""
        return f"{self.arrays}\n{self.text(library).setup}"
