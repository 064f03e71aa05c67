"""What libraries read of TensorFlow that is not public, one small module for each of its modules.

Nothing in here belongs to Weft's own interface. A name is here because Keras 3.15 reads it; the
module says where and why. What is a fact of TensorFlow's public interface is a public name of Weft.
"""
