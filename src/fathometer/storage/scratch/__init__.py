"""Anonymous scratch files, and stacks and slots of records in memory or in such files."""
