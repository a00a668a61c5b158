"""Preparation of models for migration: the steps of `fathometer prepare`."""
