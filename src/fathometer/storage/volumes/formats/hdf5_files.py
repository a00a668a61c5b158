"""The files that hold an HDF5 dataset: its own, those of external links on the way to it, files of raw values, and the
sources of a virtual dataset, with all of theirs; and whether they hold all of its values.

The library looks for such a file by its name where an environment variable says, beside the file that names it, and in
the working folder, in this order (HDF5's H5Lcreate_external, H5Pset_external and H5Pset_virtual). Where it finds none,
or less than it needs, it gives the dataset's fill value, which is 0 unless somebody has said otherwise.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.meant import file_meant
from fathometer.storage.probe import HDF5, probe_together
from fathometer.storage.reading import decoding
from fathometer.storage.volumes.formats.axis_metadata import declared_fills
from fathometer.storage.volumes.formats.hdf5_common import file_to_read

MOST = 100_000  # files of a dataset, and links on the way to one: more go in circles

Place = tuple[Path, str]  # a file, and the name of a dataset in it


def files_of_dataset(dataset: Any, key: str) -> list[Path]:
    """Every file that the values of an open dataset are read from, its own first, each once. key: its name, for people.

    Files that are missing are among them. InputError where the links go in circles. Errors of the library as they are.
    """
    files: dict[Path, None] = {}
    for (path, _), part, _ in _walk(dataset, key):
        files[path] = None
        if part is not None:
            files |= dict.fromkeys(raw for raw, _, _ in _raw_parts(part, path))
        if len(files) > MOST:
            raise _in_circles(path, key)
    return list(files)


def check_complete(dataset: Any, key: str) -> tuple[float, ...]:
    """The values that stand for missing data in an open dataset and in the sources of its values. key: its name.

    InputError, which names the part, where a file or a dataset that it consists of is missing, is too short or has
    another shape, and where values were never written and would be read as zeros.
    """
    import h5py

    fills: dict[float, None] = {}
    probed: set[Path] = set()
    for (path, name), part, leads in _walk(dataset, key):
        own = f"{path}:{name}"
        further = {lead for lead, _ in leads if lead.is_file()} - probed - {path}
        probe_together(sorted(further), HDF5, "HDF5")  # before they are opened here
        probed |= further
        if part is None:
            if not leads:
                whole = f"{os.fsdecode(dataset.file.filename)}:{key}"
                raise InputError(f"{whole}: a part of its values is missing: {_absent(path, name)}")
            continue
        for raw, begin, needed in _raw_parts(part, path):
            if not raw.is_file():
                raise InputError(f"{own}: its values are missing: {_absent(raw)}")
            if raw.stat().st_size < begin + needed:
                raise InputError(
                    f"{own}: a part of its values is missing: {raw} holds {raw.stat().st_size} bytes; needed: "
                    f"{begin + needed}"
                )
        if part.is_virtual:
            _check_sources(part, own, path)
        fill = float(part.fillvalue) if part.dtype.kind in "fiu" else 0.0
        filled = fill != 0 and part.id.get_create_plist().get_fill_time() != h5py.h5d.FILL_TIME_NEVER
        if not filled and (unwritten := _unwritten(part)):
            raise InputError(f"{own}: {unwritten}; they would be read as zeros; needed: all of its values")
        own_fills = (*declared_fills(part.attrs, part.dtype), *([fill] if fill else []))
        fills |= dict.fromkeys(value for value in own_fills if not math.isnan(value))
    return tuple(fills)


def _walk(dataset: Any, key: str) -> Iterator[tuple[Place, Any, list[Place]]]:
    """The datasets that the values of one come from, itself first, and the links to them, each once: where it is, the
    dataset, open until the next one is asked for, and where it leads on. The dataset is None for a link, and, with no
    lead, where the file or the dataset is missing."""
    first = Path(os.fsdecode(dataset.file.filename)), key
    waiting = _sources_of(dataset, first[0])
    yield first, dataset, waiting
    done: set[Place] = {first}
    while waiting:
        path, name = place = waiting.pop(0)
        if place in done:
            continue
        done.add(place)
        if len(done) > MOST:
            raise _in_circles(path, name)
        with contextlib.ExitStack() as stack:
            holder = None
            if path.is_file():
                with contextlib.suppress(OSError):  # such a source counts as missing
                    holder = stack.enter_context(file_to_read(path))
            part, leads = (None, []) if holder is None else _leads(holder, path, name)
            yield place, part, leads
            waiting += leads


def _in_circles(path: Path, name: str) -> InputError:
    return InputError(f"{path}: the links of {name} lead to more than {MOST} files, or in circles")


def _absent(path: Path, name: str = "") -> str:
    if path.is_file():
        return f"{path}:{name}: no such dataset"
    return f"{path}: is not a file" if path.exists() else f"{path}: no such file{file_meant(path)}"


def _leads(holder: Any, path: Path, name: str) -> tuple[Any, list[Place]]:
    """The dataset of a name in an open file, None where a link stands for it; and where it leads on."""
    import h5py

    parts = [part for part in name.split("/") if part not in ("", ".")]
    for count in range(1, len(parts) + 1):
        way, rest = "/".join(parts[:count]), parts[count:]
        link = holder.get(way, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            target = _found(os.fsdecode(link.filename), path, "HDF5_EXT_PREFIX")
            return None, [(target, "/".join([str(link.path), *rest]))]
        if isinstance(link, h5py.SoftLink):
            start = "" if str(link.path).startswith("/") else "/".join(parts[: count - 1])
            return None, [(path, "/".join([start, str(link.path), *rest]))]
        if link is None:  # a name with numbers, of a source of a virtual dataset
            above, pattern = "/".join(parts[: count - 1]), _numbered(parts[count - 1])
            names = [] if pattern is None else [other for other in holder[above or "/"] if pattern.fullmatch(other)]
            return None, [(path, "/".join([above, other, *rest])) for other in names]
    item = holder["/".join(parts)]
    if not isinstance(item, h5py.Dataset):
        return None, []
    return item, _sources_of(item, path)


def _sources_of(dataset: Any, path: Path) -> list[Place]:
    """Where the values of a virtual dataset come from; empty for any other."""
    sources = dataset.virtual_sources() if dataset.is_virtual else []
    return [(target, str(source.dset_name)) for source in sources for target in _sources(str(source.file_name), path)]


def _raw_parts(dataset: Any, path: Path) -> list[tuple[Path, int, int]]:
    """The files of raw values of a dataset: path, first byte, and bytes that are needed from there on."""
    import h5py

    properties, parts = dataset.id.get_create_plist(), []
    left = int(dataset.size or 0) * dataset.dtype.itemsize if properties.get_external_count() else 0
    for number in range(properties.get_external_count()):
        name, begin, size = properties.get_external(number)
        needed = left if size == h5py.h5f.UNLIMITED else min(left, int(size))
        parts.append((_raw(os.fsdecode(name), path), int(begin), needed))
        left -= needed
    return parts


def _check_sources(dataset: Any, name: str, path: Path) -> None:
    """InputError where a source of a virtual dataset lacks cells that are taken of it; missing ones: see _walk."""
    import h5py

    for source in dataset.virtual_sources():
        if _unlimited(source.vspace) or _unlimited(source.src_space):
            continue  # its cells are as many as there are
        for target in _sources(str(source.file_name), path):
            if not target.is_file() or "%" in source.dset_name:
                continue
            what = f"{name}: a part of its values is missing: {target}"
            with decoding(what, "is not a readable HDF5 file"), file_to_read(target) as holder:
                found = holder.get(source.dset_name)
                shape = getattr(found, "shape", None)
            if shape is None:
                continue
            if source.src_space.get_select_type() != h5py.h5s.SEL_ALL:
                last = source.src_space.get_select_bounds()[1]
                fits = len(last) == len(shape) and all(a < n for a, n in zip(last, shape, strict=True))
                needed = f"cells up to {tuple(map(int, last))}"
            else:
                sizes = _sizes(source.vspace)
                cells = shape if len(sizes) > 1 else (math.prod(shape),)  # axes of one cell do not count
                fits = [n for n in cells if n > 1] == [n for n in sizes if n > 1]
                needed = f"{sizes}"
            if not fits:
                raise InputError(f"{what}:{source.dset_name} has the shape {shape}; needed: {needed}")


def _sizes(space: Any) -> tuple[int, ...]:
    """Cells of a selection along each axis; of one that is no regular pattern all in one."""
    import h5py

    if space.get_select_type() == h5py.h5s.SEL_ALL:
        return tuple(map(int, space.shape))
    if not space.is_regular_hyperslab():
        return (int(space.get_select_npoints()),)
    _, _, count, block = space.get_regular_hyperslab()
    return tuple(int(n) * int(m) for n, m in zip(count, block, strict=True))


def _unwritten(dataset: Any) -> str:
    """What of a dataset is in no file, in words; "": nothing."""
    import h5py

    if dataset.is_virtual:
        space = h5py.h5s.create_simple(dataset.shape)
        space.select_none()
        for source in dataset.virtual_sources():
            if source.vspace.get_select_type() == h5py.h5s.SEL_ALL:
                return ""
            for start, stride, count, block in _hyperslabs(source.vspace, dataset.shape):
                space.select_hyperslab(start, count, stride, block, op=h5py.h5s.SELECT_OR)
        without = dataset.size - space.get_select_npoints()
        return f"{without} of {dataset.size} values have no source" if without > 0 else ""
    if dataset.chunks is None:
        allocated = dataset.id.get_space_status() != h5py.h5d.SPACE_STATUS_NOT_ALLOCATED
        return "" if allocated else "its values were never written"
    counts = [-(-n // chunk) for n, chunk in zip(dataset.shape, dataset.chunks, strict=True)]
    stored = dataset.id.get_num_chunks()
    without = math.prod(counts) - stored
    if without <= 0:
        return ""
    corners = itertools.islice(_corners(counts, dataset.chunks), stored + 1)  # one of so many is missing
    first = next((c for c in corners if dataset.id.get_chunk_info_by_coord(c).byte_offset is None), ())
    return f"{without} of {math.prod(counts)} chunks were never written, the first with cell {first}"


def _corners(counts: Sequence[int], chunk: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The first cells of chunks, one by one: a damaged shape has more along an axis than memory holds."""
    for number in range(math.prod(counts)):
        corner, left = [], number
        for count, cells in zip(reversed(counts), reversed(chunk), strict=True):
            left, index = divmod(left, count)
            corner.append(index * cells)
        yield tuple(reversed(corner))


def _unlimited(space: Any) -> bool:
    """Whether a selection grows with its dataset."""
    import h5py

    if space.get_select_type() != h5py.h5s.SEL_HYPERSLABS or not space.is_regular_hyperslab():
        return False
    return any(h5py.h5s.UNLIMITED in sizes for sizes in space.get_regular_hyperslab()[2:])


def _hyperslabs(space: Any, shape: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The hyperslabs of a selection of cells of this shape: start, stride, count and block."""
    import h5py

    if not space.is_regular_hyperslab():
        for lo, hi in space.get_select_hyper_blocklist():
            ones = (1,) * len(shape)
            yield tuple(map(int, lo)), ones, ones, tuple(int(b) - int(a) + 1 for a, b in zip(lo, hi, strict=True))
        return
    start, stride, count, block = space.get_regular_hyperslab()
    if h5py.h5s.UNLIMITED in block:
        block = tuple(n - a if b == h5py.h5s.UNLIMITED else b for n, a, b in zip(shape, start, block, strict=True))
    if h5py.h5s.UNLIMITED in count:  # as many as there are
        sides = zip(shape, start, stride, count, strict=True)
        count = tuple(-(-(n - a) // step) if c == h5py.h5s.UNLIMITED else c for n, a, step, c in sides)
    yield start, stride, count, block


def _sources(name: str, path: Path) -> list[Path]:
    """The files of a source of a virtual dataset; "." is the same file, %b stands for a number."""
    if name == ".":
        return [path]
    target = _found(name.replace("%%", "%"), path, "HDF5_VDS_PREFIX")
    pattern = _numbered(target.name)
    if pattern is None:
        return [target]
    names = sorted(os.listdir(target.parent)) if target.parent.is_dir() else []
    return [target.parent / name for name in names if pattern.fullmatch(name)]


def _numbered(name: str) -> re.Pattern[str] | None:
    """What the names look like that a name with %b stands for; None for any other name."""
    if not re.search(r"%\d*b", name):
        return None
    return re.compile(re.sub(r"(?:%\d*b)+", r"\\d+", re.escape(name).replace(r"\%", "%")))


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
