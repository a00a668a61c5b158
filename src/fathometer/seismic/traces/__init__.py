"""What is done to traces and wavelets: conditioning, resampling, dispersion correction."""
