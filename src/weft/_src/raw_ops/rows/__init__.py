"""The table of raw ops, one file for each subject."""
