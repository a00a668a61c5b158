"""What a migration takes of the memory, as the operating system counts it."""

import json

import numpy as np
from cli_support import call

from fathometer.seismic.waves.boundary import Pml

SHAPE, HALO = (170, 160, 140), 4


def test_nine_arrays_of_the_grid_the_history_and_little_else(tmp_path):
    """Four wavefields, three of the model, image and illumination, 36 bytes a cell; 200 MB for the rest."""
    depth = np.arange(SHAPE[2], dtype=np.float32)
    np.save(tmp_path / "vp.npy", np.broadcast_to(1800 + 5 * depth, SHAPE))
    common = '[model]\nvp = "vp.npy"\nepsilon = 0.1\ndelta = 0.05\nspacing = [12.5, 12.5, 12.5]\n'
    wavelet = '[wavelet]\nkind = "ricker"\npeak_frequency = 12.0\n'
    geometry = (
        "[acquisition]\nsources = {x = 1000.0, y = 1000.0, z = 60.0}\n"
        "receivers = {x = [200.0, 1900.0, 50.0], y = 950.0, z = 50.0}\n"
    )
    (tmp_path / "shots.toml").write_text(
        common + geometry + wavelet + '[propagation]\nduration = 0.05\n[output]\ndirectory = "shots"\n'
    )
    (tmp_path / "image.toml").write_text(
        common + '[acquisition]\ngathers = "shots/shots.segy"\n' + wavelet + '[output]\ndirectory = "image"\n'
        '[history]\nstore = "memory"\n'
    )
    for command, survey in (("model", "shots"), ("migrate", "image")):
        done = call(command, tmp_path / f"{survey}.toml", "--quiet", "--threads", 2)  # each takes some memory too
        assert done.code == 0, done.err
    results = json.loads((tmp_path / "image" / "run.json").read_text())["results"]
    padded = np.array(results["grid"]["padded_shape"])
    assert (padded >= np.array(SHAPE) + 2 * Pml().width).all()
    cells = int(padded.prod())
    halos = 4 * 4 * int((padded + np.array([2 * HALO, 2 * HALO, 32])).prod() - cells)
    history = (results["steps"] // results["imaging_step"] + 1) * int(np.prod(SHAPE)) * 4
    [peak] = results["peak_memory_bytes"]
    assert 28 * cells + history < peak < 36 * cells + history + halos + 200e6
