"""Tecplot files: what an independent reader finds in them, the same bytes by all ways of writing, and bad ones."""

import itertools
import struct

import numpy as np
import pytest
from cli_support import under_mpirun
from mpi4py import MPI
from paths import SUPPORT

from fathometer.base.errors import InputError
from fathometer.storage.tecplot.layout import TecplotLayout, Zone
from fathometer.storage.tecplot.reader import TecplotFile
from fathometer.storage.tecplot.ways import Way
from fathometer.storage.tecplot.writer import TecplotWriter

NODES, NAMES = (4, 3, 5), ("x", "y", "velocity-x", "p")
INSIDE = tuple(slice(1, 1 + n) for n in NODES[::-1])


def layout(dtype="float32", count=3, **changed):
    return TecplotLayout.of(**{"title": "flow", "variables": NAMES, "nodes": NODES} | changed, dtype=dtype, zones=count)


def zones(count):
    return [Zone(f"step {n}", 0.25 * n) for n in range(count)]


def values(dtype, zone):
    return np.random.default_rng(zone).standard_normal((*NODES[::-1], len(NAMES))).astype(dtype)


def write(path, dtype="float32", there=2, way=None):
    path.touch()
    writer = TecplotWriter(path, layout(dtype), way or Way(sync=False), MPI.COMM_SELF, (0, 0, 0), NODES[::-1])
    for zone in range(there):
        nodes = np.full([n + 2 for n in NODES[::-1]] + [len(NAMES)], np.nan, dtype)
        nodes[INSIDE] = values(dtype, zone)
        writer.write(zones(zone + 1), nodes, INSIDE)
    writer.close()
    return path


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore")  # of a library of Tecplot's that is not there, and is not needed
def test_an_independent_reader_finds_all_values(dtype, tmp_path):
    """Of a file in which the last of three planned zones is missing."""
    tecio = pytest.importorskip("tecio")
    with tecio.open(str(write(tmp_path / "a.plt", dtype))) as file:
        assert file.title.strip() == "flow"
        assert [zone.solution_time for zone in file.zones] == [0.0, 0.25]
        for number, zone in enumerate(file.zones):
            assert tuple(zone.dimensions) == NODES
            for index, name in enumerate(NAMES):
                found = np.asarray(zone.variables[index].values).T
                assert zone.variables[index].name == name
                assert found.tobytes() == values(dtype, number)[..., index].tobytes()


def test_our_own_reader(tmp_path):
    file = TecplotFile(write(tmp_path / "a.plt"))
    assert (file.title, file.variables) == ("flow", NAMES)
    assert [(zone.name, zone.time, zone.nodes) for zone in file.zones] == [
        ("step 0", 0.0, NODES),
        ("step 1", 0.25, NODES),
    ]
    assert (file.read(1, "p") == values("float32", 1)[..., 3]).all()
    assert (file.section(1, "p", 2) == values("float32", 1)[:, 2, :, 3]).all()


def test_extremes_stand_before_the_values(tmp_path):
    path = write(tmp_path / "a.plt")
    at = layout().zone_start(1) + 4 + 4 * len(NAMES) + 12
    found = struct.unpack(f"<{2 * len(NAMES)}d", path.read_bytes()[at : at + 16 * len(NAMES)])
    flat = values("float32", 1).reshape(-1, len(NAMES))
    assert found == tuple(float(v) for pair in zip(flat.min(axis=0), flat.max(axis=0), strict=True) for v in pair)


@pytest.mark.parametrize("there", [0, 1, 3])
def test_values_stay_where_they_are_when_zones_are_added(there, tmp_path):
    path = write(tmp_path / "a.plt", there=there) if there else None
    assert layout().head_bytes == sum(struct.calcsize("<" + kind) for kind, _ in layout().head(zones(there)))
    if path is not None:
        assert path.stat().st_size == layout().bytes(there)
        assert len(TecplotFile(path).zones) == there


WAYS = [*itertools.product(("types", "elements"), ("kept", "step", "call"), ("packed", "views", "memory", "offsets"),
                           ("collective", "independent"))]  # fmt: skip


def test_all_ways_give_the_same_bytes(tmp_path):
    expected = write(tmp_path / "expected.plt").read_bytes()
    for number, way in enumerate(WAYS):
        assert write(tmp_path / f"{number}.plt", way=Way(*way, sync=False)).read_bytes() == expected, way


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_all_ways_give_the_same_bytes_on_ranks(ranks, tmp_path):
    """Cut into slabs and pencils."""
    expected = write(tmp_path / "expected.plt").read_bytes()
    done = under_mpirun(ranks, SUPPORT / "tecplot_program.py", tmp_path)
    assert done.returncode == 0, done.stderr
    found = {path.name: path.read_bytes() == expected for path in tmp_path.glob("way-*.plt")}
    assert len(found) == len(WAYS) * (3 if ranks == 4 else 2)
    assert all(found.values()), found


@pytest.mark.parametrize("name", ["", "a" * 129, "Größe", 'a"b', "a\nb"])
def test_names_that_tecplot_cannot_hold(name):
    with pytest.raises(InputError, match=r"name in a Tecplot file: found .*; allowed: 1 to 128 printable ASCII"):
        layout(variables=("x", name))


def test_numbers_that_tecplot_cannot_hold():
    with pytest.raises(InputError, match=r"^J of a Tecplot zone: found 2147483648 nodes; allowed: 1 to 2147483647$"):
        layout(nodes=(1, 2**31, 1))
    with pytest.raises(InputError, match='found "x" twice'):
        layout(variables=("x", "x"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: b"#!TDV111" + data[8:], "is no Tecplot file of ordered zones"),
        (lambda data: data[:-1], "needed: "),
        (lambda data: data[:40], "is no Tecplot file of ordered zones"),
        (lambda data: b"", "is no Tecplot file of ordered zones"),
    ],
)
def test_damaged_files(change, says, tmp_path):
    path = write(tmp_path / "a.plt")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=says):
        TecplotFile(path)
