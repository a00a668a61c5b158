"""Verification 6: traces and wavefields are bitwise the same for any number of ranks, decomposition,
threads and tiles."""

import numpy as np
import pytest
from card_support import on_card
from cli_support import under_mpirun
from paths import SUPPORT
from ranks_program import CASES
from support import heterogeneous

from fathometer.grid.tiling import PLAIN

pytestmark = pytest.mark.verify

PROGRAM = SUPPORT / "ranks_program.py"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return propagated(tmp_path_factory.mktemp("ranks"), 1, 1, "cpu")


def propagated(folder, ranks, threads, *processor):
    out = folder / f"{ranks}x{threads}.npz"
    done = under_mpirun(ranks, PROGRAM, out, threads, *processor)
    assert done.returncode == 0, done.stderr
    with np.load(out) as results:
        return dict(results)


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (4, 1), (4, 2)])
def test_bitwise_equal(reference, ranks, threads, tmp_path):
    results = reference if (ranks, threads) == (1, 1) and not on_card() else propagated(tmp_path, ranks, threads)
    compared = set()
    for key, values in results.items():
        case, _, what = key.split("|")
        wanted = reference[f"{case}|(1, 1, 1), {PLAIN.numbers}|{what}"]
        assert np.isfinite(wanted).all()
        assert np.abs(wanted).max() > 0
        assert values.tobytes() == wanted.tobytes(), key
        compared.add(case)
    assert compared == set(CASES)


SURVEYS = {
    "2D vti": {"shape": (45, 36), "vti": True, "order": 8, "top": "absorbing", "condition": "source-normalised"},
    "3D isotropic free surface": {
        "shape": (24, 22, 20),
        "vti": False,
        "order": 4,
        "top": "free-surface",
        "condition": "cross-correlation",
    },
}


# Two commands, one start of all ranks.
BOTH = """
import sys
from fathometer.cli.main import main
shots, image, threads = sys.argv[1:]
words = ["--threads", threads, "--quiet"]
sys.exit(main(["model", shots, *words]) or main(["migrate", image, *words]))
"""


def write_surveys(folder, decomposition, shape, vti, order, top, condition):
    """A random model, off-grid sources and receivers on the borders between ranks; shots.toml and image.toml."""
    flat = len(shape) == 2
    vp, epsilon, delta = heterogeneous(shape, 5)
    for name, values in (("vp", vp), ("epsilon", epsilon), ("delta", delta)):
        np.save(folder / f"{name}.npy", values.astype(np.float32))
    anisotropy = 'epsilon = "epsilon.npy"\ndelta = "delta.npy"' if vti else ""
    middle = 12.5 * (shape[0] - 1) / 2
    y = "" if flat else f"y = {12.5 * 8.5}, "
    receivers_y = "" if flat else "y = [62.5, 212.5, 25.0], "
    geometry = (
        f"sources = {{x = [{middle - 50}, {middle + 50}, 100.0], {y}z = 55.0}}\n"
        f"receivers = {{x = [55.0, 230.0, 12.5], {receivers_y}z = 52.0}}"
    )
    for name, acquisition in (("shots", geometry), ("image", 'gathers = "shots/shots.segy"')):
        (folder / f"{name}.toml").write_text(
            f'[model]\nvp = "vp.npy"\n{anisotropy}\nspacing = {[12.5] * len(shape)}\n[acquisition]\n{acquisition}\n'
            '[wavelet]\nkind = "ricker"\npeak_frequency = 18.0\n'
            f'[propagation]\norder = {order}\nduration = 0.2\ntop = "{top}"\n'
            f'[imaging]\ncondition = "{condition}"\n[output]\ndirectory = "{name}"\n'
            f'[parallel]\nranks_per_shot = "all"\ndecomposition = {decomposition}\n'
        )


@pytest.mark.parametrize("survey", SURVEYS)
def test_shots_and_images_are_the_same_bytes_on_one_to_four_ranks(survey, tmp_path):
    """The whole way from model files to SEG-Y and images, with 1 to 4 ranks and 1 or 2 threads."""
    outputs = {}
    flat = len(SURVEYS[survey]["shape"]) == 2
    cut_in_z = [1, 2] if flat else [1, 1, 2]
    cut_twice = [2, 2] if flat else [1, 2, 2]
    for ranks, threads, decomposition in (
        (1, 1, '"auto"'),
        (1, 2, '"auto"'),
        (2, 1, cut_in_z),
        (3, 1, '"auto"'),
        (4, 1, cut_twice),
    ):
        folder = tmp_path / f"{ranks}x{threads}"
        folder.mkdir()
        write_surveys(folder, decomposition, **SURVEYS[survey])
        done = under_mpirun(ranks, "-c", BOTH, folder / "shots.toml", folder / "image.toml", threads)
        assert done.returncode == 0, done.stderr
        files = ("shots/shots.segy", *(f"image/image{kind}.rsf@" for kind in ("", "-laplacian", "-illumination")))
        outputs[ranks, threads] = {file: (folder / file).read_bytes() for file in files}
    reference = outputs.pop((1, 1))
    assert np.abs(np.frombuffer(reference["image/image.rsf@"], np.float32)).max() > 0
    for case, files in outputs.items():
        for file, content in files.items():
            assert content == reference[file], (case, file)
