"""Everything behind the public namespaces. Programs import `weft`; nothing here is a promise."""
