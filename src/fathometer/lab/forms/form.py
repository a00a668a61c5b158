"""A form: a published table as a study, in a file of collection/.

    title = "…"            the head, in TOML: the keys of Head
    === study ===
    title = "$title"       a study file in which $names stand for what the input, the machine and --quick decide

A line of the study that begins with "$name: " is there only where that name has a value, and "$name! " only where it
has none. `$$` is a dollar sign.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated

from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import did_you_mean
from fathometer.config.table import Table, key
from fathometer.config.types import Loose

COLLECTION = Path(__file__).parent / "collection"
DIVIDER = "\n=== study ===\n"
SUFFIX = ".form"
_CONDITION = re.compile(r"\$([a-z_]+)([:!]) ")


class Head(Table):
    """What a form is, and what it needs."""

    title: str = key("of its study; $names are filled in")
    source: str = key("what was published in this form")
    shows: str = key("what its tables show")
    order: int = key("place in the list of all forms")
    inputs: Annotated[tuple[str, ...], Loose] = key(
        "what its input is: names of applications (of an input file of theirs), folder or logs"
    )
    default: str = key("of these, what is run where no input is given; none: an input is needed", default="")
    values: dict[str, str] = key("what $names stand for", default={})
    quick: dict[str, str] = key("what they stand for instead with --quick", default={})
    limits: str = key("what its numbers do not show, whatever the input", default="")
    cannot: str = key("what its own small input cannot tell", default="")
    cluster: bool = key("whether it needs a cluster on this machine", default=False)


@dataclass(frozen=True)
class Form:
    """A form. study: the text of its study file, with $names."""

    name: str
    head: Head
    study: str

    def names(self) -> set[str]:
        """The $names of its study."""
        return set(Template(_CONDITION.sub(r"$\1 ", self.study)).get_identifiers())

    def filled(self, values: Mapping[str, str]) -> str:
        """The text of the study file; "" and names without a value count as none."""
        lines = []
        for line in self.study.splitlines():
            if (found := _CONDITION.match(line)) is not None:
                if bool(values.get(found[1])) != (found[2] == ":"):
                    continue
                line = line[found.end() :]
            lines.append(line)
        text = Template("\n".join(lines)).substitute({name: "" for name in self.names()} | dict(values))
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def forms() -> Mapping[str, Form]:
    """All forms by name, in their order."""
    found = []
    for path in COLLECTION.glob(f"*{SUFFIX}"):
        head, _, study = path.read_text(encoding="utf-8").partition(DIVIDER)
        found.append(Form(path.stem, Head.model_validate(tomllib.loads(head)), study))
    return {form.name: form for form in sorted(found, key=lambda form: form.head.order)}


def form_of(name: str) -> Form:
    """A form by its name. Raises InputError where there is none."""
    known = forms()
    if name not in known:
        raise InputError(f"--form: found {shortened(name, 40)}; allowed: {', '.join(known)}{did_you_mean(name, known)}")
    return known[name]
