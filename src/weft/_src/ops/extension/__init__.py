"""Extension types: classes of users that are made of tensors."""
