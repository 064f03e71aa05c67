"""The public namespaces: what they list, what they say of names they do not have."""
