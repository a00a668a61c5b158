"""The flagship application: seismic modelling and reverse time migration, one noun a file."""
