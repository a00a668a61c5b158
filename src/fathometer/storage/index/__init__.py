"""The index of a survey: all traces of many files in one table, so that headers are read once."""
