"""Seismic modelling and reverse time migration."""
