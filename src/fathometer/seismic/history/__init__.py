"""The source wavefield's history is kept for the receiver loop: stores, encodings, checkpoints, the choice among
them."""
