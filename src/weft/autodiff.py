"""`tf.autodiff`: gradients backwards and forwards."""

from weft._src.autodiff.forward import ForwardAccumulator
from weft._src.autodiff.tape import GradientTape
from weft._src.public.namespaces import open_namespace as _open_namespace

__all__ = ["ForwardAccumulator", "GradientTape"]

_open_namespace(__name__)
