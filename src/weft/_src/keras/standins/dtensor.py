"""`tensorflow.experimental.dtensor`: Keras imports it with its module of distributions, and reads
it only if somebody lays a model out over a mesh of devices. Weft does not have that yet.
"""
