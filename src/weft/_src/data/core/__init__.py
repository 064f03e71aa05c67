"""What every dataset is made of: stages, elements, columns, iterators, options, workers."""
