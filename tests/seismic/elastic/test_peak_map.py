"""Maps of peak ground velocity: gathered from any decomposition, written and drawn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic import peak_map
from fathometer.seismic.elastic.peak_map import gathered_peaks, peak_paths, write_peaks
from fathometer.storage.volumes.volume import open_volume

SOLID = Grid((9, 8, 11), (10.0, 20.0, 5.0), (100.0, -20.0, 0.0), ((3, 2), (1, 2), (0, 3)))
PLANE = Grid((9, 1, 11), (10.0, 20.0, 5.0), (100.0, 0.0, 0.0), ((3, 2), (0, 0), (2, 3)))


@dataclass
class Watching:
    grid: Grid
    block: Decomposition
    comm: object
    peak: object


def known(grid, rank, ranks, plane=0):
    """A propagator's part: peaks 1000 x + y and their negative at cells of the padded grid; of one layer of blocks."""
    block = Decomposition(grid.full_shape, ranks, rank)
    x, y = np.ogrid[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]]
    values = 1000.0 * x + y
    inside = block.lo[2] <= plane < block.hi[2]
    return Watching(grid, block, MPI.COMM_SELF, (values, -values) if inside else None)


@pytest.mark.parametrize("grid", [SOLID, PLANE])
def test_maps_hold_the_nodes_of_the_model(tmp_path, grid):
    peaks = gathered_peaks(known(grid, 0, (1, 1, 1)))
    x, y = np.ogrid[3:12, grid.pad[1][0] : grid.pad[1][0] + grid.shape[1]]
    np.testing.assert_array_equal(peaks, np.stack([1000.0 * x + y, -1000.0 * x - y]).astype(np.float32))
    files = write_peaks(grid, peaks, tmp_path)
    assert files == peak_paths(tmp_path)
    assert [path.name for path in files.values()] == [
        *("peak-velocity-horizontal.rsf", "peak-velocity-vertical.rsf", "peak-velocity.png")
    ]
    for path, values in zip(list(files.values())[:2], peaks, strict=True):
        with open_volume(path.name, tmp_path) as volume:
            np.testing.assert_array_equal(volume.read((0, 0), values.shape), values)
            assert (volume.info.spacing, volume.info.origin) == (grid.spacing[:2], grid.origin[:2])
            assert (volume.info.labels, volume.info.unit) == (("x", "y"), "m/s")
    assert Path(files["peak velocity picture"]).read_bytes().startswith(b"\x89PNG")


def test_ranks_without_the_plane_add_nothing(monkeypatch):
    """What `exchange` is given by six ranks of three columns and two layers fills the map once."""
    given = []
    monkeypatch.setattr(peak_map, "exchange", lambda comm, have, at, lo, hi: given.append((have, at)) or have)
    for rank in range(6):
        gathered_peaks(known(SOLID, rank, (3, 1, 2)))
    filled = np.zeros((2, *SOLID.full_shape[:2]), int)
    for have, (_, x, y) in given:
        filled[:, x : x + have.shape[1], y : y + have.shape[2]] += 1
    assert (filled == 1).all()
