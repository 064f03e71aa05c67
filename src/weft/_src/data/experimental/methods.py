"""`tf.data.experimental`: functions that are methods now."""

from collections.abc import Sequence

from weft._src.data.dataset import Dataset

Counter = Dataset.counter
RandomDataset = Dataset.random
sample_from_datasets = Dataset.sample_from_datasets
load = Dataset.load


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements of the datasets that a dataset of numbers names.

    Args:
      datasets: a list of datasets of one type.
      choice_dataset: a dataset of int64 scalars: the number of the dataset that is next.
      stop_on_empty_dataset: whether it ends with the first dataset that does; if not, such a
        dataset is passed over, other than by the method of `tf.data.Dataset`.

    Returns:
      A dataset.

    Raises:
      TypeError: if the datasets are of different types, or the choices are not int64 scalars.

    >>> first, second = tf.data.Dataset.range(1), tf.data.Dataset.range(10, 12)
    >>> choices = tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 0, 1], tf.int64))
    >>> mixed = tf.data.experimental.choose_from_datasets([first, second], choices)
    >>> [int(x) for x in mixed]
    [0, 10, 11]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)
