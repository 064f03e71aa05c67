"""How long it takes until call N has returned: measuring, comparing, telling and drawing it."""
