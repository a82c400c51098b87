"""Buckets of records whose sensitive values are told together: Anatomy's, and such as are close to the whole table."""
