"""Volumes and gathers on disk: one small module per format."""
