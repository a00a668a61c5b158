"""Volumes, traces, indexes and scratch files lie on disk through this; files appear whole or not at all."""
