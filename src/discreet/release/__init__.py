"""Verbs and decisions: audit, anonymise, verify, compare, attack."""
