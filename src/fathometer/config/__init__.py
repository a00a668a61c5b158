"""Input files are read and checked here: tables and keys, constraints, problems in one line, the reference of all
keys."""
