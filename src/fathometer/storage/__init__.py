"""Volumes, traces, indexes and scratch files on disk."""
