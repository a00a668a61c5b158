"""The subsurface model holds vp, epsilon and delta; it is read, checked and cut here."""
