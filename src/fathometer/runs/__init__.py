"""Resumable runs: the application interface, journal of tasks, claims, contributions, exact sums."""
