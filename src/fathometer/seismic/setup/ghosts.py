"""Ghosts of the sea surface: which top and which wavelet fit the traces, said before a migration.

Evidence, the strongest first: what the textual header of modelled traces says of the top of their model; the notch of
the spectrum where the depths of the headers put it (storage/traces/notches.py); the depths alone, which say that there
are ghosts only if the traces were recorded below a sea surface: the note then says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.seismic.setup.grazing import peak_frequency
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.loud_search import KIND
from fathometer.seismic.survey import SampledWaveletTable, Survey
from fathometer.seismic.traces.deghost import notches_below
from fathometer.seismic.traces.wavelet_file import KEPT, NO_GHOSTS, ghosts_of_series
from fathometer.storage.traces.modelled_top import top_of
from fathometer.storage.traces.notches import WATER, Notch, notches_of, spread

if TYPE_CHECKING:
    from mpi4py import MPI

FREE = "free-surface"
SEVERAL = 2  # notches below the highest frequency, from which on a tow is deep
KEY = "[acquisition] conditioning.deghost"
FIT = (
    f'[propagation] top = "{FREE}" fits, with receivers and sources at their depths and a wavelet without ghosts; or '
    f"an absorbing top with traces without them ({KEY}) or a wavelet that holds them (`fathometer survey wavelet`)"
)


def ghost_notes(layout: SurveyLayout, comm: MPI.Intracomm) -> tuple[str, ...]:
    """Collective. At most one note: top, traces and wavelet do not agree about the ghosts of the sea surface.

    InputError on all ranks for traces that cannot be read.
    """
    survey, acquisition = layout.survey, layout.acquisition
    if acquisition.recording is None:
        return ()
    notes: tuple[str, ...] = ()
    with ledger.phase("read traces"):
        with collective_errors(comm):
            if comm.rank == 0:
                notes = _notes(survey, acquisition, layout.wavelet.fmax, peak_frequency(layout.wavelet))
        with ledger.communication():
            return tuple(comm.bcast(notes))


def _notes(survey: Survey, acquisition: Acquisition, highest: float, peak: float) -> tuple[str, ...]:
    """The note; frequencies of the wavelet in Hz."""
    free, deghost = survey.propagation.top == FREE, survey.acquisition.conditioning.deghost
    said, wavelet = _said_tops(acquisition), ghosts_of_wavelet(survey)
    where = f"{survey.path}: [propagation] top"
    if deghost is not None:
        text = _of_deghosted(free, said, wavelet) or _of_deep_tows(survey, acquisition, highest)
        return (f"{survey.path}: {KEY}: {text}",) if text else ()
    if free:
        if said == {"absorbing"}:
            return (f"{where}: the traces were modelled without a free surface: an absorbing top fits them",)
        if wavelet == KEPT:
            return (f"{where}: the wavelet holds the ghosts, and a free surface makes them once more: {FIT}",)
        return ()
    if said == {"absorbing"}:
        holds = f"{survey.path}: [wavelet]: it holds ghosts, and the traces were modelled without a free surface"
        return (holds,) if wavelet == KEPT else ()
    if wavelet in (KEPT, None):
        return ()
    text = _of_raw(survey, acquisition, said, peak)
    return (f"{where}: {text}",) if text else ()


def _of_deghosted(free: bool, said: set[str], wavelet: str | None) -> str:
    """What does not agree with traces whose ghosts are removed; "" where nothing is wrong."""
    if said == {"absorbing"}:
        return "the traces were modelled without a free surface: there is no ghost to remove"
    if free:
        return 'traces without ghosts fit an absorbing top, not [propagation] top = "free-surface"'
    return "the wavelet holds the ghosts that are removed from the traces" if wavelet == KEPT else ""


def _of_deep_tows(survey: Survey, acquisition: Acquisition, highest: float) -> str:
    """That ghosts of deep tows cannot be removed by one delay; "" where tows are shallow."""
    keys = survey.acquisition.conditioning.deghost
    assert keys is not None
    depths = dict(zip(("source", "receiver"), _depths(acquisition), strict=True))
    for name, depth in depths.items():
        given = getattr(keys, name)
        used = depth if given is None else given
        notches = notches_below(highest, used, keys.velocity)
        if notches >= SEVERAL:
            return (
                f"{name}s at {used:.4g} m have {notches} notches below {highest:.3g} Hz: the ghost of a deep tow is "
                f'not one delay for all angles; [propagation] top = "{FREE}" without this step is exact'
            )
    return ""


def _of_raw(survey: Survey, acquisition: Acquisition, said: set[str], peak: float) -> str:
    """That traces as they are hold ghosts, or very likely do, where an absorbing top has none; "" where not."""
    source, receiver = _depths(acquisition)
    depths = f"sources lie {source:.4g} m and receivers {receiver:.4g} m below the surface"
    if FREE in said:
        return f"{depths}, and the traces were modelled with a free surface: they hold its ghosts; {FIT}"
    # Far below the surface, relative to wavelengths, up- and downgoing waves are told apart in time.
    if not (0.0 < source <= 0.5 * WATER / peak and receiver > 0.0):
        return ""
    notches = _measured(acquisition)
    seen = [notch for notch in notches if notch.found]
    if notches and not seen:
        return ""
    zero = "; a zero-phase wavelet does not fit traces as they were recorded" * _zero_phase(survey)
    if seen:
        return f"{seen[0]}; {FIT}{zero}"
    return (
        f"{depths}: unless they were modelled without a surface or have been deghosted, the traces very likely hold "
        f"ghosts of the sea surface; {FIT}{zero}"
    )


def _said_tops(acquisition: Acquisition) -> set[str]:
    """What the files of the traces say of the top of the model that they come from; "" of those that say nothing."""
    recording = acquisition.recording
    assert recording is not None
    return {top_of(layout) for layout in recording.layouts}


def _depths(acquisition: Acquisition) -> tuple[float, float]:
    """Median depths of sources and receivers below z = 0, m."""
    sources = [float(shot.source[2]) for shot in acquisition.shots]
    receivers = [float(np.median(shot.receivers[:, 2])) for shot in acquisition.shots]
    return float(np.median(sources)), float(np.median(receivers))


def _measured(acquisition: Acquisition) -> tuple[Notch, ...]:
    """What some traces, spread over the survey, show of ghosts."""
    recording, shots = acquisition.recording, acquisition.shots
    assert recording is not None
    parts, sources, receivers = [], [], []
    chosen = [shots[n] for n in spread(len(shots), 16)]
    for shot in chosen:
        own = spread(len(shot.receivers), 4 if len(chosen) == 16 else 64 // len(chosen))
        try:
            with ledger.file(KIND, "read"):
                parts.append(recording.read(shot.index, own))
        except InputError:  # said by the shot's own task, which others need not wait for
            continue
        sources.append(np.full(len(own), shot.source[2]))
        receivers.append(shot.receivers[own, 2])
    if not parts:
        return ()
    traces = np.concatenate(parts)
    return notches_of(traces, recording.interval, np.concatenate(sources), np.concatenate(receivers))


def ghosts_of_wavelet(survey: Survey) -> str | None:
    """Whether the wavelet holds ghosts: KEPT, REMOVED or NO_GHOSTS; None where its file does not say."""
    keys = survey.wavelet
    if isinstance(keys, SampledWaveletTable):
        return ghosts_of_series(survey.directory / keys.path)
    return NO_GHOSTS


def _zero_phase(survey: Survey) -> bool:
    """Whether the wavelet is one of zero phase."""
    return survey.wavelet is not None and survey.wavelet.kind in ("ricker", "ormsby")
