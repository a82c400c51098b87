"""Multidimensional recoding: the classes divided by the cuts that leave the least loss."""
