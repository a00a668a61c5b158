"""Index of a survey: one table of all traces of many files, so that their headers are read only once."""

INDEX_SUFFIX = ".parquet"
