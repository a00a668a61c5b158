"""Traces under the headers of recorded ones: what is kept, what is made right, and nothing left behind."""

import re
from pathlib import Path

import numpy as np
import pytest
from segy_support import Bytes

from fathometer.base.errors import FathometerError
from fathometer.storage.traces.detect import layout_of
from fathometer.storage.traces.recorded_headers import NewGathers, RecordedHeadersWriter
from fathometer.storage.traces.segy import read_traces, scan

TRACES = 5


def recorded(folder: Path, order: str, **options: object) -> Path:
    trace = [{9: 3, 13: k, 29: 1, 73: 10 * k, 81: 7 * k, 117: 2000, 233: 99 - k} for k in range(TRACES)]
    data = Bytes(np.ones((TRACES, 6)), **{"order": order, "interval": 2000, "trace": trace, **options})
    return data.write(folder / f"recorded.{'su' if options.get('su') else 'segy'}")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", [{}, {"su": True}, {"revision": (2, 0), "extended": ["a"]}], ids=["1", "su", "2"])
def test_other_sampling_and_fewer_traces(tmp_path: Path, order: str, kind: dict[str, object]) -> None:
    path = recorded(tmp_path, order, **kind)
    new, values = tmp_path / "new" / path.name, np.arange(12.0).reshape(3, 4)
    chosen = np.array([0, 2, 3, 4])
    with RecordedHeadersWriter([NewGathers(new, layout_of(path), chosen)], 4, 0.001, 0.0) as writer:
        writer.write(0, np.array([3, 0, 1]), values)
        writer.write(0, np.array([2]))
        assert not new.exists()
    got, was = scan(new), scan(path)
    assert (got.samples, got.interval, got.layout.order, got.layout.traces) == (4, 0.001, order, 4)
    for name in ("ffid", "channel", "source", "receiver"):
        np.testing.assert_array_equal(getattr(got, name), getattr(was, name)[chosen])
    np.testing.assert_array_equal(read_traces(new, range(4)), [values[1], values[2], 0 * values[0], values[0]])
    rows = got.layout.rows()[:, :240]
    differing = {int(k) + 1 for k in np.flatnonzero((rows != was.layout.rows()[chosen, :240]).any(axis=0))}
    assert differing <= {115, 116, 117, 118}


def test_intervals_of_single_traces_are_made_right(tmp_path: Path) -> None:
    """The first trace says the interval of the run already, the others do not."""
    trace = [{9: 3, 13: k, 29: 1, 117: 4000 if k == 0 else 2000} for k in range(TRACES)]
    layout = layout_of(recorded(tmp_path, "<", su=True, trace=trace), 0.004)
    new = tmp_path / "new" / "a.su"
    with RecordedHeadersWriter([NewGathers(new, layout, np.arange(TRACES))], 6, 0.004, 0.0) as writer:
        writer.write(0, np.arange(TRACES))
    assert layout_of(new).headers(["interval"])["interval"].tolist() == [4000] * TRACES


def test_an_extension_says_the_new_sampling(tmp_path: Path) -> None:
    path = recorded(tmp_path, ">", revision=(2, 1), additional=1)
    data = bytearray(path.read_bytes())
    layout = layout_of(path)
    for k in range(TRACES):
        begin = layout.start + k * layout.trace_bytes + 240
        data[begin + 136 : begin + 140] = (6).to_bytes(4, "big")
        data[begin + 144 : begin + 152] = np.array(2000.0, ">f8").tobytes()
        data[begin + 232 : begin + 240] = b"SEG00001"
    path.write_bytes(data)
    new = tmp_path / "new" / "a.segy"
    with RecordedHeadersWriter([NewGathers(new, layout_of(path), np.arange(TRACES))], 4, 0.001, 0.0) as writer:
        writer.write(0, np.arange(TRACES))
    heads = np.asarray(layout_of(new).rows()[:, 240:480])
    assert heads[:, 136:140].copy().view(">u4").tolist() == [[4]] * TRACES
    assert heads[:, 144:152].copy().view(">f8").tolist() == [[1000.0]] * TRACES


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (True, "a.segy: NaN or infinity in trace 2, sample 1 (from 0)"),
        (False, "3 of 5 traces are missing (the first: 0"),
    ],
    ids=["not finite", "missing"],
)
def test_what_fails_leaves_nothing(tmp_path: Path, wrong: bool, words: str) -> None:
    layout = layout_of(recorded(tmp_path, ">"))
    values = np.ones((2, 6))
    values[1, 1] = np.nan if wrong else 1.0

    def write() -> None:
        with RecordedHeadersWriter(
            [NewGathers(tmp_path / "new" / "a.segy", layout, np.arange(5))], 6, 0.002, 0.0
        ) as writer:
            writer.write(0, np.array([1, 2]), values)

    with pytest.raises(FathometerError, match=re.escape(words)):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["recorded.segy"]
