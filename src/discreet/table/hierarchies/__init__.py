"""Hierarchies of values: what they are, what builds them, and how they are learned and edited."""
