"""What ranks and threads share: collectives, decomposition, halos, threads, groups, memory budget."""
