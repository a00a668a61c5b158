"""Which of the compiled variants of the kernels this process takes.

A build for one machine has one, "native". A portable build (FATHOMETER_NATIVE=OFF) has "baseline", which every
processor of the architecture can run, and on x86-64 one for each of the levels x86-64-v3 ("avx2") and x86-64-v4
("avx512"). Taken is the best that was built and that this processor can run, or what FATHOMETER_VARIANT names.
"""

import os
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError

ENVIRONMENT = "FATHOMETER_VARIANT"

# What the levels of the x86-64 psABI ask for, in the words of /proc/cpuinfo: pni is SSE3, abm holds LZCNT.
_V2 = frozenset({"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"})
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}

# Flags that each variant needs, the best variant first.
NEEDS: dict[str, frozenset[str]] = {
    "native": frozenset(),
    "avx512": _V4,
    "avx2": _V3,
    "baseline": frozenset(),
}


def chosen() -> str:
    """The variant for this process. Raises as `choose`."""
    return choose(built(), processor_flags(), os.environ.get(ENVIRONMENT))


def built() -> list[str]:
    """The variants that are installed, the best first."""
    return [name for name in NEEDS if find_spec(f"{__package__}.{name}")]


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """What Linux says that the processor (and the system) can do; empty where it does not say."""
    try:
        with cpuinfo.open() as lines:
            for line in lines:  # only up to the first: the file is long on a large machine
                key, _, flags = line.partition(":")
                if key.strip() == "flags":
                    return frozenset(flags.split())
    except OSError:
        pass
    return frozenset()


def choose(built: Collection[str], flags: Collection[str], wanted: str | None = None) -> str:
    """The best of the variants `built` that a processor with these flags can run, or the one `wanted`.

    Raises InputError when the one wanted was not built or cannot run, FathometerError when none can.
    """
    usable = [name for name in NEEDS if name in built and NEEDS[name].issubset(flags)]
    if not usable:
        raise FathometerError(f"no kernels for this processor; built: {', '.join(built) or 'none'}")
    if not wanted:
        return usable[0]
    if wanted not in built:
        raise InputError(f"{ENVIRONMENT}={wanted}: no such variant of the kernels; built: {', '.join(built)}")
    if wanted not in usable:
        lacking = ", ".join(sorted(NEEDS[wanted].difference(flags)))
        raise InputError(
            f"{ENVIRONMENT}={wanted}: this processor cannot run it, it lacks {lacking}; allowed: {', '.join(usable)}"
        )
    return wanted
