"""Inputs for the fuzzing of readers: small valid files, and what a number (the seed) makes of them.

Text and headers are changed by their structure (numbers, strings, lines, keys), binaries by their bytes. The same name
and seed give the same bytes.
"""

from __future__ import annotations

import copy
import io
import json
import random
import re
import shutil
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from cli_support import MIGRATE, MODEL, inputs, survey
from segy_support import Bytes

NUMBERS = (
    *("nan", "inf", "-inf", "-1", "0", "1", "-0.0", "1e400", "1e308", "-1e308", "1e32", "1e-320", "5e-324", "0.5"),
    *("2147483647", "2147483648", "4294967295", "9223372036854775807", "9223372036854775808", "18446744073709551616"),
    *("1" + "0" * 39, "-" + "9" * 25, "1e999999", "1_0", "0x10", "", "true", "null", "[]", "{}", '"a"', "1.5.2"),
)
WORDS = (
    *("", "\0", "a\0b", "\n", "\r\n", "\x1b[31m", "\u2028", "../..", "/", "/etc/passwd", "/dev/zero", "-", ":", "%s"),
    *("x" * 300, "y" * 100_000, "\ud800", "\u0301" * 300, "nan", "1e400", "stdin", "$(id)", "'", '"', "[", "∞"),
)
VALUES = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63) - 1, 2**64, 10**39, 10**400, 0.5, 1e308, -1e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf"), [], {}, [[]], [1, 2], {"a": 1}, *WORDS),
)
WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8}
EDGES = (
    0,
    1,
    -1,
    2,
    3,
    7,
    15,
    16,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
)


def mutate_bytes(data: bytes, chance: random.Random, head: int = 0) -> bytes:
    """Change one to six places; head: bytes at the beginning that are changed more often."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        size = len(out)
        if not size:
            return bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
        near = chance.random()
        place = chance.randrange(min(size, head) if head and near < 0.6 else size)
        if near > 0.9:  # formats keep their tables at the end
            place = max(0, size - 1 - chance.randrange(min(size, 400)))
        match chance.randrange(8):
            case 0 | 1:
                out[place] = chance.randrange(256)
            case 2:
                out[place] ^= 1 << chance.randrange(8)
            case 3 | 4:
                code = chance.choice("BHIQ")
                width = WIDTHS[code]
                value = chance.choice(EDGES) % 256**width
                out[place : place + width] = struct.pack(chance.choice("<>") + code, value)[: size - place]
            case 5:
                length = chance.choice((1, 4, 8, 100, size))
                match chance.randrange(3):
                    case 0:
                        del out[place : place + length]
                    case 1:
                        out[place:place] = out[:length]
                    case _:
                        out[place : place + length] = bytes(min(length, size - place))
            case 6:
                del out[chance.randrange(size) :]
            case _:
                out += bytes(chance.choice((1, 3, 16, 4096)))
    return bytes(out)


def mutate_text(text: str, chance: random.Random) -> str:
    """Change numbers, quoted words or lines."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        numbers = list(re.finditer(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text))
        strings = list(re.finditer(r'"[^"\n]*"', text))
        lines = text.split("\n")
        match chance.randrange(7):
            case 0 | 1 | 2 if numbers:
                found = chance.choice(numbers)
                text = text[: found.start()] + chance.choice(NUMBERS) + text[found.end() :]
            case 3 if strings:
                found = chance.choice(strings)
                text = text[: found.start()] + f'"{chance.choice(WORDS)}"' + text[found.end() :]
            case 4:
                place = chance.randrange(len(lines))
                lines[place : place + 1] = chance.choice(([], [lines[place]] * 2, [lines[place][::-1]]))
                text = "\n".join(lines)
            case 5:
                place = chance.randrange(len(text) + 1)
                text = text[:place] + chance.choice((*WORDS, "[" * 3000, "{" * 3000, "a.b.c = 1\n")) + text[place:]
            case _:
                text = text[: chance.randrange(len(text) + 1)] if chance.random() < 0.2 else text
    return text


def mutate_json(value: Any, chance: random.Random) -> Any:
    """Change some entries: replaced, removed, added."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        places: list[tuple[Any, Any]] = []

        def walk(node: Any, places: list[tuple[Any, Any]] = places) -> None:
            keys = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
            for key in keys:
                places.append((node, key))
                walk(node[key])

        walk(value)
        if not places or chance.random() < 0.02:
            return chance.choice(VALUES)
        node, key = chance.choice(places)
        if chance.random() < 0.15:
            del node[key]
        elif isinstance(node, dict) and chance.random() < 0.1:
            node[chance.choice(("more", "", "a\0b", "z" * 300))] = copy.deepcopy(chance.choice(VALUES))
        else:
            node[key] = copy.deepcopy(chance.choice(VALUES))
    return value


def encoded(value: Any, chance: random.Random) -> bytes:
    """As JSON; now and then with bytes changed."""
    text = json.dumps(value).encode()
    return mutate_bytes(text, chance) if chance.random() < 0.15 else text


def changed_file(path: Path, chance: random.Random, head: int = 0) -> None:
    path.write_bytes(mutate_bytes(path.read_bytes(), chance, head))


# --- what each reader is given: `base` writes valid files into a folder, `change` changes a copy


def _survey_base(folder: Path) -> None:
    inputs(folder)
    common = {"output.directory": "out", "parallel.decomposition": [1, 1], "history.store": "auto"}
    more = {
        "model.epsilon": 0.1,
        "model.origin": [0.0, 0.0],
        "propagation.dt": 0.001,
        "propagation.order": 8,
        "acquisition.sample_interval": 0.004,
        "parallel.memory_budget": 0.5,
        "storage.read": "auto",
    }
    survey(folder, {**MODEL, **common, **more}, "model.toml")
    conditioned = {
        "acquisition.origin": [0.0, 0.0],
        "acquisition.azimuth": 90.0,
        "acquisition.mute": {"velocity": 1500.0, "taper": 0.02},
        "acquisition.conditioning": {"band_pass": [1.0, 2.0, 30.0, 40.0], "offsets": [0.0, 1000.0]},
        "imaging.aperture": 100.0,
        "imaging.every": 2,
        "history.memory_budget": 1e6,
    }
    survey(folder, {**MIGRATE, **common, **conditioned}, "migrate.toml")
    np.savetxt(folder / "wavelet.txt", np.hanning(21))
    sampled = {
        "wavelet.kind": "file",
        "wavelet.peak_frequency": None,
        "wavelet.path": "series.txt",
        "wavelet.sample_interval": 0.004,
        "wavelet.maximum_frequency": 40.0,
        "wavelet.zero": 0.04,
    }
    survey(folder, {**MODEL, **sampled}, "sampled.toml")


def _survey_change(folder: Path, chance: random.Random) -> str:
    name = chance.choice(("model.toml", "migrate.toml", "sampled.toml"))
    text = mutate_text((folder / name).read_text(), chance)
    data = text.encode(errors="surrogatepass")
    (folder / "input.toml").write_bytes(mutate_bytes(data, chance) if chance.random() < 0.1 else data)
    series = (folder / "wavelet.txt").read_text()
    changed = mutate_text(series, chance) if chance.random() < 0.1 else series
    (folder / "series.txt").write_bytes(changed.encode(errors="surrogatepass"))
    return "input.toml"


def _traces(su: bool) -> list[Bytes]:
    geometry = [
        {9: shot, 13: channel, 29: 1, 73: 100 * shot, 77: 7, 81: 100 * shot + 10 * channel, 85: 7, 37: 10 * channel}
        for shot in (1, 2)
        for channel in (1, 2, 3)
    ]
    grid = [{189: 1 + n // 3, 193: 1 + n % 3} for n in range(6)]
    values = 1.0 + np.arange(6 * 5.0).reshape(6, 5)
    kinds = [Bytes(values, trace=geometry, every={117: 4000}, order="<", su=True)] if su else []
    if not su:
        for code in (1, 2, 3, 5, 6, 7, 8):
            kinds.append(Bytes(values, format=code, trace=geometry, every={117: 4000}))
        kinds.append(Bytes(values, trace=grid, order="<"))
        kinds.append(Bytes(values, trace=geometry, revision=(2, 0), every={117: 4000}))
        kinds.append(Bytes(values, trace=geometry, extended=["hello", "((SEG: EndText))"], announced=-1))
    return kinds


def _trace_base(suffix: str) -> Callable[[Path], None]:
    def base(folder: Path) -> None:
        for number, one in enumerate(_traces(suffix == "su")):
            one.write(folder / f"base{number}.{suffix}")

    return base


def _trace_change(suffix: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, chance: random.Random) -> str:
        data = bytearray(chance.choice(sorted(folder.glob(f"base*.{suffix}"))).read_bytes())
        fields = [*range(3201, 3260), 3269, 3273, 3281, 3289, 3501, 3503, 3505, 3507, 3521]
        for _ in range(chance.choice((0, 1, 1, 2, 3))):  # fields of the binary and the first trace's header
            place = chance.choice(fields) - 1 if suffix != "su" and chance.random() < 0.5 else 0
            place = place or (0 if suffix == "su" else 3600) + chance.randrange(240)
            code = chance.choice("BHHIQ")
            value = chance.choice(EDGES) % 256 ** WIDTHS[code]
            data[place : place + WIDTHS[code]] = struct.pack(chance.choice("<>") + code, value)
        whole = bytes(data)
        if chance.random() < 0.6:
            whole = mutate_bytes(whole, chance, 0 if suffix == "su" else 3840)
        (folder / f"input.{suffix}").write_bytes(whole)
        return f"input.{suffix}"

    return change


RSF = (
    'in="vp.bin" data_format="native_float" esize=4\nn1=5 n2=6 d1=10 d2=10 o1=0 o2=0\nunit1="m" unit2="m"\nlabel1="z"\n'
)


def _rsf_base(folder: Path) -> None:
    values = np.arange(30, dtype=np.float32)
    (folder / "vp.bin").write_bytes(values.tobytes())
    (folder / "plain.rsf").write_text(RSF)
    (folder / "inside.rsf").write_bytes(RSF.replace("vp.bin", "stdin").encode() + b"\x0c\x0c\x04" + values.tobytes())


def _rsf_change(folder: Path, chance: random.Random) -> str:
    data = (folder / chance.choice(("plain.rsf", "inside.rsf"))).read_bytes()
    head, mark, values = data.partition(b"\x0c\x0c\x04")
    whole = mutate_text(head.decode(), chance).encode(errors="surrogatepass") + mark + values
    (folder / "input.rsf").write_bytes(mutate_bytes(whole, chance) if chance.random() < 0.3 else whole)
    if chance.random() < 0.1:
        changed_file(folder / "vp.bin", chance)
    return "input.rsf"


def _npy_base(folder: Path) -> None:
    np.save(folder / "base0.npy", np.arange(30, dtype=np.float32).reshape(5, 6))
    np.save(folder / "base1.npy", np.asfortranarray(np.arange(24, dtype=">i2").reshape(2, 3, 4)))
    arrays = {"vp": np.arange(30.0).reshape(5, 6), "e": np.ones((3, 4), np.float32)}
    np.savez(folder / "base0.npz", **arrays)
    np.savez_compressed(folder / "base1.npz", **arrays)


def _npy_head(data: bytes, chance: random.Random) -> bytes:
    """An NPY whose header's text is changed, and its length with it."""
    length = int.from_bytes(data[8:10], "little")
    text = mutate_text(data[10 : 10 + length].decode("latin-1"), chance).encode("latin-1", "replace")
    return data[:8] + min(len(text), 65535).to_bytes(2, "little") + text + data[10 + length :]


def _npy_change(folder: Path, chance: random.Random) -> str:
    if chance.random() < 0.4:
        data = (folder / chance.choice(("base0.npy", "base1.npy"))).read_bytes()
        data = _npy_head(data, chance) if chance.random() < 0.6 else mutate_bytes(data, chance, 128)
        (folder / "input.npy").write_bytes(data)
        return "input.npy"
    data = (folder / chance.choice(("base0.npz", "base1.npz"))).read_bytes()
    if chance.random() < 0.5:
        data = mutate_bytes(data, chance, 200)
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            members = {name: old.read(name) for name in old.namelist()}
        buffer = io.BytesIO()
        methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        with zipfile.ZipFile(buffer, "w", chance.choice(methods)) as new:
            for name, member in members.items():
                other = chance.choice(("", "\n", "x" * 300, "../")) + name if chance.random() < 0.3 else name
                new.writestr(other, _npy_head(member, chance) if chance.random() < 0.6 else member)
        data = buffer.getvalue()
        if chance.random() < 0.2:  # announced as encrypted
            data = data.replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01").replace(
                b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
            )
    (folder / "input.npz").write_bytes(data)
    return f"input.npz{chance.choice(('', ':vp', ':vp', ':e', ':none', ':' + 'k' * 400))}"


def _written(folder: Path, name: str, strategy: str = "auto") -> None:
    """A volume of this program."""
    from mpi4py import MPI

    from fathometer.storage.volumes.strategy import Strategy
    from fathometer.storage.volumes.volume import VolumeInfo, write_volume

    values = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    info = VolumeInfo(values.shape, values.dtype, (10.0, 10.0, 5.0), (0.0, 0.0, 1.0), ("x", "y", "z"), "m/s")
    write_volume(folder / name, info, values, (0, 0, 0), MPI.COMM_SELF, Strategy.of(strategy))


def _netcdf_base(folder: Path) -> None:
    _written(folder, "base.nc")


def _hdf5_base(folder: Path) -> None:
    import h5py

    _written(folder, "base0.h5")
    _written(folder, "base3.h5", "auto:filter=wavelet,shares=10/1")
    _written(folder, "base4.h5", "auto:levels=2")
    for number, version in ((1, "earliest"), (2, "latest")):
        with h5py.File(folder / f"base{number}.h5", "w", libver=version) as file:
            group = file.create_group("a/b")
            group.create_dataset("vp", data=np.arange(20.0).reshape(4, 5), chunks=(2, 5), compression="gzip")
            file.create_dataset("plain", data=np.arange(12, dtype=np.int16).reshape(3, 4))
            file["plain"].attrs["spacing"] = [1.0, 2.0]
            file["plain"].attrs["labels"] = ["x", "z"]


def odd_hdf5(path: Path, chance: random.Random) -> None:
    """Structures that are valid HDF5 and no volume, or a strange one."""
    import h5py

    odd = chance.choice((float("nan"), 1e308, -1.0, "text", b"\xff", 2**63, [], [1.0], [1e32, 1e32], [["a"]]))
    with h5py.File(path, "w") as file:
        for number in range(chance.choice((1, 1, 2, 300))):
            name: str | bytes = chance.choice(("v", b"\xff\xfe", "x" * 300, "a\nb", "g/h/v", b"\xe9/v", "∞"))
            name = name + b"%d" % number if isinstance(name, bytes) else f"{name}{number}"
            try:
                values = _odd_member(file, name, chance)
            except (ValueError, RuntimeError, OSError, KeyError):  # the same name twice, or one within a dataset
                continue
            for key in ("spacing", "origin", "labels", "units") if values is not None else ():
                if chance.random() < 0.4:
                    with suppress(TypeError, ValueError, OverflowError):
                        values.attrs[key] = odd


def _odd_member(file: Any, name: str | bytes, chance: random.Random) -> Any:
    import h5py

    match chance.randrange(8):
        case 0:
            return file.create_dataset(name, (10**4,) * 3, "f4", chunks=(64,) * 3)
        case 1:
            return file.create_dataset(name, (3, 4), "S5")
        case 2:
            return file.create_dataset(name, (3, 4), [("a", "f4"), ("b", "i2")])
        case 3:
            return file.create_dataset(name, data=h5py.Empty("f4"))
        case 4:
            return file.create_dataset(name, (3, 4), h5py.string_dtype())
        case 5:
            file[name] = h5py.SoftLink(chance.choice(("/nowhere", "/", "/v0")))
        case 6:
            file[name] = h5py.ExternalLink(chance.choice(("no.h5", "/dev/zero", "input.h5")), "/v0")
        case _:
            return file.create_dataset(name, data=np.ones((3, 4), chance.choice(("f4", ">f8", "f2", "u8"))))
    return None


def _hdf5_change(folder: Path, chance: random.Random) -> str:
    path = folder / "input.h5"
    if chance.random() < 0.2:
        odd_hdf5(path, chance)
        key = chance.choice(("", ":v0", ":g/h/v0"))
    else:
        path.write_bytes(chance.choice(sorted(folder.glob("base*.h5"))).read_bytes())
        key = chance.choice(("", "", ":values", ":a/b/vp", ":plain", ":plain", ":levels/1", ":shares/10"))
    if chance.random() < 0.85:
        changed_file(path, chance, chance.choice((2048, 16384)))
    return f"input.h5{key}"


def _zarr_base(folder: Path) -> None:
    _written(folder, "base.zarr", "auto:levels=2")


def _zarr_change(folder: Path, chance: random.Random) -> str:
    shutil.rmtree(folder / "input.zarr", ignore_errors=True)
    shutil.copytree(folder / "base.zarr", folder / "input.zarr")
    files = sorted(path for path in (folder / "input.zarr").rglob("*") if path.is_file())
    texts = [path for path in files if path.name == "zarr.json"]
    for _ in range(chance.choice((1, 1, 2))):
        path = chance.choice(texts if chance.random() < 0.7 else files)
        if path in texts and path.exists() and chance.random() < 0.8:
            try:
                value = json.loads(path.read_bytes())
            except ValueError:
                continue
            path.write_bytes(encoded(mutate_json(value, chance), chance))
        elif path.exists() and chance.random() < 0.1:
            path.unlink()
        elif path.exists():
            changed_file(path, chance)
    return "input.zarr" + chance.choice(("", ":values", ":levels/2"))


def _blocks_base(folder: Path) -> None:
    _written(folder, "base.blocks")


def _blocks_change(folder: Path, chance: random.Random) -> str:
    shutil.rmtree(folder / "input.blocks", ignore_errors=True)
    shutil.copytree(folder / "base.blocks", folder / "input.blocks")
    index = folder / "input.blocks" / "index.json"
    index.write_bytes(encoded(mutate_json(json.loads(index.read_bytes()), chance), chance))
    if chance.random() < 0.3:
        changed_file(chance.choice(sorted((folder / "input.blocks").glob("*.npy"))), chance)
    return "input.blocks"


def _index_base(folder: Path) -> None:
    from index_support import index_of, live

    index_of(live().write(folder / "line.segy"))
    (folder / "survey.parquet").rename(folder / "base.parquet")


def rewritten(path: Path, chance: random.Random) -> None:
    """A well-formed index with strange rows or another summary."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fathometer.storage.index import seal
    from fathometer.storage.index.table import METADATA_KEY

    table = pq.read_table(path)
    names = list(table.column_names)
    for _ in range(chance.choice((0, 1, 2))):
        name = chance.choice(names)
        place = table.column_names.index(name)
        rows = table.num_rows
        odd: Any = chance.choice(
            (0, -1, 2**31 - 1, 2**62, -(2**63), float("nan"), float("inf"), 1e308, None, "a", True)
        )
        match chance.randrange(3):
            case 0:
                column = pa.array([odd] * rows)
            case 1:
                values = table.column(name).to_pylist()
                values[chance.randrange(rows)] = odd
                try:
                    column = pa.array(values, table.schema.field(name).type)
                except (pa.ArrowException, OverflowError, TypeError, ValueError):
                    continue
            case _:
                table = table.drop_columns([name])
                names.remove(name)
                if not names:
                    break
                continue
        table = table.set_column(place, name, column)
    with pq.ParquetFile(path) as file:
        summary = json.loads(file.metadata.metadata[METADATA_KEY])
    if chance.random() < 0.6:
        summary = mutate_json(summary, chance)
    table = table.replace_schema_metadata({METADATA_KEY: json.dumps(summary).encode(), seal.KEY: seal.EMPTY})
    pq.write_table(table, path)
    seal.seal(path)


def _index_change(folder: Path, chance: random.Random) -> str:
    path = folder / "input.parquet"
    path.write_bytes((folder / "base.parquet").read_bytes())
    if chance.random() < 0.4:
        rewritten(path, chance)
    else:
        changed_file(path, chance)
    return "input.parquet"


def _journal_base(folder: Path) -> None:
    from fathometer.runs.journal import Contribution, Journal, VolumePart
    from fathometer.runs.seal import with_seal
    from fathometer.runs.sum_file import SumFile

    journal = folder / "journal"
    journal.mkdir()
    state = Journal(journal, run="20260101T000000-1")
    for task in range(4):
        part = VolumePart(1.5, 12345)
        np.save(state.contribution(task, "image"), np.ones((3, 2), np.float32))
        state.finish_task(0, Contribution(task, (0, 0, 0), (3, 1, 2), {"image": part}, 0.5, 1))
    state.set_aside(0, 4, "a reason")
    state.flushed(0)
    entries = {"input": {"a": [1, 2]}, "repaired": ["x"], "files": {"vp": "1"}}
    (journal / "survey.json").write_text(json.dumps(with_seal(entries)))
    planned = SumFile.planned(journal / "20260101T000000-1-0000-1.sum", {0: "", 1: ""}, (3, 1, 2), {"image": 3})
    whole = replace(planned, checksums={"image": 7})
    planned.path.write_bytes(whole.head + bytes(whole.size - whole.data))


def _journal_change(folder: Path, chance: random.Random) -> str:
    shutil.rmtree(folder / "input", ignore_errors=True)
    shutil.copytree(folder / "journal", folder / "input")
    path = chance.choice(sorted((folder / "input").glob("*[ml]")))  # lines and sums
    if chance.random() < 0.2:
        path = folder / "input" / "survey.json"
    if path.suffix == ".jsonl" and chance.random() < 0.7:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        place = chance.randrange(len(lines))
        texts = path.read_text().splitlines()
        texts[place] = _resealed(mutate_json(lines[place], chance), chance)
        path.write_text("".join(text + "\n" for text in texts))
    elif path.suffix == ".sum" and chance.random() < 0.7:
        head, _, rest = path.read_bytes().partition(b"\n")
        path.write_bytes(_resealed(mutate_json(json.loads(head), chance), chance).encode() + b"\n" + rest)
    elif path.suffix == ".json" and chance.random() < 0.7:
        path.write_bytes(encoded(mutate_json(json.loads(path.read_bytes()), chance), chance))
    else:
        changed_file(path, chance, 200)
    return "input"


def _resealed(value: Any, chance: random.Random) -> str:
    """A changed record of the journal as text; half of them with a seal that fits, which no check of bytes refuses."""
    from fathometer.runs.seal import CHECKSUM_KEY, JOURNAL, sealed

    if isinstance(value, dict) and chance.random() < 0.5:
        return sealed({name: entry for name, entry in value.items() if name not in (CHECKSUM_KEY, JOURNAL.key)})
    return json.dumps(value).replace("Infinity", "1e400")


def _record_base(folder: Path) -> None:
    from report_support import a_record

    (folder / "base.json").write_text(json.dumps(a_record()))


def _json_change(base: str, name: str) -> Callable[[Path, random.Random], str]:
    def change(folder: Path, chance: random.Random) -> str:
        value = mutate_json(json.loads((folder / base).read_text()), chance)
        (folder / name).write_bytes(encoded(value, chance))
        return name

    return change


def _tuning_base(folder: Path) -> None:
    from fathometer.grid.tuning_cache import SCHEMA

    rates = {"source": 2e8, "receivers": 1.5e8}
    choices = {"KEY": {"tiling": [2, 8, 8, 1], "trials": 9, "settled": True, "gain": None, "rates": rates}}
    (folder / "base.json").write_text(json.dumps({"schema_version": SCHEMA, "choices": choices}))


def _strategies_base(folder: Path) -> None:
    one = {
        "mount": "/",
        "type": "ext4",
        "format": "RSF",
        "operation": "read",
        "strategy": "posix-shared",
        "bytes_per_second": 1e9,
        "ranks": 2,
        "host": "here",
        "date": "2026-01-01T00:00:00+00:00",
    }
    more = one | {"operation": "write", "format": "HDF5", "strategy": "root-broadcast:sync=none"}
    (folder / "base.json").write_text(json.dumps({"schema_version": 1, "winners": [one, more]}))


def _machine_base(folder: Path) -> None:
    from machine_support import MACHINE

    (folder / "base.json").write_text(MACHINE.model_dump_json())


def _study_base(folder: Path) -> None:
    from study_support import KERNEL, TOTAL, keep, study

    tables = {"table": [{"rows": ["ranks"], "best_over": ["history"]}], "gate": {"figures": ["total"]}}
    factors = {"ranks": [1, 2], "history": ["memory", "disk"]}
    keep(study(factors, rounds=3, figures=(TOTAL, KERNEL), **tables), folder / "base.study")


def _builds_base(folder: Path) -> None:
    from study_support import builds, keep

    keep(builds(rounds=6), folder / "base.study")


def _study_change(folder: Path, chance: random.Random) -> str:
    shutil.rmtree(folder / "input.study", ignore_errors=True)
    shutil.copytree(folder / "base.study", folder / "input.study")
    files = sorted((folder / "input.study").rglob("*.json"))
    path = files[-1] if chance.random() < 0.5 else chance.choice(files)
    path.write_bytes(encoded(mutate_json(json.loads(path.read_bytes()), chance), chance))
    return "input.study"


def _profile_base(folder: Path) -> None:
    """A file as a rank leaves it that was killed: without a sum, which would show any change of its bytes."""
    from fathometer.lab.profile import rank_file
    from fathometer.lab.profile.functions import checksum

    tables = (("communicators", rank_file._COMMUNICATOR), ("files", rank_file._FILE), ("sites", rank_file._SITE))
    header = np.zeros(1, rank_file._HEADER)
    header["magic"], header["version"], header["checksum"] = rank_file.MAGIC, rank_file.VERSION, checksum()
    header["header_bytes"], header["size"], header["state"], header["options"] = header.itemsize, 2, 1, 3
    header["calls_each"], header["peers_each"], header["windows_each"], header["blocks"] = 4, 2, 8, 1
    header["job"], header["host"], header["begin_real_nanoseconds"] = b"job", b"host", 10**18
    header["first"], header["last"], header["init_begin"], header["init_end"] = (0, 0), (10**9, 10**9), 1, 2
    body = b""
    for name, kind in tables:
        header[name], header[f"{name}_at"] = 1, rank_file.HEADER_BYTES + len(body)
        body += np.zeros(1, kind).tobytes()
    block, calls, peers = np.zeros(1, rank_file._BLOCK), np.zeros(4, rank_file._CALL), np.zeros(2, rank_file._PEER)
    block["main"], block["shift"] = 1, 20
    calls["key"], calls["calls"], calls["ticks"] = [1 << 63 | 5 << 10 | n for n in (0, 40, 300, 400)], 3, 10**6
    peers["key"], peers["messages"], peers["bytes"] = [(1 + 2) * 4 + 1, (0 + 2) * 4 + 2], 3, 4000
    parts = [table.tobytes() for table in (block, calls, peers, np.ones(8, rank_file._WINDOW))]
    header["blocks_at"], header["block_bytes"] = rank_file.HEADER_BYTES + len(body), sum(map(len, parts))
    head = header.tobytes().ljust(rank_file.HEADER_BYTES, b"\0")
    (folder / "base-0.profile").write_bytes(head + body + b"".join(parts))


def _profile_change(folder: Path, chance: random.Random) -> str:
    whole = folder / "input"
    shutil.rmtree(whole, ignore_errors=True)
    whole.mkdir()
    for rank in range(2):
        path = whole / f"rank-{rank:06d}.host.{rank}.profile"
        path.write_bytes((folder / "base-0.profile").read_bytes())
        if rank:
            changed_file(path, chance, 700)
    return "input"


BASES: dict[str, Callable[[Path], None]] = {
    "survey": _survey_base,
    "segy": _trace_base("segy"),
    "su": _trace_base("su"),
    "rsf": _rsf_base,
    "npy": _npy_base,
    "netcdf": _netcdf_base,
    "hdf5": _hdf5_base,
    "zarr": _zarr_base,
    "blocks": _blocks_base,
    "index": _index_base,
    "journal": _journal_base,
    "record": _record_base,
    "tuning": _tuning_base,
    "strategies": _strategies_base,
    "machine": _machine_base,
    "profile": _profile_base,
    "study": _study_base,
    "builds": _builds_base,
}
CHANGES: dict[str, Callable[[Path, random.Random], str]] = {
    "survey": _survey_change,
    "segy": _trace_change("segy"),
    "su": _trace_change("su"),
    "rsf": _rsf_change,
    "npy": _npy_change,
    "netcdf": lambda folder, chance: (
        (
            (folder / "input.nc").write_bytes(mutate_bytes((folder / "base.nc").read_bytes(), chance, 400))
            and f"input.nc{chance.choice(('', ':values'))}"
        )
        or "input.nc"
    ),
    "hdf5": _hdf5_change,
    "zarr": _zarr_change,
    "blocks": _blocks_change,
    "index": _index_change,
    "journal": _journal_change,
    "record": _json_change("base.json", "input.json"),
    "tuning": _json_change("base.json", "tuning.json"),
    "strategies": _json_change("base.json", "storage.json"),
    "machine": _json_change("base.json", "input.json"),
    "profile": _profile_change,
    "study": _study_change,
    "builds": _study_change,
}


def make(target: str, seed: int, folder: Path) -> str:
    """Write an input of a seed beside the bases in `folder`; returns its reference."""
    return CHANGES[target](folder, random.Random(f"{target} {seed}"))
