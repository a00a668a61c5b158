"""Volumes: every format, type, shape and block against plain numpy; bad files refused in one line."""

import itertools
import os
import pickle
from pathlib import Path

import h5py
import numpy as np
import pytest
import segyio
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import atomic
from fathometer.storage.volumes.boxes import runs
from fathometer.storage.volumes.formats import raw_binary
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, split_reference, write_volume

SELF = MPI.COMM_SELF


def some_values(shape, dtype=np.float32, seed=1):
    values = np.random.default_rng(seed).normal(size=shape) * 1000
    return values.astype(dtype)


def info_of(values, **known):
    fields = {"spacing": None, "origin": None, "labels": None, "unit": None, **known}
    return VolumeInfo(values.shape, values.dtype, **fields)


# One writer a format, independent of the code under test: (folder, values) -> reference.
def make_rsf(folder, values, style=None, esize=None):
    style = style or ("native_float" if values.dtype.itemsize == 4 else "native_double")
    kind = values.dtype.newbyteorder(">") if style.startswith("xdr") else values.dtype
    (folder / "v.bin").write_bytes(values.astype(kind).tobytes())
    lines = [f"n{i}={n}" for i, n in enumerate(values.shape[::-1], 1)]
    text = "\n".join([*lines, f'data_format="{style}"', f"esize={esize or kind.itemsize}", 'in="./v.bin"', ""])
    (folder / "v.rsf").write_text(text)
    return "v.rsf"


def make_xdr(folder, values):
    return make_rsf(folder, values, "xdr_float" if values.dtype.itemsize == 4 else "xdr_double")


def make_stdin(folder, values):
    make_rsf(folder, values)
    text = (folder / "v.rsf").read_text() + 'in="stdin"\n'
    (folder / "v.rsf").write_bytes(text.encode() + b"\x0c\x0c\x04" + values.tobytes())
    return "v.rsf"


def make_npy(folder, values):
    np.save(folder / "v.npy", values)
    return "v.npy"


def make_fortran(folder, values):
    np.save(folder / "v.npy", np.asfortranarray(values))
    return "v.npy"


def make_big_endian_npy(folder, values):
    np.save(folder / "v.npy", values.astype(values.dtype.newbyteorder(">")))
    return "v.npy"


def make_npz(folder, values):
    np.savez_compressed(folder / "v.npz", m=values, other=np.zeros(3))
    return "v.npz:m"


def make_hdf5(folder, values):
    with h5py.File(folder / "v.h5", "w") as file:
        file["run/m"] = values
        file["n"] = values.shape
    return "v.h5:run/m"


MAKERS = [
    *(make_rsf, make_xdr, make_stdin),
    *(make_npy, make_fortran, make_big_endian_npy, make_npz, make_hdf5),
]
SHAPES = [(7, 5), (4, 5, 6), (3, 1, 4)]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_reads_any_block(tmp_path, make, dtype, shape):
    values = some_values(shape, dtype)
    random = np.random.default_rng(2)
    with open_volume(make(tmp_path, values), tmp_path) as volume:
        assert volume.info.shape == shape
        boxes = [([0] * len(shape), list(shape)), ([0] * len(shape), [0] * len(shape))]
        for _ in range(10):
            ends = np.sort(np.stack([random.integers(0, n + 1, 2) for n in shape]), axis=1)
            boxes.append((ends[:, 0], ends[:, 1]))
        for lo, hi in boxes:
            block = volume.read(lo, hi)
            expected = values[tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))]
            assert block.dtype == dtype
            assert block.dtype.isnative
            assert block.flags.owndata
            assert block.flags.c_contiguous
            np.testing.assert_array_equal(block, expected)


@pytest.mark.parametrize("suffix", [".rsf", ".npy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("shape", SHAPES)
def test_round_trip(tmp_path, suffix, dtype, shape):
    values = some_values(shape, dtype)
    dims = len(shape)
    known = info_of(
        values,
        spacing=(12.5, 25.0, 0.1)[:dims],
        origin=(-3.0, 0.0, 1e-7)[:dims],
        labels=("x (inline)", "y", "z")[:dims],
        unit="m/s",
    )
    path = tmp_path / ("v" + suffix)
    write_volume(path, known, values, (0,) * dims, SELF)
    with open_volume(path.name, tmp_path) as volume:
        np.testing.assert_array_equal(volume.read((0,) * dims, shape), values)
        assert volume.info.dtype == np.dtype(dtype).newbyteorder("=")
        if suffix == ".rsf":
            assert volume.info.spacing == known.spacing
            assert volume.info.origin == known.origin
            assert volume.info.labels == known.labels
            assert volume.info.unit == known.unit
        else:
            assert volume.info.spacing is None
    assert not list(tmp_path.glob(".*"))


def test_written_rsf_in_an_independent_reader(tmp_path):
    values = some_values((3, 4, 5))
    write_volume(tmp_path / "v.rsf", info_of(values, spacing=(1.0, 2.0, 3.0)), values, (0, 0, 0), SELF)
    head = {}
    for line in (tmp_path / "v.rsf").read_text().split("\n"):
        if line:
            name, value = line.split("=")
            head[name] = value.strip('"')
    found = np.fromfile(tmp_path / head["in"], "<f4").reshape(int(head["n3"]), int(head["n2"]), int(head["n1"]))
    np.testing.assert_array_equal(found, values)
    assert [float(head[d]) for d in ("d1", "d2", "d3")] == [3.0, 2.0, 1.0]
    assert (head["data_format"], head["esize"]) == ("native_float", "4")


def test_a_header_of_gigabytes_is_none(tmp_path):
    """NumPy would take the memory before it sees that the file is short."""
    (tmp_path / "v.npy").write_bytes(b"\x93NUMPY\x02\x00\x00\x00\x80\xff" + bytes(4096))
    with pytest.raises(InputError, match=r"v\.npy: is not an NPY array of numbers \(a header of 4286578688 bytes\)"):
        open_volume("v.npy", tmp_path)


def test_written_npy_in_numpy(tmp_path):
    values = some_values((3, 4, 5), np.float64)
    write_volume(tmp_path / "v.npy", info_of(values), values, (0, 0, 0), SELF)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), values)


def test_overwrites_a_file(tmp_path):
    for seed, shape in ((1, (3, 4)), (2, (5, 6))):
        values = some_values(shape, seed=seed)
        write_volume(tmp_path / "v.rsf", info_of(values), values, (0, 0), SELF)
    with open_volume("v.rsf", tmp_path) as volume:
        np.testing.assert_array_equal(volume.read((0, 0), (5, 6)), values)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["v.rsf", "v.rsf@"]


@settings(max_examples=200)
@given(st.data())
def test_runs_are_the_cells_of_the_block(data):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    lo = [data.draw(st.integers(0, n)) for n in shape]
    block = [data.draw(st.integers(0, n - a)) for n, a in zip(shape, lo, strict=True)]
    numbers = np.arange(np.prod(shape)).reshape(shape)
    box = numbers[tuple(slice(a, a + n) for a, n in zip(lo, block, strict=True))].reshape(-1)
    found = list(runs(shape, block, lo))
    assert [a for a, _, _ in found] == list(np.cumsum([0] + [c for _, _, c in found])[:-1])
    np.testing.assert_array_equal(np.concatenate([np.arange(p, p + c) for _, p, c in found] or [box]), box)
    # Merged: no run begins where the one before ends.
    assert all(p + c != q for (_, p, c), (_, q, _) in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("text", "shape", "spacing", "origin", "labels"),
    [
        ("n1=4 n2=3 n3=1 d1=2 d2=3", (3, 4), (3.0, 2.0), None, None),
        ("n1=4 n2=1 n3=3", (3, 1, 4), None, None, None),
        ("n1=9 n2=3\nn1=4", (3, 4), None, None, None),
        ('n1=4 n2=3 d1=.0125 d2=.025 unit1="km" unit2=km', (3, 4), (25.0, 12.5), None, None),
        ('n1=4 n2=3 d1=.004 d2=25 unit1="s" unit2=m', (3, 4), (25.0, 0.004), None, ("", "t")),
        ("n1=4 n2=3 d1=4 d2=25 o1=100 unit1=ms label1=Time", (3, 4), (25.0, 0.004), (0.0, 0.1), ("", "t")),
        ("n1=4 n2=3 d1=.004 d2=25 label1=t", (3, 4), (25.0, 0.004), None, ("", "t")),
        ("n1=4 n2=3 d1=.004 d2=25 label1=t unit1=m", (3, 4), None, None, ("", "t")),
        ("n1=4 n2=3 d1=.004 d2=25 unit1=Hz", (3, 4), None, None, None),
        ('n1=4 n2=3 o1=-1 o2=7.5 label1="Depth z" label2=x', (3, 4), None, (7.5, -1.0), ("x", "Depth z")),
        ("tool: who@host Mon\n\n  n1=4\n#n1=7\tn2=7\n n2=3 title='a n1=8'", (3, 4), None, None, None),
    ],
)
def test_rsf_headers(tmp_path, text, shape, spacing, origin, labels):
    (tmp_path / "b").write_bytes(bytes(48))
    (tmp_path / "v.rsf").write_text(f'{text}\ndata_format="native_float"\nin="{tmp_path}/b"\n')
    with open_volume("v.rsf", tmp_path) as volume:
        info = volume.info
    assert (info.shape, info.spacing, info.origin, info.labels) == (shape, spacing, origin, labels)


@pytest.mark.parametrize(
    ("reference", "path", "key"),
    [
        ("a/vp.rsf", "a/vp.rsf", None),
        ("m.npz:vp", "m.npz", "vp"),
        ("m.H5:run/vp", "m.H5", "run/vp"),
        ("12:30/m.hdf5:a:b", "12:30/m.hdf5", "a:b"),
        ("12:30/m.npy", "12:30/m.npy", None),
        ("m.npz:vp.npy", "m.npz:vp.npy", None),
    ],
)
def test_references(reference, path, key):
    assert split_reference(reference, Path("/d")) == (Path("/d") / path, key)


def broken_rsf(header):
    def make(folder):
        (folder / "b").write_bytes(bytes(48))
        (folder / "v.rsf").write_text(header)
        return "v.rsf"

    return make


def npy_of(array, **options):
    def make(folder):
        np.save(folder / "v.npy", array, **options)
        return "v.npy"

    return make


def raw(name, data, reference=None):
    def make(folder):
        (folder / name).write_bytes(data)
        return reference or name

    return make


def cut(make, name, change):
    def make_cut(folder):
        reference = make(folder, some_values((4, 5, 6)))
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:-change] if change > 0 else data + bytes(-change))
        return reference

    return make_cut


GOOD = 'n1=4 n2=3 in="b"\n'
BAD = {
    "missing": (lambda _: "v.npy", "no such file"),
    "folder": (lambda d: (d / "v.npy").mkdir() or "v.npy", "is not a file"),
    "unknown suffix": (lambda _: "v.tiff", r"v.tiff: unknown kind of file .*\.rsf, \.npy, \.npz"),
    "no suffix": (lambda _: "v", "unknown kind of file"),
    "a name too long": (lambda _: 300 * "v", "unknown kind of file"),
    "short npy": (cut(make_npy, "v.npy", 1), "holds 479 bytes of data .* 480 bytes"),
    "long npy": (cut(make_npy, "v.npy", -1), "holds 481 bytes of data .* 480 bytes"),
    "short rsf": (cut(make_rsf, "v.bin", 4), "v.bin: holds 476 bytes .* 480 bytes"),
    "short stdin rsf": (cut(make_stdin, "v.rsf", 4), "v.rsf: holds 476 bytes .* 480 bytes"),
    "damaged npz": (cut(make_npz, "v.npz", 100), "not an NPZ"),
    "pickled npy": (npy_of(np.array([{1: 2}, None]), allow_pickle=True), "pickled Python objects"),
    "pickle": (raw("v.npy", pickle.dumps([1.0])), "pickles are never loaded"),
    "empty npy": (raw("v.npy", b""), "is empty"),
    "1D": (npy_of(np.zeros(3)), r"1 dimensions, shape \(3,\), where 2 or 3 are allowed"),
    "4D": (npy_of(np.zeros((1, 2, 3, 4))), "4 dimensions"),
    "empty": (npy_of(np.zeros((0, 3))), "holds no cell"),
    "text values": (npy_of(np.array([["a", "b"]])), "not real numbers"),
    "complex": (npy_of(np.zeros((2, 2), complex)), "not real numbers"),
    "records": (npy_of(np.zeros((2, 2), [("a", "f4")])), "not real numbers"),
    "npz key": (lambda d: make_npz(d, np.zeros((2, 2))) + "x", r"v.npz:mx: no such array .*m, other"),
    "npz without key": (lambda d: make_npz(d, np.zeros((2, 2)))[:-2], r"needs a key.*m, other"),
    "hdf5 key": (lambda d: make_hdf5(d, np.zeros((2, 2))) + "x", r"no such array .*n, run/m"),
    "hdf5 group": (lambda d: make_hdf5(d, np.zeros((2, 2)))[:-2], r"no such array .*n, run/m"),
    "hdf5 text": (raw("v.h5", b"text", "v.h5:a"), "not a readable HDF5"),
    "rsf type": (broken_rsf(GOOD + "data_format=native_int"), "data_format='native_int'.*native_float"),
    "rsf esize": (broken_rsf(GOOD + "esize=8"), "esize=8 contradicts"),
    "rsf n": (broken_rsf('n1=4.5 n2=3 in="b"'), "n1='4.5' is not a whole number"),
    "rsf d": (broken_rsf(GOOD + "d1=x d2=1"), "d1='x' is not a number"),
    "rsf no n1": (broken_rsf('in="b"'), "no n1"),
    "rsf no in": (broken_rsf("n1=4 n2=3"), "no in="),
    "rsf no mark": (broken_rsf('n1=4 n2=3 in="stdin"'), "0c 0c 04"),
    "rsf no binary": (broken_rsf('n1=4 n2=3 in="c"'), "c: no such file"),
    "rsf d of 0": (broken_rsf(GOOD + "d1=0 d2=1"), "allowed: any number but 0"),
    "rsf binary": (raw("v.rsf", bytes(10)), "not an RSF header"),
    "key on npy": (lambda d: make_npy(d, np.zeros((2, 2))) + ":a", "takes no key"),
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD)
def test_bad_files_are_refused_in_one_line(tmp_path, make, words):
    reference = make(tmp_path)
    with pytest.raises(InputError, match=words) as caught:
        open_volume(reference, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(tmp_path):
    (tmp_path / "v.npy").touch(0o000)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        open_volume("v.npy", tmp_path)


@pytest.mark.parametrize(("lo", "hi"), [((0, 0), (3, 4)), ((-1, 0), (2, 3)), ((2, 0), (1, 3)), ((0,), (1,))])
def test_blocks_outside_are_refused(tmp_path, lo, hi):
    with (
        open_volume(make_npy(tmp_path, np.zeros((2, 3))), tmp_path) as volume,
        pytest.raises(InputError, match="does not lie within the shape"),
    ):
        volume.read(lo, hi)


@pytest.mark.parametrize(("dtype", "expected"), [("i2", "f4"), ("u1", "f4"), ("f2", "f4"), ("i4", "f8"), ("i8", "f8")])
def test_integers_are_read_as_floats_that_hold_them(tmp_path, dtype, expected):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    with open_volume(make_npy(tmp_path, values), tmp_path) as volume:
        block = volume.read((0, 0), (2, 3))
    assert block.dtype == expected
    np.testing.assert_array_equal(block, values)


def segy_volume(path, inlines, crosslines, samples, by_crossline=False, skip=0):
    values = some_values((len(inlines), len(crosslines), samples))
    cells = [(i, j) for i in range(len(inlines)) for j in range(len(crosslines))]
    if by_crossline:
        cells.sort(key=lambda cell: cell[::-1])
    cells = cells[: len(cells) - skip]
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 5, np.arange(samples) * 4.0, len(cells)
    with segyio.create(str(path), spec) as file:
        file.bin.update(hns=samples, hdt=4000)
        for trace, (i, j) in enumerate(cells):
            file.header[trace] = {189: inlines[i], 193: crosslines[j]}
            file.trace[trace] = values[i, j]
    return values


@pytest.mark.parametrize(
    ("inlines", "crosslines", "by_crossline", "labels"),
    [
        ([1, 2, 3], [10, 12], False, ("inline", "crossline", "z")),
        ([1, 2, 3], [10, 12], True, ("crossline", "inline", "z")),
        ([5, 4], [12, 10, 8], False, ("inline", "crossline", "z")),
        ([1], [10, 11, 12], False, ("trace", "z")),
        ([1, 2, 3], [7], False, ("trace", "z")),
    ],
)
def test_segy_volumes(tmp_path, inlines, crosslines, by_crossline, labels):
    values = segy_volume(tmp_path / "v.segy", inlines, crosslines, 6, by_crossline)
    if by_crossline:
        values = values.transpose(1, 0, 2)
    if len(labels) == 2:
        values = values.reshape(-1, 6)
    with open_volume("v.segy", tmp_path) as volume:
        assert volume.info == VolumeInfo(values.shape, np.dtype(">f4"), None, None, labels, None)
        np.testing.assert_array_equal(volume.read((0,) * values.ndim, values.shape), values)
        lo = (1,) * values.ndim
        hi = (*values.shape[:-1], 4)
        np.testing.assert_array_equal(volume.read(lo, hi), values[tuple(map(slice, lo, hi))])


@pytest.mark.parametrize(("inlines", "skip"), [([1, 2, 3], 1), ([1, 2, 4], 0)])
def test_segy_without_a_regular_grid(tmp_path, inlines, skip):
    segy_volume(tmp_path / "v.segy", inlines, [1, 2, 3], 6, skip=skip)
    with pytest.raises(InputError, match="neither a line nor a regular grid"):
        open_volume("v.segy", tmp_path)


def test_gathers_are_no_volume(shared_data):
    with pytest.raises(InputError, match="holds gathers"):
        open_volume("viking_small.segy", shared_data / "viking_graben")


@pytest.mark.parametrize("short", [1, 7, 4096])
def test_short_writes_are_continued(tmp_path, monkeypatch, short):
    values = some_values((5, 6, 7))
    plain = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, data, offset: plain(handle, data[:short], offset))
    write_volume(tmp_path / "v.npy", info_of(values), values, (0, 0, 0), SELF)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), values)


@pytest.mark.parametrize("suffix", [".rsf", ".npy"])
@pytest.mark.parametrize("call", ["posix_fallocate", "pwrite", "fsync", "rename"])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, suffix, call):
    old, new = some_values((3, 4)), some_values((30, 40), seed=2)
    path = tmp_path / f"v{suffix}"
    write_volume(path, info_of(old), old, (0, 0), SELF)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path if call == "rename" else os, call, full)
    with pytest.raises(FathometerError, match=rf"v\{suffix}: cannot be written: No space left") as caught:
        write_volume(path, info_of(new), new, (0, 0), SELF)
    assert caught.value.exit_code == 1
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("fails", [0, 1])
def test_a_folder_that_cannot_be_replaced_stays(tmp_path, monkeypatch, fails):
    old, new = some_values((3, 4)), some_values((3, 4), seed=2)
    path, plain, calls = tmp_path / "v.blocks", Path.rename, itertools.count()
    write_volume(path, info_of(old), old, (0, 0), SELF)

    def refused(*words):
        if next(calls) == fails:
            raise OSError(13, "Permission denied")
        return plain(*words)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(FathometerError, match="cannot be written: Permission denied"):
        write_volume(path, info_of(new), new, (0, 0), SELF)
    assert list(tmp_path.iterdir()) == [path]
    with open_volume("v.blocks", tmp_path) as volume:
        np.testing.assert_array_equal(volume.read((0, 0), (3, 4)), old)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_a_folder_is_replaced(tmp_path, there):
    """As a link to a file is; what it names stays as it is."""
    if there:
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "file").touch()
    (tmp_path / "v.blocks").symlink_to(tmp_path / "other")
    values = some_values((3, 4))
    write_volume(tmp_path / "v.blocks", info_of(values), values, (0, 0), SELF)
    assert not (tmp_path / "v.blocks").is_symlink()
    assert {one.name for one in tmp_path.iterdir()} == {"v.blocks", *(["other"] if there else [])}
    assert (tmp_path / "other" / "file").exists() == there


def test_an_interrupt_while_a_volume_is_opened_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(raw_binary, "open_raw", interrupted)
    values = some_values((3, 4))
    with pytest.raises(KeyboardInterrupt):
        write_volume(tmp_path / "v.npy", info_of(values), values, (0, 0), SELF)
    assert not list(tmp_path.iterdir())


def test_nothing_is_flushed_that_need_not_be(tmp_path, monkeypatch):
    def refused(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refused)
    values = some_values((3, 4))
    write_volume(tmp_path / "v.blocks", info_of(values), values, (0, 0), SELF, Strategy.of("auto:sync=none"))


def test_want_of_memory_is_told(tmp_path, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    with open_volume(make_npy(tmp_path, some_values((3, 4))), tmp_path) as volume:
        monkeypatch.setattr(volume, "_block", exhausted)
        with pytest.raises(FathometerError, match=r"v.npy: cannot be read: not enough memory"):
            volume.read((0, 0), (3, 4))


def test_names_that_no_rsf_header_can_hold(tmp_path):
    values = some_values((3, 4))
    for name in ('a"b.rsf', "a\rb.rsf"):
        with pytest.raises(InputError, match="cannot be written into an RSF header"):
            write_volume(tmp_path / name, info_of(values), values, (0, 0), SELF)
    assert not list(tmp_path.iterdir())


def test_file_systems_that_cannot_reserve(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", unsupported)
    values = some_values((3, 4))
    write_volume(tmp_path / "v.npy", info_of(values), values, (0, 0), SELF)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), values)


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "lo", "words"),
    [
        ("v.npz", "f4", (2, 3), (0, 0), r"written as .rsf, .npy, .segy, .sgy, .nc, .+, not .npz"),
        ("v", "f4", (2, 3), (0, 0), "without a suffix"),
        ("v.npy", "i4", (2, 3), (0, 0), "values of type int32"),
        ("v.npy", "f4", (2, 3), (1, 0), "does not lie in"),
        ("v.npy", "f4", (1, 3), (0, 0), "hold 3 cells, the volume 6"),
    ],
)
def test_wrong_requests_to_write(tmp_path, name, dtype, shape, lo, words):
    info = VolumeInfo((2, 3), np.dtype(dtype), None, None, None, None)
    with pytest.raises(InputError, match=words):
        write_volume(tmp_path / name, info, np.zeros(shape, dtype), lo, SELF)
    assert not list(tmp_path.iterdir())


def test_no_folder_to_write_into(tmp_path):
    values = np.zeros((2, 3), np.float32)
    with pytest.raises(FathometerError, match=r"absent/v.npy: cannot be written: No such file or directory"):
        write_volume(tmp_path / "absent" / "v.npy", info_of(values), values, (0, 0), SELF)


def test_permissions_follow_the_umask(tmp_path):
    values = np.zeros((2, 3), np.float32)
    write_volume(tmp_path / "v.npy", info_of(values), values, (0, 0), SELF)
    (tmp_path / "plain").touch()
    assert (tmp_path / "v.npy").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_pieces_are_below_the_limit_of_a_system_call():
    assert atomic.LARGEST_CALL < 0x7FFFF000
