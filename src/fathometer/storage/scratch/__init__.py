"""Scratch files have no name; stacks and slots of records lie in memory or in them, and go with the process."""
