"""What a migration's image depends on: what must be the same for shots of two runs to be added up."""

from __future__ import annotations

import zlib
from typing import Any

from fathometer import __version__
from fathometer.seismic.history.encoding import PLAIN
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import SampledWaveletTable
from fathometer.storage.fingerprint import fingerprint

SCHEMA = 1  # of the journal
# Sections of the survey that change how an image is computed, not what it is.
NOT_COMPARED = ("output", "parallel", "threads", "tuning", "storage", "history")
LOSSY = ("encoding", "tolerance")  # keys of [history] that count where the encoding loses something


def migration_fingerprint(setup: Setup) -> dict[str, Any]:
    """Version, survey and files, for comparison. InputError where a file cannot be read."""
    survey = setup.survey.resolved()
    compared = {name: keys for name, keys in survey.items() if name not in NOT_COMPARED}
    if survey["history"]["encoding"] != PLAIN:
        compared["history"] = {name: survey["history"][name] for name in LOSSY}
    wavelet = setup.survey.wavelet
    series = [setup.survey.directory / wavelet.path] if isinstance(wavelet, SampledWaveletTable) else []
    return {
        "journal": SCHEMA,
        "version": __version__,
        "survey": compared,
        "model": fingerprint(setup.files.paths),
        "wavelet": fingerprint(series) if series else None,
        "traces": fingerprint(setup.acquisition.paths),
        "shots": geometry(setup.acquisition),
    }


def geometry(acquisition: Acquisition) -> str:
    """Number and CRC-32 of the shots' sources, receivers and channels: an index may place the same files anew, and
    a header may change between the pieces that a fingerprint looks at."""
    crc = 0
    for shot in acquisition.shots:
        for array in (shot.source, shot.receivers, shot.channel):
            crc = zlib.crc32(array.tobytes(), crc)
    return f"{len(acquisition.shots)} shots, CRC-32 {crc:08x}"
