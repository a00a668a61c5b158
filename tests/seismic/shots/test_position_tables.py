"""Geometries from tables of positions: what the rows say, in 2D and 3D, alone and beside ranges."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_acquisition import refused, survey

from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of


def modelled(folder: Path, dimension: int, sources: Any, receivers: Any) -> Acquisition:
    """An acquisition of ranges (tables of keys) or of CSV (texts)."""
    keys = {}
    for name, value in (("sources", sources), ("receivers", receivers)):
        keys[name] = f"{name}.csv" if isinstance(value, str) else value
        if isinstance(value, str):
            (folder / f"{name}.csv").write_text(value)
    return acquisition_of(survey(folder, keys, propagation={"duration": 1.0}), dimension)


def test_rows_are_shots_and_receivers_in_their_order(tmp_path: Path) -> None:
    got = modelled(
        tmp_path,
        3,
        "x,y,z,shot\n10.1,20,3,9\n-1e1,0.5,4,-2\n",
        "\ufeffShot, Channel,x,y,elevation\n-2,7,1,2,0.25\n9,1,3,4,-5\n\n# more\n-2,5,6,7,8\n",
    )
    assert [(shot.index, shot.ffid, *shot.source) for shot in got.shots] == [(0, 9, 10.1, 20, 3), (1, -2, -10, 0.5, 4)]
    assert [shot.receivers.tolist() for shot in got.shots] == [[[3, 4, 5]], [[1, 2, -0.25], [6, 7, -8]]]
    assert [shot.channel.tolist() for shot in got.shots] == [[1], [7, 5]]
    assert got.notes == ()


def test_tables_beside_ranges(tmp_path: Path) -> None:
    spread = {"x": [0, 20, 10], "z": 1.5, "relative": True}
    got = modelled(tmp_path, 2, "x,depth,elevation,y\n100,5,2,7\n200,6,0,7.5\n", spread)
    assert [(shot.ffid, *shot.source) for shot in got.shots] == [(1, 100, 0, 3), (2, 200, 0, 6)]
    assert got.shots[1].receivers[:, 0].tolist() == [200, 210, 220]
    assert "y spreads over 0.5 m and is ignored in 2D" in got.notes[0]
    every = modelled(tmp_path, 2, {"x": [0, 20, 10], "z": 1}, "x,z\n3,1\n2,9\n")
    assert [shot.ffid for shot in every.shots] == [1, 2, 3]
    assert every.shots[0].receivers is every.shots[2].receivers
    assert every.shots[0].receivers.tolist() == [[3, 0, 1], [2, 0, 9]]
    for array in (every.shots[0].source, every.shots[0].receivers, every.shots[0].channel):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_y_is_needed_in_3d(tmp_path: Path) -> None:
    with refused("sources.csv", "column y: missing; needed in 3D"):
        modelled(tmp_path, 3, "x,z\n1,2\n", {"x": 0, "y": 0, "z": 0})
    with refused("[acquisition] receivers.y", "missing, needed in 3D", "the model is 3D"):
        modelled(tmp_path, 3, "x,y,z\n1,2,3\n", {"x": 0, "z": 0})


def test_gathers_go_with_no_tables(tmp_path: Path) -> None:
    with refused("sources: found together with gathers"):
        survey(tmp_path, {"gathers": "a.segy", "sources": "sources.csv"})
    with refused("receivers.csv", "no such file"):
        modelled(tmp_path, 2, {"x": 0, "z": 0}, {"x": 0, "z": 0}) and acquisition_of(
            survey(tmp_path, {"sources": {"x": 0, "z": 0}, "receivers": "receivers.csv"}, propagation={"duration": 1.0})
        )


def test_many_rows(tmp_path: Path) -> None:
    """The spread of a shot is found without looking at all rows for each."""
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(1, 101), 20))
    text = "shot,x,z\n" + "".join(f"{shot},{k},{shot}\n" for k, shot in enumerate(rows))
    got = modelled(tmp_path, 2, {"x": [1, 100, 1], "z": 1}, text)
    for shot in got.shots:
        np.testing.assert_array_equal(shot.receivers[:, 0], np.flatnonzero(rows == shot.ffid))
