"""Which top and which wavelet fit the traces: one note where they do not, and none for a sound survey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.seismic.setup.ghosts import ghost_notes
from fathometer.seismic.setup.survey_layout import survey_layout
from fathometer.seismic.survey import survey_of
from fathometer.seismic.traces.wavelet import OrmsbyWavelet
from fathometer.storage.traces.modelled_top import line_of_top, top_of, with_top
from fathometer.storage.traces.notches import notches_of
from fathometer.storage.traces.segy import scan
from fathometer.storage.traces.segy_writer import GatherWriter, textual_header

INTERVAL, NS, N = 0.004, 500, 48
TIMES = INTERVAL * np.arange(NS)


def traces_of(source: float, receiver: float, corners=(3.0, 6.0, 80.0, 100.0), seed: int = 1) -> np.ndarray:
    """Random reflectivity under a wavelet, with the ghosts of these depths (0: none) in frequency."""
    frequency = np.fft.rfftfreq(2 * NS, INTERVAL)
    wavelet = np.fft.rfft(OrmsbyWavelet(corners)(INTERVAL * np.arange(-NS, NS)))
    for depth in (source, receiver):
        if depth:
            wavelet = wavelet * (1 - np.exp(-2j * np.pi * frequency * 2 * depth / 1500.0))
    noise = np.random.default_rng(seed).standard_normal((N, 2 * NS))
    return np.fft.irfft(np.fft.rfft(noise) * wavelet, 2 * NS)[:, :NS].astype(np.float32)


def measured(traces: np.ndarray, source: float, receiver: float) -> dict[str, float]:
    found = notches_of(traces, INTERVAL, np.full(N, source), np.full(N, receiver))
    return {notch.of: notch.found for notch in found}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_notches_are_found_where_the_depths_put_them_and_only_there(seed: int) -> None:
    both = traces_of(12.0, 20.0, seed=seed)
    found = measured(both, 12.0, 20.0)
    assert found == {"sources": pytest.approx(62.5, rel=0.05), "receivers": pytest.approx(37.5, rel=0.05)}
    assert measured(traces_of(0.0, 0.0, seed=seed), 12.0, 20.0) == {"sources": 0.0, "receivers": 0.0}
    assert measured(both, 12.0, 15.0)["sources"] > 0.0  # a depth that is wrong does not change the other
    assert measured(both, 12.0, 15.0)["receivers"] == 0.0  # 50 Hz: between the notches


def test_nothing_is_told_of_notches_outside_the_band_and_of_few_or_varying_traces() -> None:
    narrow = traces_of(6.0, 10.0, (4.0, 8.0, 40.0, 50.0))
    assert measured(narrow, 6.0, 10.0) == {}  # at 125 and 75 Hz, where there is no signal
    assert measured(np.zeros((N, NS), np.float32), 12.0, 20.0) == {}
    assert measured(traces_of(12.0, 20.0), 0.0, -20.0) == {}
    few = notches_of(traces_of(12.0, 20.0)[:4], INTERVAL, np.full(4, 12.0), np.full(4, 20.0))
    assert few == ()
    varying = notches_of(traces_of(12.0, 20.0), INTERVAL, np.linspace(5.0, 20.0, N), np.linspace(5.0, 30.0, N))
    assert varying == ()


def notes_of(
    folder: Path,
    traces: np.ndarray,
    depths: tuple[float, float],
    said: str = "",
    top: str = "absorbing",
    deghost: dict[str, Any] | None = None,
    wavelet: str | None = None,
) -> tuple[str, ...]:
    """The notes on a survey of one gather; said: top in the textual header; wavelet: what its file says of ghosts."""
    np.save(folder / "vp.npy", np.full((61, 41), 1500.0, np.float32))
    receivers = np.stack((10.0 * np.arange(N), np.zeros(N), np.full(N, depths[1])), axis=1)
    with GatherWriter(folder / "shots.segy", NS, INTERVAL, N, [line_of_top(said)] if said else []) as writer:
        writer.write(0, 1, [300.0, 0.0, depths[0]], receivers, traces)
    values: dict[str, Any] = {
        "model": {"vp": "vp.npy", "spacing": [10.0, 10.0]},
        "acquisition": {"gathers": "shots.segy"},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
        "propagation": {"top": top},
    }
    if deghost is not None:
        values["acquisition"]["conditioning"] = {"deghost": deghost}
    if wavelet is not None:
        (folder / "w.txt").write_text(f"# a wavelet\n{wavelet}\n0 1 0.5 -0.4 0\n")
        keys = {"kind": "file", "path": "w.txt", "sample_interval": 0.004, "maximum_frequency": 37.5}
        values["wavelet"] = keys
    return ghost_notes(survey_layout(survey_of(values, folder / "survey.toml"), True), MPI.COMM_SELF)


NARROW = (4.0, 8.0, 40.0, 50.0)


@pytest.mark.parametrize(
    ("depths", "ghosts", "keys", "words"),
    [
        # modelled by this program: its header says it all
        ((6.0, 10.0), True, {"said": "free-surface"}, "modelled with a free surface: they hold its ghosts"),
        ((6.0, 10.0), False, {"said": "absorbing"}, None),
        ((6.0, 10.0), True, {"said": "free-surface", "top": "free-surface"}, None),
        ((6.0, 10.0), False, {"said": "absorbing", "top": "free-surface"}, "an absorbing top fits them"),
        ((300.0, 10.0), True, {"said": "free-surface"}, "they hold its ghosts"),
        # recorded, or by another program, with notches out of the band: only depths
        ((6.0, 10.0), True, {}, "unless they were modelled without a surface"),
        ((6.0, 10.0), True, {}, "a zero-phase wavelet does not fit"),
        ((6.0, 10.0), True, {"top": "free-surface"}, None),
        ((0.0, 0.0), False, {}, None),
        ((0.0, 10.0), False, {}, None),
        ((100.0, 10.0), False, {}, None),
        # deghosted, and what does not go with it
        ((6.0, 10.0), True, {"deghost": {}}, None),
        ((6.0, 10.0), True, {"deghost": {}, "top": "free-surface"}, "traces without ghosts fit an absorbing top"),
        ((6.0, 10.0), False, {"deghost": {}, "said": "absorbing"}, "there is no ghost to remove"),
        ((6.0, 10.0), True, {"deghost": {"source": 60.0}}, "sources at 60 m have 2 notches below 37.5 Hz"),
        # a wavelet of `survey wavelet` says what it holds; of any other file nothing is known
        ((6.0, 10.0), True, {"wavelet": "# ghosts: kept (6 m, 10 m)"}, None),
        ((6.0, 10.0), True, {"wavelet": "# by hand"}, None),
        ((6.0, 10.0), True, {"wavelet": "# ghosts: removed"}, "very likely hold"),
        ((6.0, 10.0), True, {"wavelet": "# ghosts: kept", "top": "free-surface"}, "makes them once more"),
        ((6.0, 10.0), True, {"wavelet": "# ghosts: kept", "deghost": {}}, "the wavelet holds the ghosts that are"),
        ((6.0, 10.0), False, {"wavelet": "# ghosts: kept", "said": "absorbing"}, "it holds ghosts, and the traces"),
    ],
)
def test_one_note_says_what_does_not_fit(
    tmp_path: Path, depths: tuple[float, float], ghosts: bool, keys: dict[str, Any], words: str | None
) -> None:
    traces = traces_of(*(depths if ghosts else (0.0, 0.0)), NARROW)
    notes = notes_of(tmp_path, traces, depths, **keys)
    assert len(notes) == (0 if words is None else 1), notes
    for note in notes:
        assert words is not None
        assert words in note
        assert "\n" not in note


def test_a_notch_in_the_band_decides(tmp_path: Path) -> None:
    [note] = notes_of(tmp_path, traces_of(12.0, 20.0), (12.0, 20.0))
    assert "sources at 12 m: notch at 6" in note
    assert "very likely" not in note
    assert notes_of(tmp_path, traces_of(0.0, 0.0), (12.0, 20.0)) == ()


def test_traces_that_cannot_be_read_are_no_matter_of_this_note(tmp_path: Path) -> None:
    traces = traces_of(6.0, 10.0, NARROW)
    notes_of(tmp_path, traces, (6.0, 10.0))
    path = tmp_path / "shots.segy"
    table = scan(path)
    layout = table.layout
    data = bytearray(path.read_bytes())
    for trace in range(N):
        first = layout.start + trace * layout.trace_bytes + layout.header_bytes
        data[first : first + 4] = b"\x7f\xc0\x00\x00"  # a NaN
    path.write_bytes(data)
    values = {
        "model": {"vp": "vp.npy", "spacing": [10.0, 10.0]},
        "acquisition": {"gathers": "shots.segy"},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
    }
    [note] = ghost_notes(survey_layout(survey_of(values, tmp_path / "survey.toml"), True), MPI.COMM_SELF)
    assert "very likely hold" in note


def test_the_textual_header_says_the_top_once(tmp_path: Path) -> None:
    head = textual_header(10, 4000) + bytes(400)
    for top in ("absorbing", "free-surface", "absorbing"):
        head = with_top(head, top)
        assert len(head) == 3600
        assert head[:3200].decode("cp037").count("Top of the model") == 1
        (tmp_path / "a.segy").write_bytes(head)
    full = "".join(f"C{n:2d} words".ljust(80) for n in range(1, 41)).encode("ascii")
    assert with_top(full, "absorbing") == full  # no line is blank
    assert with_top(b"", "absorbing") == b""  # SU
    with GatherWriter(tmp_path / "b.segy", 10, 0.004, 1, [line_of_top("free-surface")]) as writer:
        writer.write(0, 1, [0.0, 0.0, 1.0], [[10.0, 0.0, 1.0]], np.ones((1, 10)))
    assert top_of(scan(tmp_path / "b.segy").layout) == "free-surface"
