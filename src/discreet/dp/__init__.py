"""Differential privacy: a ledger of budgets, answers with noise, artificial people."""
