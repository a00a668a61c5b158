"""A new file of a reactive flow: what one's own chemistry knows stands beside the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fathometer.apps.reactive.chemistry.data_file import read_chemistry
from fathometer.config.draft import Drafted, Found, gap
from fathometer.runs.given_files import GivenFile

MOST_NAMES = 12  # of a list in a note


def draft(files: Sequence[GivenFile], target: Path) -> Drafted:
    """The keys of a flow file at `target`. Raises InputError for a chemistry that cannot be read."""
    own = next(iter(files), None)
    chemistry = read_chemistry(None if own is None else Path(own.reference))
    basis = _listed(name for name, one in chemistry.species.items() if one.reaction is None)
    primary = f"such as {basis}, by {chemistry.path.name}"
    keys: dict[str, Any] = {
        "chemistry": {"primary": gap(primary), "minerals": Found([], f"known: {_listed(chemistry.minerals)}")},
        "water": [{"name": Found("water"), "species": gap('of each primary species, as {"H+" = {pH = 7.0}}')}],
        "initial": [{"water": Found("water")}],
        "time": {"end": gap(), "step": gap()},
    }
    if own is not None:
        keys["chemistry"] = {"file": Found(own.beside(target.parent), chemistry.title)} | keys["chemistry"]
    return Drafted(keys, "reactive")


def _listed(names: Iterable[str]) -> str:
    words = list(names)
    return ", ".join(words[:MOST_NAMES]) + (", …" if len(words) > MOST_NAMES else "")
