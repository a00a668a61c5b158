"""The XDMF description opens with VTK: names, times, places and values of cells."""

import numpy as np
import pytest
from hand_run import ORIGIN, SPACING, state, written

from fathometer.apps.reactive.fields import DESCRIPTION, values_of

reader_of = pytest.importorskip("vtkmodules.vtkIOXdmf2", reason='no VTK here (pip install "vtk>=9.3")').vtkXdmfReader

KINDS = ["totals", "molalities", "pH", "minerals", "saturation", "strength"]


@pytest.mark.parametrize("cells", [(4, 3, 2), (5, 1, 1), (1, 3, 2)])
def test_what_vtk_reads(tmp_path, cells):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

    times = (0.0, 1800.0, 3600.0)
    case, fields = written(tmp_path, cells, times=times, output__fields=KINDS)
    reader = reader_of()
    reader.SetFileName(str(tmp_path / "out" / DESCRIPTION))
    reader.UpdateInformation()
    assert reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS()) == times
    names = {field.name for field in fields.fields}
    assert {"total Ca+2", "molality CO2(aq)", "pH", "volume Calcite", "saturation Calcite", "ionic strength"} < names
    for time in times:
        reader.UpdateTimeStep(time)
        grid = reader.GetOutputDataObject(0)
        assert grid.GetClassName() in ("vtkImageData", "vtkUniformGrid")
        assert grid.GetDimensions() == tuple(n + 1 for n in cells)
        assert grid.GetOrigin() == pytest.approx(ORIGIN)
        assert grid.GetSpacing() == pytest.approx(SPACING)
        data = grid.GetCellData()
        assert {data.GetArrayName(n) for n in range(data.GetNumberOfArrays())} == names
        given = state(case, cells, time)
        for field in fields.fields:
            values = vtk_to_numpy(data.GetArray(field.name))
            exact = values_of(field, case.system, given)
            # VTK counts cells with x fastest.
            assert np.array_equal(values.reshape(cells[::-1]).transpose(2, 1, 0), exact), field.name


def test_a_cell_is_where_its_value_says(tmp_path):
    """The centre of a cell by VTK is that by which its value was made."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkFiltersCore import vtkCellCenters

    cells = (4, 3, 2)
    number = np.arange(24.0).reshape(cells)
    written(tmp_path, cells, times=(0.0,), change={"pH": number}.items())
    reader = reader_of()
    reader.SetFileName(str(tmp_path / "out" / DESCRIPTION))
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    centres = vtkCellCenters()
    centres.SetInputData(grid)
    centres.Update()
    places = vtk_to_numpy(centres.GetOutput().GetPoints().GetData())
    cell = np.rint((places - ORIGIN) / SPACING - 0.5).astype(int)
    values = vtk_to_numpy(grid.GetCellData().GetArray("pH"))
    assert np.array_equal(values, number[tuple(cell.T)].astype(np.float32))
    assert len({tuple(one) for one in cell}) == number.size
