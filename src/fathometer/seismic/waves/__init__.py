"""Wave propagation: propagator, absorbing layers, points between cells, time axis."""
