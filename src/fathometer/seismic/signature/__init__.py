"""`fathometer survey wavelet` estimates the source wavelet from recorded traces."""
