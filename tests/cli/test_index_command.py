"""`fathometer survey build` and `fathometer info` of an index, and its picture, as a user meets them."""

import json

import numpy as np
import pytest
from cli_support import run
from index_support import index_of, live

from fathometer.pictures import index_picture
from fathometer.pictures.survey_map import bins_of, fold_of
from fathometer.storage.index.table import TraceIndex

PNG = b"\x89PNG\r\n\x1a\n"


def test_a_build_prints_what_is_there_and_what_is_wrong(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = live(shots=3)
    data.values[4] = 0
    data.write(tmp_path / "a.segy")
    (tmp_path / "b.txt").write_text("no traces")
    done = run(capsys, "survey", "build", "a.segy", "b.txt", "-o", "line.parquet")
    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "line.parquet: 1 file, 3 shots, 9 traces, of which 8 can be used",
        "sampling: 4 samples every 0.004 s from 0 s",
    ]
    for words in ("files that are no gathers", "traces: all samples are zero", "a.segy: trace 4 (of 9, from 0)"):
        assert words in done.out
    assert done.err == "left out: b.txt: is not SEG-Y: 9 bytes, fewer than the 3600 of its file header\n"
    quiet = run(capsys, "survey", "build", "a.segy", "-o", "line.parquet", "--quiet", "--jobs", "1")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a.segy", "--strict"], "a.segy: trace 4 (of 6, from 0) (all samples are zero; --strict)"),
        (["b.txt"], "b.txt: is not SEG-Y"),
        (["gone.segy"], "gone.segy: no such file"),
        (["a.segy", "--word", "shot"], "--word shot: allowed: NAME=WORD"),
        (["a.segy", "--shot-key", "Feild"], "Feild is no word"),
        (["a.segy", "--jobs", "0"], "allowed: a whole number of at least 1"),
        (["a.segy", "-o", "none/a.parquet"], "none is no folder"),
        (["a.segy", "-o", "a.txt"], "a.txt: allowed for an index: a name that ends in .parquet"),
        ([], "required: FILE"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(tmp_path, capsys, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    data = live()
    data.values[4] = 0
    data.write(tmp_path / "a.segy")
    (tmp_path / "b.txt").write_text("no traces")
    done = run(capsys, "survey", "build", *words)
    assert (done.code, done.out) == (2, "")
    assert expected in done.err.splitlines()[-1]
    assert not (tmp_path / "survey.parquet").exists()


def test_shot_and_channel_have_options_of_their_own(tmp_path, capsys):
    data = live()
    for number, fields in enumerate(data.trace):
        fields |= {17: 50 + number // 2, 25: number}
    path = data.write(tmp_path / "a.segy")
    output = tmp_path / "i.parquet"
    words = ("--shot-key", "EnergySourcePoint", "--channel", "25:i4", "--word", "source_y=none")
    assert run(capsys, "survey", "build", path, "-o", output, *words).code == 0
    rows = TraceIndex(output).columns(["shot", "channel", "source_y"])
    assert rows["shot"].tolist() == [50, 50, 51, 51, 52, 52]
    assert rows["channel"].tolist() == [0, 1, 2, 3, 4, 5]
    assert not rows["source_y"].any()


def test_info_of_an_index(tmp_path, capsys):
    data = live()
    data.trace[1][29] = 2
    path = data.write(tmp_path / "a.segy")
    index = index_of(path).path
    done = run(capsys, "info", index)
    assert done.code == 0
    for words in (
        "kind               index of a survey",
        "files              1 (1 SEG-Y revision 1), ",
        "shots              2",
        "traces             6, of which 5 can be used",
        "channels per shot  2 to 3",
        "source x           100 to 200 m",
        "offset             10 to 30 m",
        "sampling           4 samples every 0.004 s from 0 s",
        "anomaly            1 traces: marked as dead",
        "header words       shot 9:i4, channel 13:i4, source_x 73:i4",
    ):
        assert words in done.out
    (told,) = json.loads(run(capsys, "info", index, "--json").out)
    assert (told["kind"], told["shots"], told["traces"], told["usable_traces"]) == ("index", 2, 6, 5)
    assert told["receiver_metres"] == {"x": [110, 230], "y": [7, 7], "z": [0, 0]}
    assert told["anomalies"][0]["key"] == "dead"
    assert told["changed"] == []
    path.unlink()
    done = run(capsys, "info", index)
    assert done.code == 0
    assert f"changed            {path}: no such file" in done.out


def test_an_index_without_usable_traces(tmp_path, capsys):
    """Its anomalies are told, and that it is of no use."""
    data = live()
    data.values[:] = 0
    index = tmp_path / "a.parquet"
    done = run(capsys, "survey", "build", data.write(tmp_path / "a.segy"), "-o", index)
    assert done.code == 2
    assert "a.parquet: none of 6 traces can be used: see their anomalies" in done.err
    assert "all samples" in done.out
    done = run(capsys, "info", index)
    assert (done.code, "offset" in done.out) == (0, False)
    assert run(capsys, "info", index, "--json").code == 0
    done = run(capsys, "info", index, "--picture", tmp_path / "a.png")
    assert done.code == 2
    assert "none of its 6 traces can be used" in done.err


@pytest.mark.parametrize("flat", [True, False])
def test_the_picture_of_an_index(tmp_path, capsys, monkeypatch, flat):
    data = live(shots=5, channels=6)
    for number, fields in enumerate(data.trace):
        fields[85] += 0 if flat else 20 * (number % 7)
    index = index_of(data.write(tmp_path / "a.segy")).path
    drawn = []
    true = index_picture.survey_picture
    monkeypatch.setattr(index_picture, "survey_picture", lambda *all_: (drawn.append(all_), true(*all_)))
    assert run(capsys, "info", index, "--picture", tmp_path / "a.png").code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
    _, sources, receivers, (midpoints, offsets), gather, title, note = drawn[0]
    np.testing.assert_array_equal(sources, [[100 * shot, 7] for shot in range(1, 6)])
    assert len(receivers) == len({(fields[81], fields[85]) for fields in data.trace})
    assert (len(midpoints), len(offsets), note) == (30, 30, "")
    assert title == "survey.parquet: 5 shots, 30 traces"
    assert gather.title == "shot 3, 6 traces"
    assert (np.diff(gather.offsets) >= 0).all()
    rows = [float(row[0]) for row in gather.traces]
    away = [np.hypot(fields[81] - 300, fields[85] - 7) for fields in data.trace[12:18]]
    assert rows == [data.values[12 + k][0] for k in np.argsort(away, kind="stable")]


def test_a_picture_without_its_files_has_no_gather_and_says_so(tmp_path, capsys, monkeypatch):
    path = live().write(tmp_path / "a.segy")
    index = index_of(path).path
    path.unlink()
    drawn = []
    monkeypatch.setattr(index_picture, "survey_picture", lambda *all_: drawn.append(all_))
    assert run(capsys, "info", index, "--picture", tmp_path / "a.png").code == 0
    assert drawn[0][4] is None
    assert drawn[0][6].startswith(f"no gather: {path}: no such file, and")


def test_info_and_picture_of_su(tmp_path, capsys):
    path = live(su=True, order="<").write(tmp_path / "a.su")
    done = run(capsys, "info", path, "--picture", tmp_path / "a.png")
    assert done.code == 0
    assert "SU, little-endian, 4-byte IEEE float" in done.out
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


# --- bins


@pytest.mark.parametrize(
    ("values", "most", "edges"),
    [
        ([0.0, 12.5, 25.0, 25.0], 120, [-6.25, 6.25, 18.75, 31.25]),
        (np.arange(100) * 25.0, 50, np.arange(51) * 50.0 - 12.5),  # two steps a bin
        (np.arange(100) * 25.0, 32, np.arange(26) * 100.0 - 12.5),  # four
        ([5.0, 5.0], 120, [4.5, 5.5]),
    ],
)
def test_bins_hold_whole_steps_of_what_is_regular(values, most, edges):
    got = bins_of(np.array(values), most)
    np.testing.assert_allclose(got.edges, edges)
    assert got.step in (1.0, 12.5, 25.0)


def test_bins_of_what_is_irregular_have_a_round_size():
    values = np.random.default_rng(1).uniform(300.0, 1303.0, 500)
    edges = bins_of(values, 90).edges
    np.testing.assert_allclose(np.diff(edges), 20.0)
    assert edges[0] <= values.min() <= edges[0] + 20
    assert edges[-1] - 20 <= values.max() <= edges[-1]


def test_the_fold_counts_every_midpoint_once():
    x, y = np.meshgrid(np.arange(20) * 12.5, np.arange(10) * 25.0, indexing="ij")
    midpoints = np.stack([np.tile(x.ravel(), 3), np.tile(y.ravel(), 3)], axis=1)
    fold = fold_of(midpoints)
    assert fold.words == "bins of 12.5 m × 25 m"
    np.testing.assert_array_equal(fold.counts, np.full((20, 10), 3))


def test_the_fold_is_that_of_the_smallest_bins_however_many_a_picture_shows():
    x, y = np.meshgrid(np.arange(480) * 6.25, np.arange(8) * 25.0, indexing="ij")
    fold = fold_of(np.stack([np.tile(x.ravel(), 2), np.tile(y.ravel(), 2)], axis=1))
    assert fold.words == "bins of 6.25 m × 25 m, mean of 4 × 1"
    np.testing.assert_array_equal(fold.counts, np.full((120, 8), 2))


def test_headers_that_lie_are_overruled(tmp_path, capsys, monkeypatch):
    """Offsets that differ make a grid of velocities look like gathers; the interval is wrong, or missing."""
    monkeypatch.chdir(tmp_path)
    trace = [{9: 1, 13: k + 1, 29: 1, 37: k, 189: 1 + k // 3, 193: 1 + k % 3} for k in range(6)]
    live(trace=trace, interval=0, every={117: 0}).write(tmp_path / "a.seg")
    assert "a.seg: the sample interval is not positive" in run(capsys, "info", "a.seg").err
    for kind in ("gathers", "volume"):
        interval = ("--sample-interval", "0.002") if kind == "gathers" else ()
        done = run(capsys, "info", "a.seg", "--as", kind, *interval, "--json")
        assert (done.code, json.loads(done.out)[0]["kind"]) == (0, kind)
    assert json.loads(run(capsys, "info", "a.seg", "--sample-interval", "0.002", "--json").out)[0]["kind"] == "gathers"
    done = run(capsys, "info", "a.seg", "--as", "volume", "--sample-interval", "0.002")
    assert (done.code, "a.seg: a sample interval is given; found a volume" in done.err) == (2, True)
    live(interval=0, every={117: 0}).write(tmp_path / "b")
    done = run(capsys, "survey", "build", "b", "--sample-interval", "0.002")
    assert "sampling: 4 samples every 0.002 s from 0 s" in done.out
    assert "the sample interval is taken as 2000 µs, as was asked for; the headers say none" in done.out
    done = run(capsys, "survey", "build", "b", "--sample-interval", "fast")
    assert (done.code, done.err.splitlines()[-1].split(":")[-1][:8]) == (2, " seconds")
