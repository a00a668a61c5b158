"""Files of fields in time: what describes them, and which of them a run can go on after.

Whole runs: tests/apps/ocean/test_fields.py, tests/apps/reactive/test_run.py.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.runs.field_series import NetcdfSeries, VolumeGrid, VolumeSeries, description
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.volumes.strategy import Strategy

GRID = VolumeGrid((5, 3, 2), (1.0, 2.0, 4.0), (10.0, 20.0, 30.0))


def texts(whole: ElementTree.Element, path: str) -> list[str]:
    return [(one.text or "").strip() for one in whole.iterfind(path)]


def test_the_description_has_cells_and_their_corners_from_the_slowest_axis_on() -> None:
    whole = ElementTree.fromstring(description(GRID, ["pH", "Ca<2+>"], [0.0, 0.5]))
    steps = whole.findall("Domain/Grid/Grid")
    assert [step.find("Time").attrib["Value"] for step in steps] == ["0.0", "0.5"]  # type: ignore[union-attr]
    for number, step in enumerate(steps):
        assert [one.attrib["Dimensions"] for one in step.iterfind("Topology")] == ["3 4 6"]
        assert texts(step, "Geometry/DataItem") == ["30.0 20.0 10.0", "4.0 2.0 1.0"]
        assert [one.attrib["Name"] for one in step.iterfind("Attribute")] == ["pH", "Ca<2+>"]
        assert {one.attrib["Dimensions"] for one in step.iterfind("Attribute/DataItem")} == {"2 3 5"}
        files = texts(step, "Attribute/DataItem")
        assert [file.partition(":")[0] for file in files] == [
            f"fields/pH-{number:04d}.h5",
            f"fields/Ca_2+_-{number:04d}.h5",
        ]


@pytest.mark.parametrize("kind", ["NetCDF", "HDF5"])
def test_a_run_goes_on_after_files_that_are_whole_only(tmp_path, kind: str) -> None:
    series: NetcdfSeries | VolumeSeries
    if kind == "NetCDF":
        series = NetcdfSeries(tmp_path, "ocean", ["eta"], MPI.COMM_SELF, Strategy())
    else:
        series = VolumeSeries(tmp_path, "flow.xdmf", GRID, {"pH": "1"}, (0, 0, 0), MPI.COMM_SELF, Strategy())
    series.begin()
    for moment in (0, 60):
        if isinstance(series, NetcdfSeries):
            axis = Variable("x", ("x",), np.float64, values=np.arange(4.0))
            series.write(moment, Dataset({"x": 4}, [axis], {}), [])
        else:
            series.write(float(moment), [("pH", np.full((5, 3, 2), 7.0))])
    series.require(series.written)
    last = series.files(series.written)[-1]
    whole = last.read_bytes()
    for damage in (whole[: len(whole) // 2], b"")[: 2 if kind == "NetCDF" else 1]:  # HDF5 is asked in a process
        last.write_bytes(damage)
        with pytest.raises(FathometerError, match=re.escape(str(last))):
            series.require(series.written)
        series.require(series.written[:1])
    last.unlink()
    with pytest.raises(FathometerError, match="is missing, which the run had written"):
        series.require(series.written)
