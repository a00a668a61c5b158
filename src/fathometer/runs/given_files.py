"""Files given for a new input file: NAME=FILE, or a file alone whose name and contents say what it is."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean

_SAID = re.compile(r"([A-Za-z][A-Za-z0-9_]*)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class GivenFile:
    """One of them.

    Attributes:
        role: what it is, by its name on the command line; "": it was given alone. reference: the file, with the key of
            one of its arrays after a colon where it has several (storage/volumes/volume.py).
    """

    role: str
    reference: str

    @property
    def words(self) -> list[str]:
        """The words of its name and its key, in lower case: "smooth-epsilon.rsf" has smooth and epsilon."""
        path, colon, key = self.reference.rpartition(":")
        name = Path(path if colon else self.reference).name
        stem = key if colon else name.partition(".")[0]
        return [word for word in re.split(r"[^a-z0-9]+|(?<=[a-z])(?=\d)", f"{stem} {name}".lower()) if word]

    def beside(self, folder: Path) -> str:
        """The reference as an input file in a folder names it."""
        if os.path.isabs(self.reference):
            return self.reference
        return os.path.relpath(self.reference, folder)


def given_files(texts: Sequence[str], roles: Mapping[str, str], kind: str) -> list[GivenFile]:
    """The files of a command line.

    roles: what files of this kind of input can be, by name, with what that is. InputError for another name, for a
    name that stands there twice, and for a file where there are none to be given.
    """
    found: list[GivenFile] = []
    for text in texts:
        said = _SAID.fullmatch(text)
        if said is None or os.path.lexists(text):
            found.append(GivenFile("", text))
        elif said[1] not in roles:
            raise InputError(
                f"{text}: found the name {said[1]}; allowed for a new {kind} file: {', '.join(roles) or 'no files'}"
                f"{did_you_mean(said[1], roles)}"
            )
        elif said[1] in [file.role for file in found]:
            raise InputError(f"{text}: found {said[1]} twice; allowed: once")
        else:
            found.append(GivenFile(said[1], said[2]))
    if found and not roles:
        raise InputError(f"{found[0].reference}: found with {kind}; allowed: no files, since no key of it names one")
    return found


def role_by_words(file: GivenFile, words: Mapping[str, Sequence[str]]) -> str:
    """What a file is by the words of its name: the role one of whose words it has; "" where none or several fit.

    >>> tokens = {"vp": ["vp", "velocity"], "epsilon": ["epsilon", "eps"]}
    >>> role_by_words(GivenFile("", "a/smooth-eps.npy"), tokens), role_by_words(GivenFile("", "m.npz:velocity"), tokens)
    ('epsilon', 'vp')
    """
    fitting = [role for role, known in words.items() if any(word in known for word in file.words)]
    return fitting[0] if len(fitting) == 1 else ""


def roles_of(
    files: Sequence[GivenFile], words: Mapping[str, Sequence[str]], roles: Mapping[str, str]
) -> dict[str, GivenFile]:
    """The files by what they are, said or by the words of their names.

    InputError for one of which that is not known, and for two that are the same.
    """
    found: dict[str, GivenFile] = {}
    for file in files:
        role = file.role or role_by_words(file, words)
        if not role:
            raise InputError(unknown_role(file.reference, roles))
        if role in found:
            raise InputError(
                f"{file.reference}: is taken for {role}, and so is {found[role].reference}; allowed: one of them, or "
                f"NAME=FILE, NAME one of {', '.join(roles)}"
            )
        found[role] = file
    return found


def unknown_role(reference: str, roles: Mapping[str, str]) -> str:
    """The message about a file of which it is not known what it is."""
    listed = ", ".join(f"{name} ({words})" for name, words in roles.items())
    return f"{reference}: what it is for is not told by its name or contents; needed: NAME=FILE, NAME one of {listed}"
