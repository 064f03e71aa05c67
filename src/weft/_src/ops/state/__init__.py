"""Variable ops."""
