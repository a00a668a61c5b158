"""Identity of files: what their bytes, their list and their times tell, for every format of volumes."""

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.traces.wavelet_file import series_files
from fathometer.storage import fingerprint, hashing
from fathometer.storage.fingerprint import GRANULARITY_NS, FileState, hash_of, lasting
from fathometer.storage.hashing import Hashing, require_unchanged
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.registry import FORMATS
from fathometer.storage.volumes.volume import open_volume, write_volume

VALUES = np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32)
LATER = 1_000_000_000_000_000_000


def words(paths, threads=1) -> list[str]:
    states = [FileState.of(path, required=False) for path in paths]
    missing = [state for state in states if state.hash]
    with Hashing([state for state in states if not state.hash], MPI.COMM_SELF, ThreadCounts(1, 1, threads)) as work:
        return [state.words for state in missing + work.results()]


def identity(reference, folder) -> list[tuple[str, str]]:
    with open_volume(reference, folder) as volume:
        files = volume.files()
    return list(zip(map(str, files), words(files), strict=True))


def read(reference, folder) -> bytes | None:
    try:
        with open_volume(reference, folder) as volume:
            return volume.read([0, 0], volume.info.shape).tobytes()
    except FathometerError:
        return None


def written(suffix, folder) -> str:
    """A volume of the format that has this suffix, and its reference."""
    if suffix == ".npz":
        np.savez(folder / "v.npz", values=VALUES)
        return "v.npz"
    info = VolumeInfo(VALUES.shape, VALUES.dtype, (5.0, 5.0), (0.0, 0.0), None, None)
    write_volume(folder / f"v{suffix}", info, VALUES, (0, 0), MPI.COMM_SELF)
    key = {".nc": ":v", ".zarr": ":v", ".h5": ":values", ".hdf5": ":values"}
    return f"v{suffix}{key.get(suffix, '')}"


@pytest.mark.filterwarnings("ignore::UserWarning")  # of Zarr, where a file is gone
@pytest.mark.parametrize("suffix", [suffix for form in FORMATS for suffix in form.suffixes])
def test_whatever_changes_a_volume_changes_its_files(tmp_path, suffix):
    """A bit of a value, wherever it lies in the folder; a file that is gone; other values."""
    form = next(form for form in FORMATS if suffix in form.suffixes)
    if missing := form.missing("root", 1):
        pytest.skip(missing)
    reference = written(suffix, tmp_path)
    before, values = identity(reference, tmp_path), read(reference, tmp_path)
    found = 0
    for path in [one for one in tmp_path.rglob("*") if one.is_file()]:
        whole = path.read_bytes()
        places = (whole.find(np.array(VALUES[2, 3], kind).tobytes()) for kind in ("<f4", ">f4"))
        if (place := max(places)) >= 0:
            path.write_bytes(whole[: place + 1] + bytes([whole[place + 1] ^ 1]) + whole[place + 2 :])
            assert words([Path(name) for name, _ in before]) != [text for _, text in before]
            assert read(reference, tmp_path) != values
            found += 1
        path.unlink()
        if read(reference, tmp_path) not in (None, values):
            assert identity(reference, tmp_path) != before, path
        path.write_bytes(whole)
    assert found == 1
    assert identity(reference, tmp_path) == before


def test_an_rsf_is_also_the_file_that_its_header_names(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "values.bin").write_bytes(VALUES.tobytes())
    (tmp_path / "v.rsf").write_text('n1=6 n2=4 d1=5 d2=5 data_format="native_float" in="data/values.bin"\n')
    before = identity("v.rsf", tmp_path)
    assert [path for path, _ in before] == [str(tmp_path / "v.rsf"), str(tmp_path / "data" / "values.bin")]
    (tmp_path / "data" / "values.bin").write_bytes(VALUES[::-1].tobytes())
    assert identity("v.rsf", tmp_path) != before
    assert series_files(tmp_path / "v.rsf") == [tmp_path / "v.rsf", tmp_path / "data" / "values.bin"]


def test_a_dataset_is_all_files_that_its_values_come_from(tmp_path, monkeypatch):
    """Raw values outside, a virtual dataset of another file's, by an external link."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far").mkdir()
    with h5py.File("far/source.h5", "w") as file:
        external = [("far.bin", 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("x", shape=VALUES.shape, dtype="f4", external=external)[:] = VALUES
    with h5py.File("link.h5", "w") as file:
        file["group"] = h5py.ExternalLink("far/source.h5", "/")
        file["soft"] = h5py.SoftLink("/group/x")
    layout = h5py.VirtualLayout(shape=(8, 6), dtype="f4")
    layout[:4] = h5py.VirtualSource("link.h5", "soft", shape=VALUES.shape)
    layout[4:] = h5py.VirtualSource("other.h5", "x", shape=VALUES.shape)
    with h5py.File("v.h5", "w") as file:
        file.create_virtual_dataset("values", layout)
    with h5py.File("other.h5", "w") as file:
        file["x"] = VALUES
    before, values = identity("v.h5", tmp_path), read("v.h5", tmp_path)
    names = {os.path.relpath(path) for path, _ in before}
    assert names == {"v.h5", "link.h5", "far/source.h5", "far.bin", "other.h5"}
    assert VALUES.tobytes() in values
    for change in (
        lambda: (tmp_path / "far.bin").write_bytes(VALUES[::-1].tobytes()),
        lambda: (tmp_path / "other.h5").write_bytes((tmp_path / "far" / "source.h5").read_bytes()),
    ):
        change()
        assert read("v.h5", tmp_path) != values
        assert identity("v.h5", tmp_path) != before
        before, values = identity("v.h5", tmp_path), read("v.h5", tmp_path)


@pytest.mark.parametrize("size", [0, 1, 6999, 7000, 7001, 70_001])
def test_hashes_do_not_depend_on_threads_and_every_byte_counts(tmp_path, monkeypatch, size):
    """Against a hash of the pieces made at once."""
    monkeypatch.setattr(fingerprint, "PIECE", 7000)
    monkeypatch.setattr(fingerprint, "BUFFER", 999)
    data = np.random.default_rng(size).bytes(size)
    (tmp_path / "a").write_bytes(data)
    pieces = [bytes.fromhex(hash_of(data[n : n + 7000])) for n in range(0, size, 7000)]
    wanted = f"{size} bytes, XXH3-128 {hash_of(*pieces)}"
    assert words([tmp_path / "a"], 1) == words([tmp_path / "a"], 3) == [wanted]
    for place in {size // 2, size - 1} if size else ():
        (tmp_path / "a").write_bytes(data[:place] + bytes([data[place] ^ 128]) + data[place + 1 :])
        assert words([tmp_path / "a"]) != [wanted]


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_hashes_do_not_depend_on_ranks(tmp_path, monkeypatch, ranks):
    """Each rank hashes its own pieces, none of them twice; an exchange stands in for MPI's."""
    monkeypatch.setattr(fingerprint, "PIECE", 100)
    for name, size in (("a", 250), ("b", 0), ("c", 99), ("d", 501)):
        (tmp_path / name).write_bytes(np.random.default_rng(size).bytes(size))
    states = [FileState.of(tmp_path / name) for name in "abcd"]
    wanted = words([tmp_path / name for name in "abcd"])
    monkeypatch.setattr(hashing, "collective_errors", lambda comm: contextlib.nullcontext())
    dealt: list[list[bytes]] = []
    for again in (False, True):
        monkeypatch.setattr(hashing, "allgather", lambda comm, own, again=again: dealt if again else [own] * ranks)
        for rank in range(ranks):
            with Hashing(states, SimpleNamespace(rank=rank, size=ranks), ThreadCounts(1, 1, 2)) as part:
                if again:
                    assert [state.words for state in part.results()] == wanted
                else:
                    dealt.append([future.result() for future in part._futures])
    assert sorted(map(len, dealt)) == sorted(len(range(rank, 10, ranks)) for rank in range(ranks))


def test_a_byte_anywhere_in_a_large_file_counts(tmp_path):
    """Also between samples of it; in pieces of the program's own size, the last one short."""
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(fingerprint.PIECE + (1 << 20) + 7)
    known = set(words([path], 2))
    for place in (0, 123_456, 5_000_001, fingerprint.PIECE - 1, fingerprint.PIECE, path.stat().st_size - 1):
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"1")
        (now,) = words([path], 2)
        assert now not in known
        known.add(now)


SEEN = FileState("a", 5, 6, LATER, LATER + 7, LATER + 7 + GRANULARITY_NS, "h")


@pytest.mark.parametrize(
    ("change", "untouched"),
    [
        ({"seen_ns": LATER * 2, "hash": ""}, True),
        ({"bytes": 6}, False),
        ({"inode": 7}, False),
        ({"modified_ns": LATER - 1}, False),
        ({"changed_ns": LATER + 8}, False),  # as when another tool has set the time of modification back
    ],
)
def test_an_untouched_file_is_known_by_size_inode_and_times(change, untouched):
    assert replace(SEEN, **change).untouched_since(SEEN) == untouched
    # Looked at so soon after it was written that a change since then could have the same times.
    early = replace(SEEN, seen_ns=SEEN.seen_ns - 1)
    assert not replace(early, **change).untouched_since(early)


def test_a_state_survives_json(tmp_path):
    (tmp_path / "a").write_text("a")
    state = FileState.of(tmp_path / "a")
    assert FileState.from_dict(state.as_dict()) == state
    assert FileState.of(tmp_path / "a").same_as(state)


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    state = FileState.of(path)
    require_unchanged([state, FileState.of(tmp_path / "none", required=False)])
    path.write_bytes(b"123")
    with (
        pytest.raises(FathometerError, match="a: has changed while it was read"),
        Hashing([state], MPI.COMM_SELF, ThreadCounts(1, 1, 1)) as work,
    ):
        work.results()
    with pytest.raises(FathometerError, match="a: has changed while it was read"):
        require_unchanged([state])
    path.unlink()
    with pytest.raises(FathometerError, match="a: has changed while it was read"):
        require_unchanged([state])


def test_a_file_that_is_touched_while_it_is_read_is_none(tmp_path, monkeypatch):
    """Its times, its permissions or its links are others, its bytes are not."""
    monkeypatch.setattr(fingerprint, "PIECE", 2)
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    with Hashing([FileState.of(path)], MPI.COMM_SELF, ThreadCounts(1, 1, 1)) as work:
        (state,) = work.results()
    for touch in (lambda: path.chmod(0o400), lambda: os.utime(path, ns=(1, 1)), lambda: os.link(path, tmp_path / "b")):
        touch()
        assert not FileState.of(path).same_as(state)
        require_unchanged([state])
    with pytest.raises(FathometerError, match="has changed"):
        require_unchanged([replace(state, hash="")])  # nobody knows
    path.chmod(0o600)
    path.write_bytes(b"12346")
    with pytest.raises(FathometerError, match=r"a: has changed .*; --resume goes on where it is again what it was"):
        require_unchanged([state])


def test_a_lasting_path_is_that_of_the_same_file(tmp_path, monkeypatch):
    """Also where `..` follows a link: what the system makes of it, not what the text looks like."""
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    for place in (tmp_path, tmp_path / "far"):
        (place / "a").write_text(place.name)
    monkeypatch.chdir(tmp_path / "far")
    for name in ("a", "../far/a", "deep/../a", tmp_path / "link" / ".." / "a"):
        assert lasting(Path(name)) == tmp_path.resolve() / "far" / "a"
