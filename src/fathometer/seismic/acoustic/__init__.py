"""Acoustic waves state here what their modelling and migration cost, and how a page shows them."""
