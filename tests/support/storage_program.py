"""Run by test_storage_parallel.py under mpirun: every strategy of every format on this number of ranks.

`python storage_program.py FOLDER REFERENCE`: FOLDER holds the files that one rank wrote where REFERENCE is "-", else
REFERENCE does, and what is written must have the same bytes, or read back the same. Prints one line a failure, and the
number of cases. Formats that cannot be used here are left out.
"""

import filecmp
import itertools
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.parallel.decomposition import Decomposition, arrangements
from fathometer.storage.volumes import exchange, mpiio, reader, writer
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.boxes import widened
from fathometer.storage.volumes.formats import hdf5, netcdf_file
from fathometer.storage.volumes.reader import open_shared
from fathometer.storage.volumes.registry import FORMATS
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import write_volume

HALO = 2
SAME_BYTES = ("RSF", "NPY", "SEG-Y", "NetCDF")
# Cells, and whether the ranks share them as a run does or leave one of them nothing.
SHAPES = ((9, 7, 8), (7, 10), (2, 3, 5), (3, 5, 4, 6))


def values_of(shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def info_of(shape):
    few = len(shape)
    labels = {2: ("x", "z"), 3: ("x", "y", "z"), 4: ("t", "x", "y", "z")}[few]
    spacing, origin = (0.5, 12.5, 10.0, 5.1)[-few:], (0.25, 1.0, 2.0, 3.0)[-few:]
    return VolumeInfo(shape, np.dtype(np.float32), spacing, origin, labels, "m/s")


def blocks_of(shape, comm):
    """This rank's part on every decomposition along x, y, z; all of them are uneven, some have empty parts. Steps, the
    first of four axes, are not cut."""
    steps, shape = ((shape[0],), shape[1:]) if len(shape) == 4 else ((), shape)
    solid = shape if len(shape) == 3 else (shape[0], 1, shape[1])
    axes = [0, 1, 2] if len(shape) == 3 else [0, 2]
    for ranks in arrangements(comm.size, len(shape) == 2):
        part = Decomposition(solid, ranks, comm.rank)
        yield (*(0 for _ in steps), *(part.lo[a] for a in axes)), (*steps, *(part.hi[a] for a in axes))


def strategies(form, names):
    for name in names:
        raw = form.name in SAME_BYTES and form.name != "NetCDF" and name.startswith("mpiio")
        for datatype in ("subarray", "contiguous", "hindexed") if raw else (None,):
            yield name + (f":datatype={datatype}" if datatype else "")
    if "posix-shared" in form.writes and names is form.writes:
        yield "posix-shared:sync=o_dsync"
        yield "mpiio-collective:cb_nodes=1,sync=none"
    if form.name == "HDF5" and names is form.writes and not hdf5.filters_missing():
        yield "mpiio-collective:filter=zfp"
        yield "mpiio-collective:filter=blosc2"


def same(one, other):
    """Whether two files, or an RSF's pairs of files, have the same bytes."""
    with_values = [path.with_name(path.name + "@") for path in (one, other)]
    return filecmp.cmp(one, other, False) and (one.suffix != ".rsf" or filecmp.cmp(*with_values, False))


def main(folder, reference):
    comm = MPI.COMM_WORLD
    folder, cases, failures = Path(folder), 0, []
    halos = itertools.cycle((HALO, 0, HALO))
    for shape, form in itertools.product(SHAPES, FORMATS):
        if not form.writes or len(shape) > form.axes or any(form.missing(name, comm.size) for name in form.writes):
            continue
        suffix, name = form.suffixes[0], f"{'x'.join(map(str, shape))}"
        values = values_of(shape)
        reads = itertools.cycle(strategies(form, form.reads))
        count = len(list(strategies(form, form.reads)))
        cuts = itertools.cycle(list(blocks_of(shape, comm)))
        for text, (lo, hi) in ((text, next(cuts)) for text in strategies(form, form.writes) for _ in range(2)):
            path = folder / (name + suffix)
            written = Strategy.of(text)
            case = f"{form.name} {shape} {text} {lo} {hi}"
            try:
                mine = values[tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))]
                write_volume(path, info_of(shape), mine, lo, comm, written)
                if (
                    comm.rank == 0
                    and reference != "-"
                    and form.name in SAME_BYTES
                    and not same(path, Path(reference) / path.name)
                ):
                    failures.append(f"{case}: other bytes than by one rank")
                # All ways to read what one way wrote, one way for what the others wrote.
                for _ in range(count if text == form.writes[0] else 1):
                    way, halo = next(reads), next(halos)
                    low, high = widened(lo, hi, halo, shape)
                    with open_shared(path.name, folder, comm, Strategy.of(way)) as volume:
                        found = volume.read(low, high)
                    cases += 1
                    expected = values[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
                    if not np.array_equal(found, expected):
                        failures.append(f"{case}: read by {way} with halo {halo}: differs")
            except FathometerError as error:
                failures.append(f"{case}: {error}")
    failures = list(itertools.chain(*comm.allgather(failures)))
    if comm.rank == 0:
        left = [str(path) for path in folder.rglob("*.part")]
        print("\n".join([*failures, *left]))
        print(f"{cases} cases, {len(failures) + len(left)} failures, {MPI.Get_library_version().split(',')[0]}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    # Small enough that every loop over pieces of what one call may move goes round.
    exchange.LARGEST_MESSAGE = mpiio.LARGEST_CALL = netcdf_file.LARGEST_CALL = hdf5.LARGEST_CALL = 160
    reader.SLAB_BYTES = writer.SLAB_BYTES = 500
    main(*sys.argv[1:])
