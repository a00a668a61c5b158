"""Volumes as wavelet coefficients: the transform beside its filters, what is kept, read in part, damaged."""

import itertools
import json
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from cli_support import call, clean_environment, mpirun
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from paths import SUPPORT
from patience import PATIENCE
from storage_program import info_of
from wavelet_program import SHAPES, WAYS, values_of

from fathometer import _native
from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import probe
from fathometer.storage.volumes.formats.wavelet import Layout
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, reference_at, write_volume
from fathometer.storage.volumes.writer import VolumeWriter

# CDF 9/7 as its filters: low-pass of sum 1, and high-pass (Cohen, Daubechies & Feauveau 1992, as in JPEG 2000).
LOW = [0.602949018236, 0.266864118443, -0.078223266529, -0.016864118443, 0.026748757411]
HIGH = [1.115087052457, -0.591271763114, -0.057543526229, 0.091271763114]


def halvings_of(shape):
    return tuple(max(0, (n - 1).bit_length() - 2) for n in shape)


def mirrored(n, place):
    """The cell of a line of n whose mirror images continue it."""
    period = max(1, 2 * (n - 1))
    place %= period
    return period - place if place >= n else place


def by_filters(line):
    """One halving of a line, by convolution: low-pass values times the root of 2, high-pass ones over it."""
    n = len(line)

    def convolved(centre, half):
        return sum(half[abs(k)] * line[mirrored(n, centre + k)] for k in range(1 - len(half), len(half)))

    low = [np.sqrt(2) * convolved(2 * i, LOW) for i in range((n + 1) // 2)]
    return np.array(low + [convolved(2 * i + 1, HIGH) / np.sqrt(2) for i in range(n // 2)])


def by_filters_in_space(values, halvings):
    values = values.astype(np.float64)
    shape = list(values.shape)
    for level in range(max(halvings)):
        corner = tuple(slice(0, n) for n in shape)
        part = values[corner]
        for axis in range(3):
            if halvings[axis] > level:
                part = np.apply_along_axis(by_filters, axis, part)
        values[corner] = part
        shape = [-(-n // 2) if h > level else n for n, h in zip(shape, halvings, strict=True)]
    return values


@pytest.mark.parametrize("shape", [(8, 5, 9), (1, 16, 11), (13, 1, 2)])
def test_forward_is_the_convolution_with_the_filters(shape):
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    found = values.copy()
    _native.wavelet_forward(found, halvings_of(shape))
    assert np.allclose(found, by_filters_in_space(values, halvings_of(shape)), rtol=0, atol=2e-5)


def test_inverse_of_forward_is_the_block_in_all_sizes():
    random = np.random.default_rng(1)
    for n in range(1, 66):
        for shape in ((n, n, n), (n, 3, 7), (2, n, 1), (66 - n, 5, n)):
            values = random.normal(size=shape).astype(np.float32)
            found = values.copy()
            _native.wavelet_forward(found, halvings_of(shape))
            assert n < 3 or shape[0] < 5 or not np.allclose(found, values)
            _native.wavelet_inverse(found, shape, halvings_of(shape), 0)
            assert np.linalg.norm(found - values) <= 1e-5 * np.linalg.norm(values)


def test_smooth_values_have_no_coefficients_but_the_corner():
    """Four vanishing moments: of a cubic all high-pass values are zero, but near the ends, where it is mirrored."""
    x = np.arange(64) / 64
    values = np.ascontiguousarray(np.broadcast_to((1 + x - 2 * x**2 + x**3)[:, None, None], (64, 4, 4)), np.float32)
    _native.wavelet_forward(values, (1, 0, 0))
    assert np.abs(values[34:62]).max() < 2e-6


def random_field(n):
    """Amplitudes k^(-11/6) exp(-(k/80)^2), random phases."""
    k, kz = np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)
    radius = np.sqrt(k[:, None, None] ** 2 + k[None, :, None] ** 2 + kz**2)
    radius[0, 0, 0] = np.inf
    noise = np.fft.rfftn(np.random.default_rng(0).standard_normal((n, n, n), np.float32))
    noise *= radius ** (-11 / 6) * np.exp(-((np.where(np.isinf(radius), 0, radius) / 80) ** 2))
    return np.fft.irfftn(noise, s=(n, n, n), axes=(0, 1, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def field(tmp_path_factory):
    folder, values = tmp_path_factory.mktemp("field"), random_field(256)
    write(folder / "field.h5", values)
    return folder, values


def write(path, values, strategy="auto:filter=wavelet", info=None):
    write_volume(path, info or info_of(values.shape), values, (0,) * values.ndim, MPI.COMM_SELF, Strategy.of(strategy))
    return path


def read(folder, name, level=0, share=None, box=None):
    with open_volume(reference_at(name, folder, level, share), folder, steps=True) as volume:
        lo, hi = box or ((0,) * len(volume.info.shape), volume.info.shape)
        return volume.read(lo, hi)


def rms(values):
    return np.sqrt(np.mean(np.square(values, dtype=np.float64)))


@pytest.mark.parametrize(("share", "most"), [(1, 1e-5), (10, 0.043), (100, 0.14), (500, 0.26)])
def test_shares_of_a_random_field(field, share, most):
    folder, values = field
    assert rms(read(folder, "field.h5", share=share) - values) <= most * values.std()


def test_a_file_has_the_bytes_that_its_shares_say(field, tmp_path):
    folder, values = field
    assert (folder / "field.h5").stat().st_size <= 1.02 * values.nbytes
    for share, most in ((500, 0.0029), (100, 0.0129), (10, 0.1167)):
        path = write(tmp_path / f"{share}.h5", values, f"auto:filter=wavelet,shares={share}")
        assert path.stat().st_size <= most * values.nbytes
        assert np.array_equal(read(tmp_path, path.name), read(folder, "field.h5", share=share))


def bytes_read(path, reference, box):
    """Bytes of system calls of a process that reads a box, by strace."""
    program = (
        "import sys; from pathlib import Path; from fathometer.storage.volumes.volume import open_volume\n"
        "with open_volume(sys.argv[1], Path(sys.argv[2])) as v:\n"
        "    lo, hi = eval(sys.argv[3]) or ((0, 0, 0), v.info.shape)\n"
        "    print(v.read(lo, hi).shape)\n"
    )
    words = ["strace", "-f", "-e", "trace=read,pread64,preadv,preadv2,openat,close", sys.executable, "-c", program]
    done = subprocess.run(
        [*words, reference, str(path.parent), repr(box)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr[-2000:]
    total, handles = 0, set()
    for line in done.stderr.splitlines():
        if opened := re.search(r'openat\([^"]*"([^"]*)".*= (\d+)$', line):
            (handles.add if opened[1] == str(path) else handles.discard)(opened[2])
        elif (moved := re.search(r"(?:read|pread64|preadv2?)\((\d+),.* = (\d+)$", line)) and moved[1] in handles:
            total += int(moved[2])
    return total


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace on PATH")
def test_parts_are_read_by_few_bytes(field):
    folder, _ = field
    path, size = folder / "field.h5", (folder / "field.h5").stat().st_size
    block = ((64, 128, 0), (128, 192, 64))
    assert bytes_read(path, "field.h5", block) <= 0.025 * size
    assert bytes_read(path, "field.h5:levels/2", None) <= 0.02 * size
    assert bytes_read(path, "field.h5:shares/100", None) <= 0.014 * size
    assert np.array_equal(read(folder, "field.h5", box=block), read(folder, "field.h5")[64:128, 128:192, :64])


def test_levels_are_the_low_pass_values(tmp_path):
    """Of one block they are what the halvings leave, over their gain; the corner is a plain volume."""
    values = values_of((40, 24, 33))
    write(tmp_path / "v.h5", values)
    layout = Layout(values.shape, 1, (1,))
    for level in range(layout.levels + 1):
        halvings = tuple(min(level, h) for h in layout.halvings)
        low = by_filters_in_space(values, halvings) if level else values
        cells = tuple(slice(0, -(-n // 2**h)) for n, h in zip(values.shape, halvings, strict=True))
        assert np.allclose(read(tmp_path, "v.h5", level), low[cells] / 2 ** (sum(halvings) / 2), rtol=0, atol=1e-5)
    with open_volume("v.h5:levels/2", tmp_path) as volume:
        assert volume.info.spacing == tuple(4 * h for h in info_of(values.shape).spacing)
        assert volume.info.origin == info_of(values.shape).origin
    with h5py.File(tmp_path / "v.h5") as file:  # as any reader of HDF5 has it
        coarse = file["wavelet/coarse"]
        assert np.array_equal(coarse[...], read(tmp_path, "v.h5", layout.levels))
        assert list(coarse.attrs["spacing"]) == [
            16 * h if n == 40 or n == 33 else 8 * h
            for n, h in zip(values.shape, info_of(values.shape).spacing, strict=True)
        ]
        assert len(coarse.dims[0].values()[0]) == coarse.shape[0] if hasattr(coarse.dims[0], "values") else True
    assert np.array_equal(read(tmp_path, "v.h5:wavelet/coarse"), read(tmp_path, "v.h5", layout.levels))


@pytest.mark.parametrize("shape", [(65, 64, 63), (1, 1, 2), (130, 3, 5), (700, 513), (2, 9), (4, 66, 5, 40)])
def test_any_shape_is_known_again(tmp_path, shape):
    values = values_of(shape)
    write(tmp_path / "v.h5", values)
    assert np.allclose(read(tmp_path, "v.h5"), values, rtol=0, atol=1e-5)
    with open_volume("v.h5", tmp_path, steps=True) as volume:
        assert volume.info == info_of(shape)
        assert volume.files() == [tmp_path / "v.h5"]
    largest = 0.0
    for share in (500, 100, 10, 1):
        error = rms(read(tmp_path, "v.h5", share=share) - values)
        assert share == 500 or error <= largest + 1e-7
        largest = error


@given(st.data())
def test_any_box_is_that_of_the_whole(data):
    folder, whole = boxes_of_a_volume()
    level, share = data.draw(st.sampled_from([*whole]))
    expected = whole[level, share]
    ends = [sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in expected.shape]
    lo, hi = zip(*ends, strict=True)
    assert np.array_equal(read(folder, "v.h5", level, share, (lo, hi)), expected[tuple(map(slice, lo, hi))])


_known = []


def boxes_of_a_volume():
    if not _known:
        import tempfile
        from pathlib import Path

        folder = Path(tempfile.mkdtemp())
        values = values_of((70, 66, 130))
        write(folder / "v.h5", values)
        choices = itertools.product((0, 1, 3), (None, 100))
        _known.append((folder, {key: read(folder, "v.h5", *key) for key in choices}))
    return _known[0]


@pytest.fixture(scope="module")
def by_one_rank(tmp_path_factory):
    return on_ranks(1, tmp_path_factory.mktemp("one"))


def on_ranks(ranks, folder):
    words = [*mpirun(ranks), sys.executable, SUPPORT / "wavelet_program.py", folder]
    done = subprocess.run(
        [str(word) for word in words], env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ranks_write_the_same_bytes_and_levels(tmp_path, by_one_rank, ranks):
    on_ranks(ranks, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) >= (len(WAYS) - 1) * len(SHAPES)
    for name in names:
        few, _, way = name.split("-")
        if "levels" not in WAYS[way]:
            expected = "posix.h5" if way != "part.h5" else way
            assert (tmp_path / name).read_bytes() == (by_one_rank / f"{few}-0-{expected}").read_bytes(), name
            continue
        for level in (0, 1, 3):
            found, expected = read(tmp_path, name, level), read(by_one_rank, f"{few}-0-{way}", level)
            assert np.array_equal(found, expected), (name, level)


def changed(path, name, place=0.4):
    """Flip a bit of a dataset's values."""
    with h5py.File(path) as file:
        dataset = file[f"wavelet/{name}"]
        at = dataset.id.get_offset() + int(place * dataset.size) * dataset.dtype.itemsize
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize(
    "name",
    ["coarse", "checks", *(f"1:{s}/{p}" for s in (500, 100, 10) for p in ("values", "high", "low")), "1:1/values"],
)
def test_a_flipped_bit_is_an_error(tmp_path, name):
    path = write(tmp_path / "v.h5", values_of((70, 66, 40)))
    changed(path, name)
    with pytest.raises(InputError, match=r"v\.h5: is damaged: coefficients of the block of cells from \("):
        read(tmp_path, "v.h5")


def test_lists_that_were_exchanged_are_an_error(tmp_path):
    path = write(tmp_path / "v.h5", values_of((128, 8, 8)))
    with h5py.File(path, "r+") as file:
        for name in ("1:10/values", "1:10/high", "1:10/low"):  # of both blocks, which have as many
            values = file[f"wavelet/{name}"]
            half = len(values) // 2
            values[...] = np.concatenate([values[half:], values[:half]])
    with pytest.raises(InputError, match="is damaged: coefficients of the block"):
        read(tmp_path, "v.h5")


def test_datasets_that_were_exchanged_are_an_error(tmp_path):
    path = write(tmp_path / "v.h5", values_of((65, 66, 20)))
    with h5py.File(path, "r+") as file:
        file.move("wavelet/1:100", "wavelet/other")
        file.move("wavelet/1:500", "wavelet/1:100")
        file.move("wavelet/other", "wavelet/1:500")
    with pytest.raises(InputError, match=r"v\.h5:wavelet/1:500/values: found \(\d+,\) of float32; needed: \("):
        read(tmp_path, "v.h5")


def test_missing_and_truncated_values_are_an_error(tmp_path):
    path = write(tmp_path / "v.h5", values_of((40, 30, 20)))
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2, 100):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"v\.h5"):
            read(tmp_path, "v.h5")
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        del file["wavelet/1:10/low"]
    with pytest.raises(InputError, match=r"wavelet/1:10/low: no such dataset; needed: \(\d+,\) of uint8"):
        read(tmp_path, "v.h5")


@pytest.mark.parametrize(
    "own",
    [
        "nonsense",
        "{}",
        '{"shape": [4, 4], "shares": [1]}',
        '{"shape": [4, "x", 4], "shares": [1], "stepped": false}',
        '{"shape": [40, 30, -20], "shares": [1], "stepped": false}',
        '{"shape": [40, 30, 20], "shares": [0], "stepped": false}',
        '{"shape": [40, 30, 20], "shares": [1, 10], "stepped": false}',
        '{"shape": [40, 30, 20], "shares": [], "stepped": false}',
        '{"shape": [40, 30, 20], "shares": [500, 100, 10, 1], "stepped": true}',
        "[1]",
        '{"shape": [40, 30, 200000000000], "shares": [500, 100, 10, 1], "stepped": false}',
    ],
)
def test_nonsense_in_the_header_is_an_error(tmp_path, own):
    path = write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with h5py.File(path, "r+") as file:
        file["wavelet"].attrs["volume"] = own
    with pytest.raises((InputError, FathometerError), match=r"v\.h5"):
        read(tmp_path, "v.h5")


def test_another_version_is_refused(tmp_path):
    path = write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with h5py.File(path, "r+") as file:
        file["wavelet"].attrs["format"] = "CDF 9/7 by blocks, 2"
    with pytest.raises(InputError, match="found format 'CDF 9/7 by blocks, 2'; allowed: 'CDF 9/7 by blocks, 1'"):
        read(tmp_path, "v.h5")


@pytest.mark.parametrize(
    ("level", "share", "said"),
    [
        (5, None, "level 5: allowed: 0 to 4"),
        (0, 7, "share 1:7: allowed: 1:500, 1:100, 1:10, 1:1"),
        (0, 10**12, "share 1:1000000000000: allowed"),
    ],
)
def test_what_a_file_has_not_is_an_error(tmp_path, level, share, said):
    write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with pytest.raises(InputError, match=re.escape(said)):
        read(tmp_path, "v.h5", level, share)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("filter=wavelets", "(allowed: none, zfp, sperr, blosc2, wavelet); did you mean wavelet?"),
        ("filter=wavelet,shares=0", "shares=0: allowed: falling numbers from 1000000 to 1"),
        ("filter=wavelet,shares=10/100", "shares=10/100: allowed"),
        ("filter=wavelet,shares=10/10", "shares=10/10: allowed"),
        ("filter=wavelet,shares=1.5", "shares=1.5: allowed"),
        ("filter=wavelet,shares=99999999999999", "allowed"),
        ("filter=wavelet,bits=8", "bits: found without filter=zfp or filter=sperr"),
        ("shares=10", "shares: found without filter=wavelet"),
        ("filter=wavelet,levels=2", "levels: found with filter=wavelet, which has levels of its own"),
    ],
)
def test_options_that_do_not_fit(options, said):
    with pytest.raises(InputError, match=re.escape(said)):
        Strategy.of(f"auto:{options}")


@pytest.mark.parametrize(
    "text", ["auto:filter=wavelet", "mpiio-collective:filter=wavelet,shares=1000/50", "auto:levels=3"]
)
def test_the_text_of_a_strategy_is_its_inverse(text):
    assert str(Strategy.of(text)) == text
    assert Strategy.of(str(Strategy.of(text))) == Strategy.of(text)


def test_values_that_have_no_coefficients_are_refused(tmp_path):
    values = values_of((70, 20, 10))
    for odd in (np.nan, np.inf, 3e38):
        values[66, 3, 2] = odd
        values[66, 4, 2] = odd
        with pytest.raises(
            FathometerError, match=r"the block of cells from \(64, 0, 0\) holds a value that is no finite"
        ):
            write(tmp_path / "v.h5", values)
        assert not list(tmp_path.iterdir())
    with pytest.raises(FathometerError, match="filter=wavelet: found float64; allowed: float32"):
        write(
            tmp_path / "v.h5",
            values.astype(np.float64),
            info=info_of(values.shape).__class__(values.shape, np.dtype(np.float64), None, None, None, None),
        )
    for name in ("v.rsf", "v.zarr", "v.nc"):
        with pytest.raises(FathometerError, match=r"is not written with filter=wavelet \(allowed: none\)"):
            write(tmp_path / name, values)
    with pytest.raises(InputError, match=r"by root-broadcast with filter=wavelet \(allowed: posix-shared"):
        write(tmp_path / "v.h5", values, "root-broadcast:filter=wavelet")


def test_blocks_that_leave_cells_out_are_refused(tmp_path):
    values = values_of((70, 20, 10))
    with (
        pytest.raises(InputError, match="found blocks that leave cells out; needed: whole volumes"),
        VolumeWriter(
            tmp_path / "v.h5", info_of(values.shape), MPI.COMM_SELF, Strategy.of("auto:filter=wavelet")
        ) as writer,
    ):
        writer.write(values[:64], (0, 0, 0))
    assert not list(tmp_path.iterdir())


def test_steps_are_written_as_they_come(tmp_path):
    values = values_of((5, 66, 9, 12))
    strategy = Strategy.of("auto:filter=wavelet")
    with VolumeWriter(tmp_path / "v.h5", info_of(values.shape), MPI.COMM_SELF, strategy) as writer:
        writer.write(values[:2], (0, 0, 0, 0))
        writer.write(values[2:], (2, 0, 0, 0))
    write(tmp_path / "whole.h5", values)
    assert (tmp_path / "v.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    found = read(tmp_path, "v.h5", box=((3, 1, 2, 3), (5, 66, 8, 4)))
    assert np.array_equal(found, read(tmp_path, "v.h5")[3:5, 1:66, 2:8, 3:4])


@pytest.mark.parametrize("shape", [(70, 66, 40), (64, 64, 64), (9, 7, 8)])
@pytest.mark.parametrize("filter", ["wavelet,shares=100/10", "sperr,bits=2", "zfp,bits=4"])
def test_the_error_of_a_file_is_told(tmp_path, shape, filter):
    """Also of volumes of one chunk, which HDF5 could hold back until it closes the file."""
    if not filter.startswith("wavelet"):
        pytest.importorskip("hdf5plugin")
    values = values_of(shape)
    strategy = Strategy.of(f"auto:filter={filter}")
    with VolumeWriter(tmp_path / "v.h5", info_of(values.shape), MPI.COMM_SELF, strategy) as writer:
        writer.write(values, (0, 0, 0))
    told, difference = writer.compression, read(tmp_path, "v.h5").astype(float) - values
    assert told.largest_error == pytest.approx(np.abs(difference).max(), rel=1e-5)
    assert told.squared_error == pytest.approx(np.sum(np.square(difference)), rel=1e-5)
    assert (told.plain_bytes, told.stored_bytes) == (values.nbytes, (tmp_path / "v.h5").stat().st_size)
    assert told.compress_seconds > 0


def test_info_prepare_and_xarray_read_parts(tmp_path):
    xarray = pytest.importorskip("xarray")
    values = 2000 + 100 * values_of((70, 66, 40))
    write(tmp_path / "plain.rsf", values, "auto")
    done = call("prepare", tmp_path / "plain.rsf", "-o", tmp_path / "v.h5", "--write", "auto:filter=wavelet")
    assert done.code == 0, done.err
    assert np.allclose(read(tmp_path, "v.h5"), values, rtol=1e-5)
    done = call("info", tmp_path / "v.h5", "--level", 2, "--share", 10, "--json", "--picture", tmp_path / "v.png")
    assert done.code == 0, done.err
    [told] = json.loads(done.out)
    assert told["shape"] == [18, 17, 10]
    assert told["spacing_metres"] == [4 * h for h in info_of(values.shape).spacing]
    assert (tmp_path / "v.png").stat().st_size > 10_000
    done = call("prepare", f"{tmp_path / 'v.h5'}:levels/1", "-o", tmp_path / "half.rsf")
    assert done.code == 0, done.err
    assert np.array_equal(read(tmp_path, "half.rsf"), read(tmp_path, "v.h5", 1))
    with xarray.open_dataset(tmp_path / "v.h5", engine="fathometer", level=1, share=100) as data:
        expected = read(tmp_path, "v.h5", 1, 100)
        assert data["v"].dims == ("x", "y", "z")
        assert np.array_equal(data["v"][3:20, ::-2, 5], expected[3:20, ::-2, 5])
        assert np.array_equal(data["v"].isel(x=[1, 5, 2], z=-1), expected[[1, 5, 2], :, -1])
        assert np.allclose(data["x"], 1.0 + 25.0 * np.arange(35))
    done = call("info", tmp_path / "plain.rsf", "--level", 1)
    assert done.code == 2
    assert "RSF has no levels (allowed: .h5, .hdf5, .zarr" in done.err


@pytest.mark.parametrize(
    "key", ["", "/", "//", "levels/1shares/100", "levels/01", "levels/0", "shares/0", "shares/\u0661", "x"]
)
def test_keys_that_name_nothing_are_errors(tmp_path, key):
    write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with (
        pytest.raises(InputError, match=r"no such volume|no such array|needs a key"),
        open_volume(f"v.h5:{key}", tmp_path),
    ):
        pass


@pytest.mark.parametrize(("level", "share"), [(-1, None), ("2", None), (0, 0), (1, 1.5)])
def test_numbers_that_are_none(tmp_path, level, share):
    write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with pytest.raises(InputError, match=r"(level|share): found .*; allowed: a whole number from [01]"):
        reference_at("v.h5", tmp_path, level, share)


def test_damage_that_ends_the_library_is_an_error(tmp_path, monkeypatch):
    """Attributes of the group are looked at by a child first, as those of datasets are: over some damage it is ended,
    or never ends."""
    monkeypatch.setattr(probe, "LONGEST_SECONDS", 3.0)
    path = write(tmp_path / "v.h5", values_of((40, 30, 20)))
    whole = path.read_bytes()
    place, refused = whole.index(b"GCOL"), 0  # texts of variable length lie there
    for at in range(place, place + 64, 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            read(tmp_path, "v.h5")
        except InputError:
            refused += 1
    assert refused > 5


def test_a_header_that_asks_for_all_memory_is_refused_at_once(tmp_path):
    path = write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with h5py.File(path, "r+") as file:
        file["wavelet"].attrs["volume"] = '{"shape": [1000000000, 64, 64], "shares": [10, 1], "stepped": false}'
    with pytest.raises(InputError, match=r"a volume of \(1000000000, 64, 64\) cells is not in \d+ bytes"):
        read(tmp_path, "v.h5")


def test_values_in_another_file_are_refused(tmp_path):
    path = write(tmp_path / "v.h5", values_of((40, 30, 20)))
    write(tmp_path / "other.h5", values_of((40, 30, 20)))
    with h5py.File(path, "r+") as file:
        del file["wavelet/1:10/values"]
        file["wavelet/1:10/values"] = h5py.ExternalLink("other.h5", "wavelet/1:10/values")
    with pytest.raises(InputError, match="wavelet/1:10/values: no such dataset"):
        read(tmp_path, "v.h5")


def test_info_tells_what_can_be_read(tmp_path):
    write(tmp_path / "v.h5", values_of((40, 30, 20)), "auto:filter=wavelet,shares=100/10")
    write(tmp_path / "w.h5", values_of((40, 30, 20)), "auto:levels=2")
    done = call("info", tmp_path / "v.h5", tmp_path / "w.h5")
    assert "wavelet coefficients: levels up to 4, shares 1:100, 1:10 (--level, --share)" in done.out
    assert "beside it are 2 coarser levels of means (--level)" in done.out


def test_xarray_data_can_go_to_other_processes(tmp_path):
    xarray = pytest.importorskip("xarray")
    import pickle

    write(tmp_path / "v.h5", values_of((40, 30, 20)))
    with xarray.open_dataset(tmp_path / "v.h5", engine="fathometer", level=1) as data:
        again = pickle.loads(pickle.dumps(data))
        assert np.array_equal(again["v"], data["v"])
    with pytest.raises(InputError, match="level: found -1"):
        xarray.open_dataset(tmp_path / "v.h5", engine="fathometer", level=-1)
