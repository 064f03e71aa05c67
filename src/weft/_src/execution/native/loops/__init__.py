"""From operations to loops: what is computed together, in which order, in which memory."""
