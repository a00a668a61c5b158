"""Forms: published tables, each made by one command (`fathometer study forms`)."""
