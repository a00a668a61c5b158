"""The subsurface model: vp, epsilon, delta; reading, checking, preparing."""
