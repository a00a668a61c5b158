"""Seismic imaging and modelling takes surveys to shots and images: waves in time, migrations in depth and in time."""
