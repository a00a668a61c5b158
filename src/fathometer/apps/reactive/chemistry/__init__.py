"""Reactions of a flow: the chemistry file, activities, and the equilibrium of initial and boundary waters."""
