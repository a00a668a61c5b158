"""Contents of a run's report page: heading and panels."""
