"""Lengths of Fourier transforms are those that SciPy takes."""

from scipy.fft import next_fast_len

from fathometer.seismic.traces.lengths import fast_length


def test_lengths_are_scipys():
    for length in [*range(1, 10_000), 123_456_789, 2**40 + 1]:
        assert fast_length(length) == next_fast_len(length, real=True)
