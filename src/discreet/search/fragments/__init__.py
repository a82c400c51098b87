"""Fragments of columns: which go apart, and how records of different fragments are tied."""
