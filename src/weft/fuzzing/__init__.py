"""Random graphs over the public functions, for holding tiers against each other."""
