"""Whole migrations whose model is read and whose images are written by other strategies, into other formats."""

import json

import numpy as np
import pytest
from cli_support import MIGRATE, NX, NZ, call, inputs, survey

from fathometer.storage.volumes.registry import BY_SUFFIX
from fathometer.storage.volumes.volume import open_volume

CASES = {
    "image.rsf": ("auto", "auto"),
    "image.npy": ("root-broadcast", "root-broadcast"),
    "image.segy": ("mpiio-collective", "mpiio-collective"),
    "image.nc": ("mpiio-independent", "mpiio-nonblocking"),
    "image.h5": ("mpiio-nonblocking:datatype=hindexed", "mpiio-collective"),
    "image.zarr": ("posix-shared", "auto"),
}
CELLS = NX * NZ


def migrated(folder, image, read, write, ranks=2):
    """The three volumes of a migration, and its record."""
    suffix = "." + image.split(".")[1]
    if lacking := BY_SUFFIX[suffix].missing(BY_SUFFIX[suffix].writes[0], ranks):
        pytest.skip(lacking)
    inputs(folder)
    keys = MIGRATE | {"output.image": image, "storage.read": read, "storage.write": write}
    done = call("migrate", survey(folder, keys), "--quiet", "--ranks", ranks)
    assert done.code == 0, done.err
    images = []
    for name in ("image", "image-illumination", "image-laplacian"):
        with open_volume(name + suffix, folder / "out") as volume:
            images.append(volume.read((0, 0), (NX, NZ)))
    return images, json.loads((folder / "out" / "run.json").read_text())


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return migrated(tmp_path_factory.mktemp("usual"), "image.rsf", "auto", "auto", ranks=1)[0]


@pytest.mark.parametrize("image", CASES)
def test_images_are_the_same_by_any_strategy_in_any_format(tmp_path, usual, image):
    read, write = CASES[image]
    images, record = migrated(tmp_path, image, read, write)
    for found, expected in zip(images, usual, strict=True):
        np.testing.assert_array_equal(found, expected)
    told = record["ledger"]
    [model] = [file for file in told["files"] if (file["kind"], file["direction"]) == ("model", "read")]
    assert (model["bytes"], model["overlap_bytes"]) == (4 * CELLS, 0)
    [written] = [file for file in told["files"] if (file["kind"], file["direction"]) == ("image", "write")]
    assert written["bytes"] >= 3 * 4 * CELLS
    # What rank 0 sends of the model is a message, and only then.
    sent = [p["total_bytes"] for p in told["phases"] if (p["phase"], p["category"]) == ("read model", "communication")]
    assert sum(sent) == (4 * CELLS // 2 if read == "root-broadcast" else 0)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"storage.read": "posix"}, "[storage] read: found posix: no storage strategy 'posix'"),
        ({"storage.read": "posix-per-rank"}, "[storage] read: "),
        ({"storage.write": "posix-per-rank"}, "RSF is not written by posix-per-rank"),
        ({"storage.write": "mpiio-collective:filter=zfp"}, "RSF is not written with filter=zfp"),
    ],
)
def test_a_strategy_that_cannot_be_is_told_before_any_work(tmp_path, keys, words):
    inputs(tmp_path)
    done = call("migrate", survey(tmp_path, MIGRATE | keys), "--quiet")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
