"""Clusterings: groups of at least k persons, written as what they span or replaced by what stands for them."""
