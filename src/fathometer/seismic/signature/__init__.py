"""The source wavelet estimated from recorded traces: `fathometer survey wavelet`."""
