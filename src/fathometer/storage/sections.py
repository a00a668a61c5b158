"""The sections [storage] and [output] of an input file."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator

from fathometer.base.errors import InputError
from fathometer.config.constraints import Allowed
from fathometer.config.table import Table, key, not_allowed
from fathometer.config.types import FolderName, plain_name
from fathometer.storage.volumes.registry import writable_suffixes
from fathometer.storage.volumes.strategy import Strategy

LONGEST_LEVEL = 40  # letters of the name of a level


def _image_name(name: str) -> str:
    plain_name(name)
    if Path(name).suffix not in writable_suffixes() or Path(name).name != name:
        raise not_allowed()
    return name


def _level_name(name: str) -> str:
    plain_name(name)
    if len(name) > LONGEST_LEVEL:
        raise ValueError(f"found {len(name)} letters; allowed: up to {LONGEST_LEVEL}, which fit a SEG-Y's text")
    return name


def _strategy(text: str) -> str:
    try:
        Strategy.of(text)
    except InputError as error:
        raise ValueError(f"found {error}") from None
    return text


_SUFFIXES = writable_suffixes()
ImageName = Annotated[
    str,
    AfterValidator(_image_name),
    Allowed(f"a file name, without a folder, that ends in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"),
]
StrategyName = Annotated[str, AfterValidator(_strategy), Allowed("a strategy, see storage.md")]


class StorageTable(Table):
    """How volumes move between ranks and files: of no consequence for what is in them."""

    read: StrategyName = key("how the model is read; auto: the usual way of its format", "", "auto")
    write: StrategyName = key("how images are written; auto: the usual way of their format", "", "auto")
    traces: Literal["whole", "slices", "root-broadcast"] = key(
        "how a shot's traces reach the ranks; whole: each rank reads its own before the shot; slices: it orders them "
        "by time in a file and reads that beside the time steps; root-broadcast: rank 0 does so for all and sends each "
        "time slice, the old way",
        "",
        "whole",
    )


LevelName = Annotated[str, AfterValidator(_level_name), Allowed(f"a name of up to {LONGEST_LEVEL} letters")]


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the survey file", "", "out")
    image: ImageName = key("the image; its suffix chooses the format", "", "image.rsf")
    vertical_datum: LevelName | None = key(
        "name of the level that depths count from, such as mean sea level; for what images and maps say of their place",
        "",
        None,
    )
