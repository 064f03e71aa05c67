"""SavedModels: graphs of TensorFlow become functions of Weft."""
