"""A run's page shows this of seismic work: its heading and panels."""
