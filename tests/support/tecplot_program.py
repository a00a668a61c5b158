"""On several ranks: the file of tests/storage/tecplot by all ways of writing, in slabs and pencils, into a folder.

Words: the folder; of one way and one cut alone: header, file, data, calls, and the ranks along y.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parents[1] / "storage" / "tecplot"))
from test_tecplot_files import NAMES, NODES, WAYS, layout, values, zones

from fathometer.parallel.decomposition import split
from fathometer.storage.tecplot.ways import Way
from fathometer.storage.tecplot.writer import TecplotWriter

COMM = MPI.COMM_WORLD


def main(folder, *one):
    ranks = [(COMM.size, 1), (1, COMM.size)] + [(2, 2)] * (COMM.size == 4)
    if one:
        write(folder / "a.plt", one[:4], (COMM.size // int(one[4]), int(one[4])))
        return
    for cut, way in ((cut, way) for cut in ranks for way in WAYS):
        write(folder / f"way-{cut[0]}-{cut[1]}-{'-'.join(way)}.plt", way, cut)


def write(path, way, cut):
    if COMM.rank == 0:
        path.touch()
    COMM.Barrier()
    z, y = divmod(COMM.rank, cut[1])
    (z0, z1), (y0, y1) = split(NODES[2], cut[0], z), split(NODES[1], cut[1], y)
    shape = z1 - z0, y1 - y0, NODES[0]
    inside = tuple(slice(1, 1 + n) for n in shape)
    writer = TecplotWriter(path, layout(), Way(*way, sync=False), COMM, (z0, y0, 0), shape)
    for zone in range(2):
        nodes = np.full([n + 2 for n in shape] + [len(NAMES)], np.nan, np.float32)
        nodes[inside] = values("float32", zone)[z0:z1, y0:y1]
        writer.write(zones(zone + 1), nodes, inside)
    writer.close()


main(Path(sys.argv[1]), *sys.argv[2:])
