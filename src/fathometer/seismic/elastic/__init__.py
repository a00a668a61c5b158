"""Elastic waves are modelled in 3D and 2D: velocity and stress on a staggered grid."""
