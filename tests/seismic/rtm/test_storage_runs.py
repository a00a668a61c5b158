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
    ("image", "write", "lossy"),
    [
        ("image.h5", "auto:filter=wavelet,shares=10", True),
        ("image.h5", "mpiio-collective:filter=sperr", True),
        ("image.h5", "mpiio-collective:filter=zfp,levels=2", False),
    ],
)
def test_the_account_tells_compressing_from_writing(tmp_path, usual, image, write, lossy):
    images, record = migrated(tmp_path, image, "auto", write)
    [told] = [file for file in record["ledger"]["files"] if file["kind"] == "image" and file["direction"] == "write"]
    own = told["compression"]
    cells = CELLS + (NX // 2 * (NZ // 2) + NX // 4 * -(-NZ // 4) if "levels" in write else 0)
    assert own["plain_bytes"] == 3 * 4 * cells
    stored = sum((tmp_path / "out" / name).stat().st_size for name in ("image.h5", "image-illumination.h5"))
    assert stored < own["stored_bytes"] < 2 * stored
    assert 0 < own["compress_seconds"] < told["seconds"]
    assert own["compress_seconds"] + own["write_seconds"] <= told["seconds"] + 1e-9
    rates = own["equivalent_bytes_per_second"], own["without_transform_bytes_per_second"]
    assert rates[0] == pytest.approx(own["plain_bytes"] / (own["compress_seconds"] + own["write_seconds"]))
    assert rates[0] < rates[1]
    # The images of a lossy file are read back, the Laplacian of what is read; the first two are as they were made.
    difference = [np.abs(found.astype(float) - expected) for found, expected in zip(images[:2], usual, strict=False)]
    assert (own["rms_error"] > 0) == lossy
    assert own["largest_error"] >= max(one.max() for one in difference) * (1 - 1e-5)
    if not lossy:
        assert all(np.array_equal(found, expected) for found, expected in zip(images, usual, strict=True))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "without compressing" in page


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"storage.read": "posix"}, "[storage] read: found posix: no storage strategy 'posix'"),
        ({"storage.read": "posix-per-rank"}, "[storage] read: "),
        ({"storage.write": "posix-per-rank"}, "RSF is not written by posix-per-rank"),
        ({"storage.write": "mpiio-collective:filter=zfp"}, "RSF is not written with filter=zfp"),
        (
            {"storage.write": "auto:levels=12", "output.image": "image.h5"},
            "out/image.h5: levels=12: found 40 x 30 cells; allowed: up to 6 levels",
        ),
        ({"storage.write": "auto:levels=2"}, "RSF is not written with levels (allowed: .h5, .hdf5, .zarr)"),
        ({"storage.write": "auto:filter=wavelet,shares=1/2"}, "[storage] write: found auto:filter=wavelet,shares=1/2"),
    ],
)
def test_a_strategy_that_cannot_be_is_told_before_any_work(tmp_path, keys, words):
    inputs(tmp_path)
    done = call("migrate", survey(tmp_path, MIGRATE | keys), "--quiet")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
