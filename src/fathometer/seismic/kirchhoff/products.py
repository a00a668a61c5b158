"""Products of a time migration: image, images of bins of offset, fold, velocities, image in depth, picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.runs.journal import Journal
from fathometer.runs.summation import Terms, total
from fathometer.runs.value_range import joined, range_of, same_everywhere
from fathometer.seismic.kirchhoff.setup import TimeSetup
from fathometer.seismic.kirchhoff.time_layout import FOLD, image_names, latest_time
from fathometer.seismic.kirchhoff.velocities.stretch import Reach, depth_stretch_of, reach_of
from fathometer.seismic.setup.emptiness import Emptiness, emptiness_of_images, ranges_of
from fathometer.seismic.setup.made import made_lines, medium_of
from fathometer.seismic.shots.offsets import ALL, OFFSET
from fathometer.seismic.survey import Survey
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, write_volume

VELOCITY, DEPTH = "velocity", "depth"
FLOAT = np.dtype(np.float32)
UNITS = {VELOCITY: "m/s"}
WHAT = {
    ALL: "Image",
    FOLD: "Fold",
    VELOCITY: "RMS velocity",
    DEPTH: "Image stretched to depth",
}

Floats = npt.NDArray[np.float32]


def product_files(survey: Survey) -> dict[str, Path]:
    """The files of a time migration's products by their names, and of its picture."""
    image = survey.output_directory / survey.output.image
    names = [name for name in image_names(survey) if name != ALL] + [FOLD, VELOCITY]
    names += [DEPTH] if survey.time_migration.depth else []
    files = {ALL: image} | {name: image.with_name(f"{image.stem}-{name}{image.suffix}") for name in names}
    return files | {"picture": survey.output_directory / "image.png"}


def is_product(kind: str) -> bool:
    """Whether a kind of file is a volume that time migrations write."""
    return kind in (ALL, FOLD, VELOCITY, DEPTH) or kind.startswith(OFFSET)


def block_velocities(setup: TimeSetup) -> Floats:
    """Collective. The RMS velocities, m/s, of this rank's part of the image (nx, ny, nt)."""
    lo, hi = setup.block.lo, setup.block.hi
    with ledger.phase("read velocities"), collective_errors(setup.comm):
        return setup.layout.velocities.read((lo[0], lo[1]), (hi[0], hi[1])).rms


def summed(setup: TimeSetup, journal: Journal, rms: Floats) -> dict[str, Floats]:
    """Collective. The images and the fold of all blocks that are done, on this rank's part of the image.

    An image is the sum over its traces, each times what it stands for, over the part of its surroundings that they
    stand for; that of all offsets is the sum over the bins, weighted by their traces (TraceShares). rms: velocities of
    this part.
    """
    layout = setup.layout
    terms = Terms(journal, tuple(journal.sums), tuple(journal.loose))
    lo, hi = setup.block.lo, setup.block.hi
    double = np.dtype(np.float64)
    images: dict[str, Floats] = {}
    everything = np.zeros(setup.block.local_shape)
    for number, name in enumerate(image_names(layout.survey)):
        values = total(terms, name, (lo, hi), double, setup.comm)
        everything += values * (layout.shares.parts[number] if layout.weighted else 1.0)
        if name != ALL:
            if layout.weighted:
                layout.shares.coverage(layout.grid, number).divide(values, rms, lo)
            images[name] = np.asarray(values, np.float32)
    if layout.weighted:
        layout.shares.coverage(layout.grid).divide(everything, rms, lo)
    images = {ALL: np.asarray(everything, np.float32)} | images
    fold = total(terms, FOLD, (lo, hi), FLOAT, setup.comm)
    # The operator counts apertures; at times after the last sample of all traces none of them adds anything.
    latest = latest_time(layout.survey, layout.acquisition) + layout.acquisition.sample_interval
    fold[:, :, max(0, math.floor((latest - layout.grid.origin[2]) / layout.grid.spacing[2]) + 1) :] = 0.0
    return images | {FOLD: fold}


def emptiness(setup: TimeSetup, images: Mapping[str, Floats]) -> Emptiness:
    """Collective. What of this sum of all blocks is the same everywhere, and why, where the image is 0."""
    ranges = ranges_of(images, setup.comm)
    hint = "all traces that add to it are 0; see them, [acquisition] mute and conditioning"
    if not ranges[FOLD].high > 0:
        hint = (
            "no trace adds anything at any place and time; see [time_migration] x, start, aperture, dip, datum and "
            "replacement_velocity"
        )
    if setup.layout.apart:
        hint = f"no midpoint lies among its places ({setup.layout.extents}), and {hint}"
    return emptiness_of_images(ranges, hint)


def write_products(
    setup: TimeSetup, files: Mapping[str, Path], images: dict[str, Floats], rms: Floats
) -> tuple[dict[str, Any], list[str]]:
    """Collective. Write all products and draw the picture; what the record says of velocities and depths, and sentences
    on what made here is the same everywhere. images, rms: of this rank's columns."""
    comm, grid = setup.comm, setup.layout.grid
    lo = setup.block.lo
    facts: dict[str, Any] = {}
    still: list[str] = []
    for name, values in images.items():
        write(setup, grid, name, files[name], values, lo)
    write(setup, grid, VELOCITY, files[VELOCITY], rms, lo)
    if DEPTH in files:
        facts["depth"], still = write_depth(setup, files[DEPTH], images[ALL], rms)
    with ledger.phase("draw"), collective_errors(comm):
        if comm.rank == 0:
            draw(setup, files)
    return facts, still


def write_depth(setup: TimeSetup, path: Path, image: Floats, rms: Floats) -> tuple[dict[str, Any], list[str]]:
    """Collective. Write the image stretched to depth; what the record says of that, and a sentence where it is the same
    everywhere.

    image, rms: this rank's columns (nx, ny, nt).
    """
    layout, comm = setup.layout, setup.comm
    lo, hi = setup.block.lo[:2], setup.block.hi[:2]
    reach: Reach | None = None
    with ledger.phase("stretch to depth"):
        if layout.survey.model is None:
            reach = reduce(Reach.joined, allgather(comm, reach_of(rms, layout.grid)))
        with collective_errors(comm):
            stretch = depth_stretch_of(layout.survey, layout.grid, layout.velocities, layout.earth, reach)
            values = stretch.to_depth(image, lo, hi)
    write(setup, stretch.grid, DEPTH, path, values, setup.block.lo)
    with ledger.phase("write image"):
        still = same_everywhere(joined({"the image in depth": range_of(values)}, comm))
    spacing, samples = stretch.grid.spacing[2], stretch.grid.shape[2]
    return {"spacing_metres": spacing, "samples": samples, "notes": (*stretch.notes, *still)}, still


def write(setup: TimeSetup, grid: Grid, name: str, path: Path, values: Floats, start: Index3) -> None:
    """Collective. Write this rank's columns (nx, ny, nt) of a product, the first of which is at `start`, into the
    volume `path`."""
    survey, layout = setup.survey, setup.layout
    keys, block = survey.time_migration, values.reshape([values.shape[a] for a in grid.axes])
    what = WHAT.get(name, f"Image of {name}")
    method = f"{what}: Kirchhoff time migration, dips to {keys.dip:g} degrees, {keys.weights} weights"
    velocity = keys.velocity
    if velocity is None:
        medium = ["RMS velocity from the model", *medium_of(survey)]
    else:
        medium = [f"RMS velocity {Path(velocity).name if isinstance(velocity, str) else f'{velocity:g} m/s'}"]
    above = layout.place.datum or "not stated"
    with ledger.phase("write image"), ledger.file("image", "write"):
        info = replace(
            volume_info(grid, values.dtype, UNITS.get(name, ""), layout.place),
            made=tuple(made_lines(survey, "migrate-time", method, medium, layout.acquisition)),
            datum=f"{above}; times from {keys.datum:g} m depth" if grid.vertical == "time" else "",
        )
        strategy = Strategy.of(survey.storage.write)
        write_volume(path, info, block, [start[a] for a in grid.axes], setup.comm, strategy)


def draw(setup: TimeSetup, files: Mapping[str, Path]) -> None:
    """Draw the image over the velocity; for one rank."""
    from fathometer.pictures import Blocks, image_picture

    grid, shots = setup.layout.grid, setup.layout.acquisition.shots
    with (
        open_volume(files[ALL].name, files[ALL].parent) as image,
        open_volume(files[VELOCITY].name, files[VELOCITY].parent) as velocity,
    ):

        def cells(lo: Sequence[int], hi: Sequence[int], of: Any) -> npt.NDArray[Any]:
            shape = [b - a for a, b in zip(lo, hi, strict=True)]
            values: npt.NDArray[Any] = of.read([lo[a] for a in grid.axes], [hi[a] for a in grid.axes])
            return values.reshape(shape)

        image_picture(
            path=files["picture"],
            image=Blocks(grid.shape, lambda lo, hi: cells(lo, hi, image)),
            vp=Blocks(grid.shape, lambda lo, hi: cells(lo, hi, velocity)),
            spacing=grid.spacing,
            origin=grid.origin,
            sources=np.array([shot.source for shot in shots]),
            receivers=None,
            title=f"{setup.survey.path.stem}: Kirchhoff time migration",
            in_time=True,
        )
