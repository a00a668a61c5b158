"""RMS velocities and effective eta over place and vertical two-way time are read or derived, checked and kept at
hand."""
