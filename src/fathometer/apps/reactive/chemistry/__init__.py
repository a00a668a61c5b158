"""The reactions of a flow are read and balanced here: the chemistry file, activities, equilibria of initial and
boundary waters."""
