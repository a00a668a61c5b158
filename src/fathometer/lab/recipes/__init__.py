"""Recipes: how programs of others are run, and what they say."""
