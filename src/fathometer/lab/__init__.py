"""The laboratory measures machines, this program and any other one; of applications it knows no physics, it asks
them."""
