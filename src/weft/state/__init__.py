"""Objects with state: variables."""
