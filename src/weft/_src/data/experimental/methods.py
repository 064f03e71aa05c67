"""`tf.data.experimental`: functions that are methods now."""

from weft._src.data.dataset import Dataset

Counter = Dataset.counter
RandomDataset = Dataset.random
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets
load = Dataset.load
