"""Run by test_fields.py under mpirun: `python fields_program.py FOLDER` writes the files of the sea, and a restart file
that is read on one rank and on other blocks. Prints a line a failure.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from sea import blocked, input_of, layouts, sea, whole_state

from fathometer.apps.ocean.field_kinds import KINDS
from fathometer.apps.ocean.fields import OceanFields
from fathometer.apps.ocean.simulation import state_arrays
from fathometer.runs.restart_folder import RestartFolder
from fathometer.runs.state_arrays import load, save

COMM = MPI.COMM_WORLD


def main(folder):
    grid = sea()
    layout = layouts(grid, COMM.size)[COMM.rank]
    files = OceanFields(input_of(folder, KINDS), grid, layout, COMM)
    files.begin()
    for number, time in enumerate((0.0, 86400.0)):
        files.write_state(60 * number, time, blocked(layout, whole_state(grid, time)))
    state, values = whole_state(grid), {"time": 86400.0, "steps": 60, "rows": [{"step": 60}]}
    arrays = state_arrays(blocked(layout, state), layout)
    RestartFolder(folder, {"x": 0.1}, tuple(values), COMM).write(values, lambda path: save(path, arrays, {}, COMM))
    for blocks, comm in (((4, 4), COMM), ((8, 12), COMM), ((12, 20), MPI.COMM_SELF)):
        other = layouts(grid, comm.size, blocks=blocks)[comm.rank]
        found = blocked(other, state)
        for array in found.values():
            array[...] = -1.0
        states = RestartFolder(folder, {"x": 0.1}, tuple(values), comm)
        if read_into(states, state_arrays(found, other), comm) != values:
            print(f"rank {COMM.rank}: other values", flush=True)
        for name, expected in blocked(other, state, -1.0).items():
            if not np.array_equal(found[name], expected):
                print(f"rank {COMM.rank}: {name} differs in blocks of {blocks}", flush=True)


def read_into(states, arrays, comm):
    """The values of the newest state, its arrays in these."""
    return states.read(lambda path: load(path, arrays, comm))


main(Path(sys.argv[1]))
