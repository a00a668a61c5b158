"""Predicted cost of a survey: seconds, bytes of memory, disk, files and messages, from counts and a machine's rates."""
