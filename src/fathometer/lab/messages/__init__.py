"""`fathometer messages` measures messages: patterns, protocols, lengths, pairs of ranks; fits say what they cost."""
