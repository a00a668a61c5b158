"""Products of a migration: image, Laplacian-filtered image, illumination, picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fathometer.base import ledger
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.collectives import collective_errors
from fathometer.seismic.rtm.conditions import laplacian
from fathometer.seismic.setup.made import made_lines, medium_of
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.offsets import ALL, OFFSET, volumes_of
from fathometer.seismic.survey import ImagingTable, Survey
from fathometer.storage.volumes.block import Volume
from fathometer.storage.volumes.boxes import slabs, widened, within
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, write_volume

SLAB_CELLS = 1 << 20  # of an image that are filtered at a time


def products_of(imaging: ImagingTable) -> tuple[str, ...]:
    """Names of the volumes that a migration leaves, the image first."""
    return (ALL, *(name for name in volumes_of(imaging) if name != ALL), *(["laplacian"] if imaging.laplacian else []))


def product_files(survey: Survey) -> dict[str, Path]:
    """The files of a migration's products by their names, and of its picture."""
    image = survey.output_directory / survey.output.image
    _, *names = products_of(survey.imaging)
    files = {ALL: image} | {name: image.with_name(f"{image.stem}-{name}{image.suffix}") for name in names}
    return files | {"picture": survey.output_directory / "image.png"}


def is_product(kind: str) -> bool:
    """Whether a kind of file is a volume that migrations write."""
    return kind in (ALL, "illumination", "laplacian") or kind.startswith(OFFSET)


def write_products(setup: Setup, files: Mapping[str, Path], images: dict[str, np.ndarray]) -> None:
    """Collective. Write image, illumination and what derives from the image, and draw the picture.

    images: this rank's cells of each (Propagator.image_shape), taken out of the mapping as they are written.
    """
    shape = images[ALL].shape
    with ledger.phase("write image"):
        for name in list(images):
            write(setup, files[name], images.pop(name), method(setup, name))
    if "laplacian" in files:
        write_laplacian(setup, files[ALL], files["laplacian"], shape)
    with ledger.phase("draw"), collective_errors(setup.comm):
        if setup.comm.rank == 0:
            shown = "laplacian" if "laplacian" in files else ALL
            filtered = ", Laplacian-filtered" if shown == "laplacian" else ""
            title = f"{setup.survey.path.stem}: reverse time migration{filtered}"
            draw(setup, files[shown], title, files["picture"])


def method(setup: Setup, name: str) -> str:
    """What the volume of this name is and how it was made, for its text."""
    keys, dimensions = setup.survey.imaging, 2 if setup.grid.two_dimensional else 3
    what = {
        ALL: "Image",
        "illumination": "Source illumination",
        "laplacian": "Image after minus the Laplacian",
    }.get(name, f"Image of {name}")
    medium = "VTI" if setup.layout.physics.name == "vti" else "isotropic"
    return f"{what}: reverse time migration in {dimensions}D, {medium}, acoustic; {keys.condition} imaging condition"


def write(setup: Setup, path: Path, values: np.ndarray, method: str) -> None:
    """Collective. Write this rank's cells of the model (Propagator.image_shape) into the volume `path`."""
    grid = setup.grid
    start, _ = grid.model_box(setup.block)
    axes = grid.axes
    block = values.reshape([values.shape[a] for a in axes])
    with ledger.phase("write image"), ledger.file("image", "write"):
        survey, layout = setup.survey, setup.layout
        made = made_lines(survey, "migrate", method, medium_of(survey), layout.acquisition)
        info = replace(
            volume_info(grid, values.dtype, "", layout.place),
            made=tuple(made),
        )
        strategy = Strategy.of(setup.survey.storage.write)
        write_volume(path, info, block, [start[a] for a in axes], setup.comm, strategy)


def write_laplacian(setup: Setup, image: Path, path: Path, shape: tuple[int, ...]) -> None:
    """Collective. -∇² of the volume `image`, each rank reading its own part and one cell around it.

    `shape` is this rank's part. Beyond the image's sides the outermost cells repeat.
    """
    grid = setup.grid
    start, _ = grid.model_box(setup.block)
    with ledger.phase("post-process"), collective_errors(setup.comm), open_volume(image.name, image.parent) as volume:
        filtered = np.zeros(shape, volume.info.dtype)
        lo = [start[a] for a in grid.axes]
        hi = [start[a] + shape[a] for a in grid.axes]
        own = filtered.reshape([shape[a] for a in grid.axes])
        for slab_lo, slab_hi in slabs(lo, hi, SLAB_CELLS):
            own[within((slab_lo, slab_hi), lo)] = _filtered(volume, slab_lo, slab_hi, grid)
    write(setup, path, filtered, method(setup, "laplacian"))


def _filtered(volume: Volume, lo: Sequence[int], hi: Sequence[int], grid: Grid) -> np.ndarray:
    """-∇² of some cells of an image, from a file."""
    wide_lo, wide_hi = widened(lo, hi, 1, volume.info.shape)
    around = [(1 - (a - wa), 1 - (wb - b)) for a, wa, b, wb in zip(lo, wide_lo, hi, wide_hi, strict=True)]
    cells = [math.prod(b - a for a, b in zip(*box, strict=True)) for box in ((lo, hi), (wide_lo, wide_hi))]
    with ledger.file("image", "read", cells[0] / cells[1]):
        wide = np.pad(volume.read(wide_lo, wide_hi), around, mode="edge")
    filtered = laplacian(wide[:, None] if grid.two_dimensional else wide, grid.spacing)
    return filtered[:, 0] if grid.two_dimensional else filtered


def draw(setup: Setup, image: Path, title: str, path: Path) -> None:
    """Draw the image in the file `image` over the velocity; for one rank."""
    from fathometer.pictures import Blocks, image_picture

    grid, shots = setup.grid, setup.acquisition.shots
    with open_volume(image.name, image.parent) as volume:

        def cells(lo: Sequence[int], hi: Sequence[int]) -> np.ndarray:
            shape = [b - a for a, b in zip(lo, hi, strict=True)]
            return volume.read([lo[a] for a in grid.axes], [hi[a] for a in grid.axes]).reshape(shape)

        image_picture(
            path=path,
            image=Blocks(grid.shape, cells),
            vp=Blocks(grid.shape, setup.files.vp),
            spacing=grid.spacing,
            origin=grid.origin,
            sources=np.array([shot.source for shot in shots]),
            receivers=None,
            title=title,
        )
