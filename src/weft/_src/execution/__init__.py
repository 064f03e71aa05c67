"""Running graphs: the reference interpreter and the tiers that must agree with it."""
