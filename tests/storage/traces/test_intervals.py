"""Sample intervals that differ within a file: read from the headers as an index of the file has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from index_support import index_of, table_of
from segy_support import Bytes

from fathometer.storage.describe import describe
from fathometer.storage.traces.segy import scan

OWN = (4000, 4000, 2000, 0, -4, 4000)  # µs, of each trace


def written(folder: Path, own: tuple[int, ...] = OWN, **options: object) -> Path:
    """Six traces of 20 samples; own: sample intervals of their headers."""
    values = np.random.default_rng(1).standard_normal((6, 20))
    places = [{9: 7, 13: n + 1, 29: 1, 73: 1000, 81: 1100 + 10 * n, 117: interval} for n, interval in enumerate(own)]
    return Bytes(values, trace=places, **options).write(folder / ("a.su" if options.get("su") else "a.segy"))  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"su": True}, {"interval": 0}, {"interval": 0, "order": "<"}], ids=str)
def test_traces_keep_their_own_where_the_file_has_none(tmp_path: Path, options: dict[str, object]) -> None:
    path = written(tmp_path, **options)
    table = scan(path)
    assert table.intervals.tolist() == [0.004, 0.004, 0.002, 0.004, 0.0, 0.004]
    assert table.intervals.tolist() == table_of(index_of(path))["interval"].tolist()
    assert table.live.tolist() == [True, True, True, True, False, True]
    [note] = table.notes
    assert "1 of 6 traces: no positive sample interval: left out; first: trace 4 (from 0): -4 µs" in note


def test_the_word_of_the_file_counts_with_a_note(tmp_path: Path) -> None:
    path = written(tmp_path)
    table = scan(path)
    assert set(table.intervals) == {0.004}
    assert table.live.all()
    [note] = table.notes
    assert "2 of 6 traces: another sample interval than the file: the file's interval is used" in note
    assert "first: trace 2 (from 0): 2000 µs, 4000 µs in the file" in note
    assert [anomaly.count for anomaly in index_of(path).summary.anomalies] == [2]


def test_an_interval_that_is_asked_for_holds_for_all(tmp_path: Path) -> None:
    table = scan(written(tmp_path, interval=0), 0.003)
    assert set(table.intervals) == {0.003}
    assert table.live.all()


def test_info_says_what_the_traces_have(tmp_path: Path) -> None:
    rows = dict(describe(str(written(tmp_path, su=True)), tmp_path).rows())
    assert rows["sample intervals"] == "of the traces 0.002 to 0.004 s"
    rows = dict(describe(str(written(tmp_path, own=(4000,) * 6)), tmp_path).rows())
    assert "sample intervals" not in rows
