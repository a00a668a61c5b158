"""The files that hold an HDF5 dataset: its own, those of external links on the way to it, files of raw values, and the
sources of a virtual dataset, with all of theirs.

The library looks for such a file by its name where an environment variable says, beside the file that names it, and in
the working folder, in this order (HDF5's H5Lcreate_external, H5Pset_external and H5Pset_virtual).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError

MOST = 100_000  # files of a dataset, and links on the way to one: more go in circles


def files_of_dataset(file: Any, key: str) -> list[Path]:
    """Every file that the values of the dataset `key` of an open file are read from, its own first, each once.

    Files that are missing are among them: a virtual dataset has its fill value in their place.
    InputError where the links go in circles. Errors of the library as they are.
    """
    import h5py

    files: dict[Path, None] = {}
    done: set[tuple[Path, str]] = set()
    waiting = [(Path(os.fsdecode(file.filename)), key)]
    while waiting:
        path, name = waiting.pop(0)
        if (path, name) in done:
            continue
        done.add((path, name))
        files[path] = None
        if len(done) > MOST or len(files) > MOST:
            raise InputError(f"{path}: the links of {name} lead to more than {MOST} files, or in circles")
        if not path.is_file():
            continue
        try:
            holder = h5py.File(path, "r")
        except OSError:  # such a source counts as missing
            continue
        with holder:
            waiting += _leads(holder, path, name, files)
    return list(files)


def _leads(holder: Any, path: Path, name: str, files: dict[Path, None]) -> list[tuple[Path, str]]:
    """Where a name in a file leads on: (file, name) of further datasets. Files of raw values are added to `files`."""
    import h5py

    parts = [part for part in name.split("/") if part not in ("", ".")]
    for count in range(1, len(parts) + 1):
        way, rest = "/".join(parts[:count]), parts[count:]
        link = holder.get(way, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            target = _found(os.fsdecode(link.filename), path, "HDF5_EXT_PREFIX")
            return [(target, "/".join([str(link.path), *rest]))]
        if isinstance(link, h5py.SoftLink):
            start = "" if str(link.path).startswith("/") else "/".join(parts[: count - 1])
            return [(path, "/".join([start, str(link.path), *rest]))]
        if link is None:
            return []
    item = holder["/".join(parts)]
    if not isinstance(item, h5py.Dataset):
        return []
    properties = item.id.get_create_plist()
    for number in range(properties.get_external_count()):
        raw, _, _ = properties.get_external(number)
        files[_raw(os.fsdecode(raw), path)] = None
    sources = item.virtual_sources() if item.is_virtual else []
    return [
        (target, _plain(source.dset_name)) for source in sources for target in _sources(str(source.file_name), path)
    ]


def _sources(name: str, path: Path) -> list[Path]:
    """The files of a source of a virtual dataset; "." is the same file, %b stands for a number."""
    if name == ".":
        return [path]
    target = _found(name.replace("%%", "%"), path, "HDF5_VDS_PREFIX")
    if not re.search(r"%\d*b", name):
        return [target]
    pattern = re.compile(re.sub(r"(?:%\d*b)+", r"\\d+", re.escape(target.name).replace(r"\%", "%")))
    names = sorted(os.listdir(target.parent)) if target.parent.is_dir() else []
    return [target.parent / name for name in names if pattern.fullmatch(name)]


def _plain(name: str) -> str:
    """The name of a dataset; of one with numbers in its name the part before them, which is a group."""
    return name.rpartition("/")[0] if "%" in name else name


def _found(name: str, beside: Path, variable: str) -> Path:
    """The file that the library opens for a name; where there is none, the one beside the file that names it."""
    folder = Path(os.path.realpath(beside)).parent
    named = Path(name)
    places = [named] if named.is_absolute() else []
    places += [Path(prefix) / (named.name if named.is_absolute() else named) for prefix in _prefixes(variable)]
    places += [beside.parent / (named.name if named.is_absolute() else named)]
    places += [named, folder / (named.name if named.is_absolute() else named)]
    return next((place for place in places if place.is_file()), named if named.is_absolute() else beside.parent / named)


def _prefixes(variable: str) -> list[str]:
    return [prefix for prefix in os.environ.get(variable, "").split(":") if prefix]


def _raw(name: str, path: Path) -> Path:
    """A file of raw values: relative to what HDF5_EXTFILE_PREFIX says, else to the working folder."""
    prefix = os.environ.get("HDF5_EXTFILE_PREFIX", "").replace("${ORIGIN}", str(path.resolve().parent))
    return Path(prefix or ".") / name
