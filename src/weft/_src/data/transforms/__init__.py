"""Methods that make a dataset out of others, one file per subject."""
