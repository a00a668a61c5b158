"""Repeated measurements get medians with intervals here, and what follows from them."""
