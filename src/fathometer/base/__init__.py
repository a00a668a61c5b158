"""Foundations: errors, signals, the ledger of seconds and bytes, progress, the host."""
