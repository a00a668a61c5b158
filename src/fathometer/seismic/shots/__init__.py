"""Shots: sources, receivers, recorded gathers, offset bins, windows."""
