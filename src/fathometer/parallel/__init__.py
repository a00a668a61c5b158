"""What many processes share: blocks of a grid, halos, threads and cores, launching, failing together."""
