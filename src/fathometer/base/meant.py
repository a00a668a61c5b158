"""What somebody meant who wrote a word that is none of those that are known.

In this order: the same but for capitals, hyphens, and British or American spelling; the same words in another order; a
word that other programs have for it; one that is spelt nearly alike.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

NEAR = 0.6  # ratio of difflib from which words are near each other
MOST_FILES = 2000  # of a folder, that are looked at

# Endings and words of British spelling, and what America makes of them.
SPELLINGS = (
    (r"our(?=s?\b|ed\b|ing\b|al\b|less\b)", "or"),  # colour, behaviour
    (r"(?<=[nt])tre\b", "nter"),
    (r"\bcentre", "center"),
    (r"metre", "meter"),
    (r"litre", "liter"),
    (r"is(?=e[drs]?\b|ing\b|ation)", "iz"),  # normalised, discretisation
    (r"ys(?=e[drs]?\b)", "yz"),  # analyse
    (r"ll(?=ed\b|ing\b|er\b)", "l"),  # modelling, labelled
    (r"grey", "gray"),
    (r"programme\b", "program"),
    (r"catalogue\b", "catalog"),
    (r"analogue\b", "analog"),
    (r"defence", "defense"),
    (r"sulph", "sulf"),
    (r"haem", "hem"),
)

# Words of other programs, folded, and what they may be here: of these the first that is known is meant.
ELSEWHERE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("dx", "dy", "dz", "dh", "dxyz", "h", "d1", "d2", "cell size", "grid spacing"), ("spacing",)),
        **dict.fromkeys(("nx", "ny", "nz", "n1", "n2", "n3", "shape", "dimensions", "n"), ("cells",)),
        **dict.fromkeys(("ox", "oz", "o1", "o2", "corner"), ("origin",)),
        **dict.fromkeys(("v", "vel", "velocity", "velocities", "speed", "c", "v0", "vp0"), ("vp", "velocity")),
        **dict.fromkeys(("vshear", "beta"), ("vs",)),
        **dict.fromkeys(("rho",), ("density",)),
        **dict.fromkeys(("f", "f0", "fpeak", "fm", "freq", "frequency", "dominant frequency"), ("peak_frequency",)),
        **dict.fromkeys(
            (
                "t",
                "tn",
                "tmax",
                "length",
                "record length",
                "recording time",
                "simulation time",
                "total time",
                "run time",
            ),
            ("duration", "end"),
        ),
        **dict.fromkeys(("nt", "num steps", "number of steps", "nsteps", "timesteps"), ("steps", "duration", "end")),
        **dict.fromkeys(("dt", "delta t", "timestep", "time step"), ("dt", "step", "sample_interval")),
        **dict.fromkeys(("shots", "shot", "src", "source"), ("sources",)),
        **dict.fromkeys(("rec", "recs", "stations", "geophones", "hydrophones"), ("receivers",)),
        **dict.fromkeys(("data", "traces", "segy", "shot file"), ("gathers",)),
        **dict.fromkeys(("folder", "dir", "path", "output dir", "output directory", "out"), ("directory", "output")),
        **dict.fromkeys(("bc", "boundaries", "boundary condition", "absorbing"), ("boundary", "side")),
        **dict.fromkeys(("npml", "nbl", "abc", "damping layer"), ("boundary",)),
        **dict.fromkeys(("nu", "kinematic viscosity"), ("viscosity",)),
        **dict.fromkeys(("cfl",), ("courant",)),
        **dict.fromkeys(("depths", "topography", "topo", "bathy"), ("bathymetry", "depth")),
        **dict.fromkeys(("rtm", "migration", "image", "imaging"), ("migrate",)),
        **dict.fromkeys(("kirchhoff", "psdm", "pstm"), ("migrate-time",)),
        **dict.fromkeys(("forward", "fd", "simulate", "shoot"), ("model",)),
        **dict.fromkeys(("init", "create", "template", "start"), ("new",)),
        **dict.fromkeys(("show", "describe", "inspect", "header", "ls"), ("info",)),
        **dict.fromkeys(("smooth", "convert", "resample"), ("prepare",)),
        **dict.fromkeys(("estimate", "cost", "predict"), ("plan",)),
        **dict.fromkeys(("sbatch", "slurm", "queue"), ("submit",)),
        **dict.fromkeys(("bench", "benchmark"), ("calibrate",)),
        **dict.fromkeys(("example", "tutorial", "quickstart"), ("demo",)),
        **dict.fromkeys(("cfd", "navier stokes", "incompressible"), ("flow",)),
        **dict.fromkeys(("climate", "weather"), ("atmosphere",)),
        **dict.fromkeys(("blast", "tasks"), ("farm",)),
        **dict.fromkeys(("np", "nprocs", "processes", "mpi ranks"), ("ranks",)),
    }
)


def nearest(word: object, known: Iterable[str], least: float = NEAR) -> str | None:
    """Which of the known words is meant by `word`; None: none is near. least: the ratio of difflib.

    >>> nearest("color", ["centre", "colour"]), nearest("time-migrate", ["migrate", "migrate-time"])
    ('colour', 'migrate-time')
    >>> nearest("dx", ["vp", "spacing"]), nearest("KM/S", ["m/s", "km/s"]), nearest("spaceing", ["vp", "spacing"])
    ('spacing', 'km/s', 'spacing')
    >>> nearest("xyz", ["north", "south"])
    """
    text, words = _folded(str(word)), list(known)
    folded = {_folded(one): one for one in reversed(words)}
    if text in folded:
        return folded[text]
    in_any_order = {" ".join(sorted(one.split())): name for one, name in folded.items()}
    if (name := in_any_order.get(" ".join(sorted(text.split())))) is not None:
        return name
    for other in ELSEWHERE.get(text, ()):
        if other in words:
            return other
    close = get_close_matches(text, folded, 1, least)
    return folded[close[0]] if close else None


def did_you_mean(word: object, known: Iterable[str], quote: str = "") -> str:
    """The end of a message about a word that is none of those that are known: which of them is meant; "" where none
    is near. quote: the mark around it."""
    near = nearest(word, known)
    return f"; did you mean {quote}{near}{quote}?" if near is not None else ""


def file_meant(path: Path | str) -> str:
    """The end of a message about a file that is not there: one of its folder with a name near to it; "": none is."""
    path = Path(path)
    names: list[str] = []
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) > MOST_FILES:
                return ""
    # Of several alike, one of the same kind.
    ranked = sorted((name for name in names if name.isprintable()), key=lambda name: Path(name).suffix != path.suffix)
    # Another one of a numbered series is not meant.
    ranked = [name for name in ranked if re.sub(r"\d+", "0", name) != re.sub(r"\d+", "0", path.name)]
    close = get_close_matches(path.name.lower(), [name.lower() for name in ranked], 3, 0.7)
    near = [name for one in close for name in ranked if name.lower() == one]
    best = next((name for name in near if Path(name).suffix.lower() == path.suffix.lower()), near[0] if near else None)
    return "" if best is None else f"; did you mean {path.parent / best}?"


def _folded(word: str) -> str:
    text = re.sub(r"[\s_-]+", " ", word.strip().lower())
    for british, american in SPELLINGS:
        text = re.sub(british, american, text)
    return text
