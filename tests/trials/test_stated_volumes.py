"""Random volumes of others (packed, transposed, turned round, in other units, by all formats) against what they mean.

New seeds each time, printed. One case again: `random_case(np.random.default_rng(SEED), FORM)` of
tests/support/stated_volumes.py.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from cli_support import under_mpirun
from paths import SUPPORT
from stated_volumes import WRITERS, Stated, hdf5, lacking, random_case

from fathometer.seismic.model.prepare.driver import prepare_volume
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.storage.volumes.volume import open_volume

pytestmark = pytest.mark.trials
COUNT = 60  # cases of each format
FORMS = [form for form in WRITERS if not lacking(form)]


def seeds(count):
    found = [random.SystemRandom().randrange(10**9) for _ in range(count)]
    print(f"seeds {found}")
    return found


def check(folder, reference, truth, how, **keys):
    """What `prepare` makes of a file is the truth: values, spacing and origin, along x, (y,) z."""
    out = folder / "out.rsf"
    prepare_volume(PreparationRequest(str(folder / reference), out, **keys), lambda line: None)
    with open_volume(out.name, folder) as volume:
        found = volume.read([0] * truth.values.ndim, volume.info.shape)
        steps = np.ptp(truth.values) / 60000 if how.packed else 0.0
        # Slowness that is packed evenly is coarser where velocities are high.
        np.testing.assert_allclose(found, truth.values, rtol=2e-6 + (3e-4 if how.packed else 0.0), atol=steps)
        np.testing.assert_allclose(volume.info.spacing, truth.spacing, rtol=1e-4)
        np.testing.assert_allclose(volume.info.origin, truth.origin, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_read_is_what_the_file_says(tmp_path, form):
    for seed in seeds(COUNT):
        truth, how = random_case(np.random.default_rng(seed), form)
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            check(folder, WRITERS[form](folder, truth, how), truth, how)
        except Exception as error:
            raise AssertionError(f"{form} {seed}: {how}: {error}") from error


def test_arrays_of_matlab(tmp_path):
    pytest.importorskip("h5py")
    for seed in seeds(COUNT):
        truth, _ = random_case(np.random.default_rng(seed), "hdf5")
        how = Stated(truth.axes, column_major=True)
        folder = tmp_path / str(seed)
        folder.mkdir()
        check(folder, hdf5(folder, truth, how), truth, how, input_spacing=truth.spacing, input_origin=truth.origin)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_on_several_ranks(tmp_path, ranks):
    references = []
    for seed in seeds(4):
        for form in FORMS:
            truth, how = random_case(np.random.default_rng(seed), form)
            folder = tmp_path / f"{form}-{seed}"
            folder.mkdir()
            references.append(folder / WRITERS[form](folder, truth, how))
    done = under_mpirun(ranks, SUPPORT / "stated_program.py", *references)
    assert done.returncode == 0, done.stderr
    *wrong, count = done.stdout.splitlines()
    assert not wrong
    assert int(count) >= len(references)
