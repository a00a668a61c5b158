"""Opening large volumes in Python, of which no sample is read; and the import of the package, in new processes."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.command import clean
from benchmarks.table import Table
from fathometer.lab.io.page_cache import drop
from fathometer.storage.traces.headers import HEADER
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.netcdf_header import header_of
from fathometer.storage.volumes.formats.rsf import rsf_header
from fathometer.storage.volumes.formats.segy_encoding import SegyEncoder

WANTED = 0.05  # s
IMPORT = 0.3  # s
# In a new process: the libraries are loaded by a small volume first.
OPEN = """
import sys, time, fathometer
fathometer.open_volume(sys.argv[1])
begin = time.perf_counter()
fathometer.open_volume(sys.argv[2])
print(time.perf_counter() - begin)
"""


def opening(threads: int, quick: bool) -> Table:
    """Cubes of three formats, from the page cache and from the device; the import and the first array."""
    cells, rounds = (200, 3) if quick else (1000, 7)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        small, folder = rsf(Path(name) / "small.rsf", 8), Path(name)
        for label, make in (("RSF", rsf), ("NetCDF", netcdf), ("SEG-Y", segy)):
            path = make(folder / f"cube.{label.lower().replace('-', '')}", cells)
            files = [path, *path.parent.glob("cube.bin")]
            kept, dropped = [], []
            for _ in range(rounds if label != "SEG-Y" else min(rounds, 3)):
                for times, forget in ((dropped, True), (kept, False)):
                    for one in files if forget else ():
                        drop(one)
                    times.append(float(run([sys.executable, "-c", OPEN, small, path])))
            wanted = "the headers of all traces" if label == "SEG-Y" else f"{1000 * WANTED:.0f} ms"
            rows.append((f"{label}, {cells}³", shown(kept), shown(dropped), wanted))
            for one in files:
                one.unlink()
        first = [seconds(f"import fathometer; fathometer.open_volume({str(small)!r})") for _ in range(rounds)]
    imported = [imported_seconds() for _ in range(rounds)]
    rows.append(("import fathometer", shown(imported), "", f"{1000 * IMPORT:.0f} ms"))
    rows.append(("the first array of a process, with xarray and dask", shown(first), "", ""))
    note = (
        "`fathometer.open_volume` of a cube, each time in a new process that has opened a small volume before; medians "
        f"and ranges of {rounds} (SEG-Y: 3). No sample is read: those of RSF and NetCDF are holes in their files. "
        "SEG-Y has no header of the volume: the headers of all traces are read to find lines and places. The import "
        "is that of `python -X importtime`."
    )
    return Table("Opening volumes in Python", note, ("what", "page cache", "device", "wanted"), tuple(rows))


def shown(times: list[float]) -> str:
    """Median and range, in ms."""
    middle, low, high = (1000 * time for time in (median(times), min(times), max(times)))
    return f"{middle:.1f} ms ({low:.1f} to {high:.1f})"


def run(words: list[object]) -> str:
    """What a program prints."""
    return subprocess.run([str(word) for word in words], env=clean(), capture_output=True, text=True, check=True).stdout


def seconds(code: str) -> float:
    """Of a code in a new process, without the start of Python."""
    timed = f"import time\nbegin = time.perf_counter()\n{code}\nprint(time.perf_counter() - begin)"
    return float(run([sys.executable, "-c", timed]))


def imported_seconds() -> float:
    """Of the import, all that it loads included."""
    words = [sys.executable, "-X", "importtime", "-c", "import fathometer"]
    told = subprocess.run(words, env=clean(), capture_output=True, text=True, check=True).stderr
    (micros,) = re.findall(r"\|\s*(\d+) \| fathometer$", told, re.MULTILINE)
    return 1e-6 * int(micros)


def info_of(cells: int) -> VolumeInfo:
    """A cube's axes."""
    return VolumeInfo((cells,) * 3, np.dtype("f4"), (10.0, 10.0, 5.0), (0.0,) * 3, ("x", "y", "z"), "m/s")


def rsf(path: Path, cells: int) -> Path:
    """An RSF whose values are a hole in a file."""
    path = path.with_suffix(".rsf")
    values = path.with_suffix(".bin")
    path.write_bytes(rsf_header(info_of(cells), values.name))
    with values.open("wb") as file:
        file.truncate(4 * cells**3)
    return path


def netcdf(path: Path, cells: int) -> Path:
    """A NetCDF (CDF-5) whose values are a hole in the file."""
    import netCDF4

    path = path.with_suffix(".nc")
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.set_fill_off()
        for name, step in (("x", 10.0), ("y", 10.0), ("z", 5.0)):
            file.createDimension(name, cells)
            axis = file.createVariable(name, "f8", (name,))
            axis.units, axis[:] = "m", step * np.arange(cells)
        file.createVariable("vp", "f4", ("x", "y", "z")).units = "m/s"
    start = header_of(path).variables["vp"].start
    os.truncate(path, start)
    os.truncate(path, start + 4 * cells**3)
    return path


def segy(path: Path, cells: int) -> Path:
    """A SEG-Y of zeros with all of its headers, a slab at a time."""
    path = path.with_suffix(".segy")
    encoder = SegyEncoder(path, info_of(cells))
    slab = np.zeros((1, cells, cells), np.float32)
    with path.open("wb") as file:
        file.write(encoder.head)
        for line in range(cells):
            traces, _ = encoder.encode(slab, (line, 0, 0))
            assert traces.nbytes == cells * (HEADER + 4 * cells)
            file.write(traces.data)
    assert path.stat().st_size == len(encoder.head) + math.prod((cells, cells, HEADER + 4 * cells))
    return path
