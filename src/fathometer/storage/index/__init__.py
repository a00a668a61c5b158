"""The index of a survey is one table of all traces of many files, so that their headers are read only once."""

INDEX_SUFFIX = ".parquet"
