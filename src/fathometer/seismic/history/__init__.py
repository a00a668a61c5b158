"""The history of the source wavefield: stores, encodings, checkpoints, the choice among them."""
