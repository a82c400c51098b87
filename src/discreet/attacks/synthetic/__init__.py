"""Attacks on artificial records: what they say of the people they were learned from, and not of others."""
