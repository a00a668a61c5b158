"""Input files: tables and keys, constraints, problems, loading, the reference of all keys."""
