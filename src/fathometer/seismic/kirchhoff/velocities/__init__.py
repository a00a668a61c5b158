"""RMS velocities and effective eta over place and vertical two-way time: where they come from, checked and at hand."""
