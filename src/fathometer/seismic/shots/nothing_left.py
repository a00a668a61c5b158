"""Keys of recorded gathers that would leave nothing of any trace: known from the headers alone, and refused then."""

from __future__ import annotations

import math

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.wavelet import Wavelet, lowest_frequency


def check_left(survey: Survey, acquisition: Acquisition, wavelet: Wavelet | None = None) -> None:
    """Raises InputError where mute or band-pass would leave nothing of all traces; wavelet: of the source, with whose
    band that of the band-pass has to overlap."""
    _check_mute(survey, acquisition)
    _check_band(survey, acquisition, wavelet)


def _check_mute(survey: Survey, acquisition: Acquisition) -> None:
    """Raises InputError where the top mute begins after the last sample of all traces, or its ramp is longer."""
    mute = survey.acquisition.mute
    if mute is None:
        return
    length = acquisition.end - acquisition.start
    if mute.taper > length > 0:
        raise InputError(
            f"{survey.path}: [acquisition] mute.taper: found {mute.taper:g} s, longer than the traces, {length:g} s, "
            f"which would nowhere be whole; allowed: up to {length:g} s; is the taper in s?"
        )
    nearest = min((float(shot.offsets.min()) for shot in acquisition.shots if len(shot.offsets)), default=math.inf)
    if not math.isfinite(nearest) or nearest / mute.velocity < acquisition.end:
        return
    allowed = f"above {nearest / acquisition.end:g} m/s" if acquisition.end > 0 else "no mute of such traces"
    raise InputError(
        f"{survey.path}: [acquisition] mute.velocity: found {mute.velocity:g}; at the least offset, {nearest:g} m, the "
        f"mute ends at {nearest / mute.velocity:g} s, after the last sample, {acquisition.end:g} s, so that nothing is "
        f"left of any trace; allowed: {allowed}"
    )


def _check_band(survey: Survey, acquisition: Acquisition, wavelet: Wavelet | None) -> None:
    """Raises InputError where no frequency of the traces lies in the band-pass, or none of the wavelet."""
    corners = survey.acquisition.conditioning.band_pass
    if corners is None:
        return
    low, high = corners[0], corners[3]
    found = f"{survey.path}: [acquisition] conditioning.band_pass: found {low:g} to {high:g} Hz"
    apart = 1.0 / (acquisition.samples * acquisition.sample_interval)
    if not (math.floor(low / apart) + 1) * apart < high:
        raise InputError(
            f"{found}; the traces, {1.0 / apart:g} s long, have frequencies every {apart:.4g} Hz from {apart:.4g} Hz "
            f"on, none of which lies between; allowed: corners wider apart, the last one above {apart:.4g} Hz; are "
            "they in Hz?"
        )
    if wavelet is None:
        return
    lowest, highest = lowest_frequency(wavelet), wavelet.fmax
    if low >= highest or high <= lowest:
        raise InputError(
            f"{found}, and the wavelet has {lowest:.4g} to {highest:.4g} Hz: nothing is left that both have; allowed: "
            "bands that overlap ([wavelet], conditioning.band_pass)"
        )
