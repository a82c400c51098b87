"""Which released record is whose: linkage by fit, distance and weight, membership, and the worst case."""
