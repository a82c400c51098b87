"""Attacks on several releases about the same people, taken together."""
