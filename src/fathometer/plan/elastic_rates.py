"""Entries of the machine file for elastic waves."""

from __future__ import annotations

from fathometer.config.table import Table, key
from fathometer.config.types import NotNegative


class ElasticRates(Table):
    """Seconds of an elastic run beside its time steps; what a process takes beside its arrays."""

    start_seconds: NotNegative = key("of start-up", "s", 0.0)
    setup_seconds: NotNegative = key("of setting up, beside its cells", "s", 0.0)
    model_cell_seconds: NotNegative = key("of one core: checks of the model, for each cell", "s", 0.0)
    medium_cell_seconds: NotNegative = key("of one core: medium and fields at rest, for each cell", "s", 0.0)
    relaxation_cell_seconds: NotNegative = key(
        "of the same with attenuation: more than without, for each cell", "s", 0.0
    )
    layer_work_3d: NotNegative = key("of an absorbing layer on a cell in it: added steps of a cell without", "", 0.0)
    layer_work_2d: NotNegative = key("the same in two dimensions", "", 0.0)
    row_work_3d: NotNegative = key("of a row along z, beside its cells: added steps of a cell", "", 0.0)
    map_seconds: NotNegative = key("of one core: a map of peak velocities, from the second shot on", "s", 0.0)
    finish_seconds: NotNegative = key("traces, a map of peak velocities, record and page at the end", "s", 0.0)
    finish_bytes: NotNegative = key("of a process that has drawn a map, beside its arrays", "bytes", 0.0)
