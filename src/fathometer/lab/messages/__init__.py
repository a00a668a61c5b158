"""The benchmark of messages: patterns, protocols, lengths, pairs of ranks; fits of what they cost."""
