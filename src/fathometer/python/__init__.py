"""What `import fathometer` offers: volumes, gathers, runs and records in Python. See docs/guide/python.md.

The names are those of `fathometer/__init__.pyi`; each is imported when it is first used.
"""
