"""What libraries read of TensorFlow that is not public, one small module for each of its modules.

Nothing in here belongs to Weft's own interface. A name is here because Keras 3.15 reads it; the
module says where and why. What is a fact of TensorFlow's public interface is a public name of Weft.
"""

# Which stand-in answers for which module below `tensorflow`.
PRIVATE_MODULES = {
    "__internal__": "internal",
    "python.eager.context": "eager_context",
    "python.framework.config": "framework_config",
    "python.framework.tensor_util": "tensor_util",
    "python.framework.type_spec_registry": "type_spec_registry",
    "python.ops.math_ops": "math_ops",
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": "csr_matrices",
    "python.trackable.data_structures": "data_structures",
    "compiler.tf2xla.python.xla": "xla",
    "experimental.dtensor": "dtensor",
}
