"""Scratch files, removed with the process, and stacks of records in memory or in them."""
