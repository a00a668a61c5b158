"""The index says what traces show of the ghosts of the sea surface, and nothing where they do not."""

import numpy as np
import pytest
from index_support import index_of

from fathometer.storage.index.summary import describe_index, table_of
from fathometer.storage.traces.notches import notches_of, spread
from fathometer.storage.traces.segy import read_traces, scan
from fathometer.storage.traces.segy_writer import GatherWriter

INTERVAL, NS, N = 0.004, 500, 40


def written(path, depths, ghosts):
    """A gather of noise up to 80 Hz, with headers of these depths and the ghosts of others."""
    frequency = np.fft.rfftfreq(2 * NS, INTERVAL)
    spectra = np.fft.rfft(np.random.default_rng(2).standard_normal((N, 2 * NS))) * (frequency < 80)
    for depth in ghosts:
        spectra *= 1 - np.exp(-2j * np.pi * frequency * 2 * depth / 1500.0)
    receivers = np.stack((25.0 * np.arange(N), np.zeros(N), np.full(N, depths[1])), axis=1)
    with GatherWriter(path, NS, INTERVAL, N) as writer:
        writer.write(0, 1, [-100.0, 0.0, depths[0]], receivers, np.fft.irfft(spectra)[:, :NS])
    return path


@pytest.mark.parametrize(
    ("depths", "ghosts", "wanted"),
    [
        ((12.0, 20.0), (12.0, 20.0), {"sources": 62.5, "receivers": 37.5}),
        ((12.0, 20.0), (), {"sources": None, "receivers": None}),
        ((6.0, 10.0), (6.0, 10.0), {}),  # notches at 125 and 75 Hz, too near the Nyquist frequency
        ((0.0, 0.0), (12.0, 20.0), {}),
    ],
)
def test_what_is_told_of_ghosts(tmp_path, depths, ghosts, wanted):
    index = index_of(written(tmp_path / "a.segy", depths, ghosts))
    description = describe_index(index.path)
    told = {one["of"]: one["notch_hertz"] for one in description.as_dict()["ghosts"]}
    assert told == {name: None if hertz is None else pytest.approx(hertz, rel=0.05) for name, hertz in wanted.items()}
    lines = [text for label, text in description.rows() if label == "ghosts"]
    assert len(lines) == len(wanted) == table_of(index).count("ghosts: ")
    for line in lines:
        assert ("hold the ghost" in line) == bool(ghosts)
    assert dict(description.rows())["source z"] == f"{depths[0]:g} m"


def test_a_spectrum_that_falls_across_a_notch_tells_nothing(shared_data):
    """The Viking Graben line has receivers at 10 m, with a notch at 75 Hz, where its spectrum has fallen by 30 dB."""
    file = shared_data / "viking_graben" / "viking_small.segy"
    table = scan(file)
    traces, interval = read_traces(file, spread(480)), table.interval
    assert notches_of(traces, interval, table.source[spread(480), 2], table.receiver[spread(480), 2]) == ()
