"""What levels and wavelet coefficients cost and keep: kernels beside a copy, a random field, the demo's image and a
snapshot beside zfp and SPERR at the same bytes, and reading in part."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer import _native
from fathometer.base.ledger import timed
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.hdf5 import chunk_of
from fathometer.storage.volumes.formats.wavelet import EDGE, Coded, Layout
from fathometer.storage.volumes.strategy import SHARES, Strategy
from fathometer.storage.volumes.volume import open_volume, reference_at, write_volume

Floats = NDArray[np.float32]
SNAPSHOT = """
[model]
vp = "vp.rsf"
vs = "vs.npy"
density = 2200.0

[acquisition]
sources = {x = [1200.0, 1200.0, 1.0], y = 600.0, z = 100.0}
receivers = {x = [0.0, 2000.0, 500.0], y = 600.0, z = 0.0}
components = ["vz"]

[wavelet]
kind = "ricker"
peak_frequency = 4.0

[source]
kind = "explosion"
moment = 1e12

[propagation]
physics = "elastic"
duration = 0.8

[snapshots]
every_nodes = 1
every_steps = 100
fields = ["vz"]

[output]
directory = "elastic"
"""


def wavelets(threads: int, quick: bool) -> Table:
    """Kernels and reading in part, of a random field."""
    n, rounds = (128, 3) if quick else (256, 11)
    values = random_field(n)
    layout = Layout(values.shape, 1, SHARES)
    _native.set_threads(1)
    transform, coding, copy, back = [], [], [], []
    target = np.empty_like(values)
    for _ in range(rounds):
        blocks = [
            np.ascontiguousarray(values[x : x + EDGE, y : y + EDGE, z : z + EDGE])
            for x, y, z in itertools.product(range(0, n, EDGE), repeat=3)
        ]
        coded = Coded(layout, (0, 0, 0), layout.blocks)
        transform.append(timed(lambda blocks=blocks: [_native.wavelet_forward(b, layout.halvings) for b in blocks]))
        coding.append(timed(lambda coded=coded: coded.encode(values, 0)) - transform[-1])
        back.append(timed(lambda coded=coded: coded.decode(0, (0, 0, 0), target)))
        copy.append(timed(lambda: np.copyto(target, values)))
    _native.set_threads(threads)
    rates = [1e-6 * values.nbytes / median(times) for times in (transform, coding, back, copy)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [*shares(folder, values), *levels(folder, values, rounds)]
    note = (
        f"A random field of {n}³ cells with amplitudes k^(-11/6) exp(-(k/80)²). One core transforms {rates[0]:.0f}"
        f" MB/s of values, sorts and codes the coefficients of {rates[1]:.0f} MB/s, decodes and transforms back "
        f"{rates[2]:.0f} MB/s, and copies {rates[3]:.0f} MB/s (medians of {rounds}, in turns). Wanted: 600 and 300"
        " where a copy runs at 8000; errors, rms over the deviation, of at most 0.043, 0.14 and 0.26. Bytes are "
        "those of a file of this share alone, places and all that describes it included, or of levels beside the "
        "volume, over those of the volume; times are those of reading, from the page cache, without the file's "
        "opening."
    )
    return Table("Levels and wavelets", note, ("what is read", "stored", "error", "cells", "ms"), tuple(rows))


def random_field(n: int) -> Floats:
    """Amplitudes k^(-11/6) exp(-(k/80)²) and random phases."""
    k, kz = np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)
    radius = np.sqrt(k[:, None, None] ** 2 + k[None, :, None] ** 2 + kz**2)
    radius[0, 0, 0] = 1.0
    noise = np.fft.rfftn(np.random.default_rng(0).standard_normal((n, n, n)))
    noise *= radius ** (-11 / 6) * np.exp(-((radius / 80) ** 2))
    noise[0, 0, 0] = 0.0
    return np.fft.irfftn(noise, s=(n, n, n), axes=(0, 1, 2)).astype(np.float32)


def write(path: Path, values: Floats, strategy: str) -> int:
    """Write a volume; the bytes of its file."""
    info = VolumeInfo(values.shape, values.dtype, None, None, None, None)
    write_volume(path, info, values, (0,) * values.ndim, MPI.COMM_SELF, Strategy.of(strategy))
    return path.stat().st_size


def shares(folder: Path, values: Floats) -> list[tuple[str, ...]]:
    """Each share in a file of its own: bytes, error, seconds."""
    rows = []
    for share in SHARES:
        path = folder / f"{share}.h5"
        stored = write(path, values, f"auto:filter=wavelet,shares={share}")
        seconds, found = reading(path, path.name, 3)
        error = float(np.sqrt(np.mean(np.square(found - values, dtype=np.float64)))) / float(values.std())
        rows.append(
            (f"1:{share}", f"{stored / values.nbytes:.4f}", f"{error:.2g}", times(found), f"{1e3 * seconds:.1f}")
        )
    return rows


def levels(folder: Path, values: Floats, rounds: int) -> list[tuple[str, ...]]:
    """The volume, and levels of coefficients and of means."""
    rows = []
    plain = write(folder / "plain.h5", values, "auto")
    write(folder / "all.h5", values, "auto:filter=wavelet")
    for name, way in (("means", "auto:levels=4"), ("means, zfp", "auto:levels=4,filter=zfp")):
        write(folder / f"{name}.h5", values, way)
    packed = write(folder / "zfp.h5", values, "auto:filter=zfp")
    more = {"means": (folder / "means.h5").stat().st_size / plain - 1}
    more["means, zfp"] = (folder / "means, zfp.h5").stat().st_size / packed - 1
    seconds, found = reading(folder / "plain.h5", "plain.h5", rounds)
    rows.append(("the plain volume", "1", "0", times(found), f"{1e3 * seconds:.1f}"))
    for level in (1, 2):
        for file, name in (("means", "means"), ("means, zfp", "means, zfp"), ("all", "coefficients 1:1")):
            reference = reference_at(f"{file}.h5", folder, level)
            seconds, found = reading(folder / f"{file}.h5", reference, rounds)
            stored = f"{more[file]:.3f} more" if file in more else ""
            rows.append((f"level {level}, {name}", stored, "", times(found), f"{1e3 * seconds:.1f}"))
    return rows


def reading(path: Path, reference: str, rounds: int) -> tuple[float, Floats]:
    """Seconds of reading all, the median, and the values."""
    with open_volume(reference, path.parent) as volume:
        shape = volume.info.shape
        found = volume.read((0,) * len(shape), shape)
        return median(timed(lambda: volume.read((0,) * len(shape), shape)) for _ in range(rounds)), found


def times(values: Floats) -> str:
    return " x ".join(map(str, values.shape))


def compression(threads: int, quick: bool) -> Table:
    """The image of the demo and a snapshot in its model, by wavelets, zfp and SPERR at the same stored bytes."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "demo"
        fathometer("demo", "--output", folder, "--quiet", *(["--quick"] if quick else []))
        vp = read(folder, "vp.rsf")
        np.save(folder / "vs.npy", np.where(vp > 1550, vp / 1.8, 0).astype(np.float32))
        (folder / "elastic.toml").write_text(SNAPSHOT)
        fathometer("model", folder / "elastic.toml", "--quiet")
        snapshots = next((folder / "elastic").glob("snapshots*-vz.rsf"))
        with open_volume(snapshots.name, snapshots.parent, steps=True) as volume:
            step = volume.info.shape[0] // 2
            shape = volume.info.shape[1:]
            snapshot = volume.read((step, 0, 0, 0), (step + 1, *shape)).reshape(shape)
        for what, values in (("image", read(folder, "image/image.rsf")), ("snapshot", snapshot)):
            for share in (10, 100):
                rows += beside(Path(name), f"{what} {times(values)}, 1:{share}", values, share)
    note = (
        "The image of `fathometer demo` and a snapshot (vz) of elastic waves in its model. Wavelet coefficients "
        "of one share, and zfp and SPERR at the least fixed rate at which they store no fewer bytes (in chunks as"
        " `filter=zfp` and `sperr` have them); rms errors over the rms of the values, largest ones over their "
        "peak. Seconds of compressing and writing to the page cache, medians of 5."
    )
    columns = ("values, share, way", "stored", "rms error", "largest error", "s")
    return Table("Compression at the same bytes", note, columns, tuple(rows))


def read(folder: Path, name: str) -> Floats:
    with open_volume(name, folder) as volume:
        return np.asarray(volume.read((0,) * len(volume.info.shape), volume.info.shape), np.float32)


def beside(folder: Path, what: str, values: Floats, share: int) -> list[tuple[str, ...]]:
    """A row of each way."""
    path = folder / "wavelet.h5"
    strategy = f"auto:filter=wavelet,shares={share}"
    stored = write(path, values, strategy)
    seconds = median(timed(lambda: write(path, values, strategy)) for _ in range(5))
    rows = [row(f"{what}, wavelet", stored, values, read(folder, path.name), seconds)]
    filters: dict[str, Callable[[float], Any]] = {
        "zfp": lambda rate: hdf5plugin.Zfp(rate=rate),
        "SPERR": lambda rate: hdf5plugin.Sperr(rate=rate, swap=True),
    }
    for name, made in filters.items():
        rate, size, found = least_rate(folder / "other.h5", values, made, stored)
        seconds = median(
            timed(lambda made=made, rate=rate: packed(folder / "other.h5", values, made(rate))) for _ in range(5)
        )
        rows.append(row(f"{what}, {name} {rate:.2f} bits", size, values, found, seconds))
    return rows


def packed(path: Path, values: Floats, options: Any) -> tuple[int, Floats]:
    """Bytes of a file that a filter makes, and what is read of it."""
    with h5py.File(path, "w") as file:
        file.create_dataset("values", data=values, chunks=chunk_of(values.shape), **options)
    with h5py.File(path) as file:
        return path.stat().st_size, file["values"][...]


def least_rate(path: Path, values: Floats, made: Callable[[float], Any], wanted: int) -> tuple[float, int, Floats]:
    """The least rate, bits a value, at which a filter stores no fewer bytes than wanted."""
    low, high = 0.0, 64.0
    while high - low > 0.01:
        middle = (low + high) / 2
        try:
            enough = packed(path, values, made(middle))[0] >= wanted
        except (OSError, RuntimeError, ValueError):  # too few bits for a filter
            enough = False
        low, high = (low, middle) if enough else (middle, high)
    size, found = packed(path, values, made(high))
    return high, size, found


def row(what: str, stored: int, values: Floats, found: Floats, seconds: float) -> tuple[str, ...]:
    difference = found.astype(np.float64) - values
    rms, size = (float(np.sqrt(np.mean(np.square(one, dtype=np.float64)))) for one in (difference, values))
    largest = float(np.abs(difference).max()) / float(np.abs(values).max())
    return what, f"{stored / values.nbytes:.4f}", f"{rms / size:.2e}", f"{largest:.2e}", f"{seconds:.3f}"
