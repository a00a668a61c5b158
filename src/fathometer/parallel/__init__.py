"""Ranks and threads share this: collectives, decomposition, halos, transposes, groups, the memory budget, the watch for
ranks that stand still."""
