"""Run by test_fields.py under mpirun: `python fields_program.py FOLDER` writes the files of the sea, and a restart file
that is read on one rank and on other blocks. Prints a line a failure.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from sea import blocked, input_of, layouts, sea, whole_state

from fathometer.apps.ocean.field_kinds import KINDS
from fathometer.apps.ocean.fields import FieldFiles
from fathometer.apps.ocean.restart import Progress, RestartFiles

COMM = MPI.COMM_WORLD


def main(folder):
    grid = sea()
    layout = layouts(grid, COMM.size)[COMM.rank]
    files = FieldFiles(input_of(folder, KINDS), grid, layout, COMM)
    for number, time in enumerate((0.0, 86400.0)):
        files.write(60 * number, time, blocked(layout, whole_state(grid, time)))
    progress = Progress(86400.0, 60, [{"step": 60}], [1.0], [0.1], 3.5, 0.25, [0, 60])
    state = whole_state(grid)
    RestartFiles(folder, {"x": 0.1}, layout, COMM).write(progress, blocked(layout, state))
    for blocks, comm in (((4, 4), COMM), ((8, 12), COMM), ((12, 20), MPI.COMM_SELF)):
        other = layouts(grid, comm.size, blocks=blocks)[comm.rank]
        found = blocked(other, state)
        for values in found.values():
            values[...] = np.nan
        if RestartFiles(folder, {"x": 0.1}, other, comm).read(found) != progress:
            print(f"rank {COMM.rank}: another progress", flush=True)
        for name, expected in blocked(other, state, 0.0).items():
            if not np.array_equal(found[name], expected):
                print(f"rank {COMM.rank}: {name} differs in blocks of {blocks}", flush=True)


main(Path(sys.argv[1]))
