"""`fathometer survey wavelet`: the source wavelet of a survey, from the sea-floor reflections of its near offsets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import beside
from fathometer.config.input_file import read_toml
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.shots.acquisition import acquisition_of
from fathometer.seismic.signature.estimate import Estimate, Tows, estimate_of
from fathometer.seismic.signature.request import WaveletRequest
from fathometer.seismic.signature.sea_floor import Aligned, Near, aligned, near_traces, reflection_time
from fathometer.seismic.survey import Survey, survey_of
from fathometer.seismic.traces.wavelet_file import GHOSTS, KEPT, NO_GHOSTS, REMOVED
from fathometer.storage import atomic
from fathometer.storage.traces.doubts import polarity_of
from fathometer.storage.traces.modelled_top import top_of

Doubles = npt.NDArray[np.float64]

FREE, ABSORBING = "free-surface", "absorbing"


@dataclass(frozen=True)
class SurveyWavelet:
    """An estimate and what is to be said of it.

    Attributes:
        ghosts: KEPT, REMOVED or NO_GHOSTS. source, receiver: median depths, m.
        t0, depth: (n,) of the traces that took part, s and m: of the sea floor at vertical incidence, below z = 0.
        reversed: whether the survey's conditioning changes the sign, which is in the wavelet too.
        codes: impulse polarity codes of the files: 1: an increase of pressure is a negative number, 2: positive.
    """

    survey: Survey
    near: Near
    aligned: Aligned
    estimate: Estimate
    ghosts: str
    source: float
    receiver: float
    t0: Doubles
    depth: Doubles
    highest: float
    reversed: bool
    codes: frozenset[int]

    @property
    def polarity(self) -> str:
        """What the sign of the sea floor, whose impedance increases downwards, says of that of the traces."""
        fits = f"correlation {self.estimate.fit:.2f}; with the other sign {self.estimate.other_fit:.2f}"
        if not self.estimate.sign_is_told:
            return f"cannot be told ({fits}); taken is {self._convention}"
        return f"{self._convention} ({fits}){self._of_headers}"

    @property
    def _of_headers(self) -> str:
        """Whether headers say the same of the sign; "" where they do not say."""
        if len(self.codes) != 1 or not self.codes <= {1, 2}:
            return ""
        [code] = self.codes
        in_files = -self.estimate.sign if self.reversed else self.estimate.sign
        same = (in_files < 0.0) == (code == 1)
        return f"; the impulse polarity code, {code}, says {'the same' if same else 'the opposite'}"

    @property
    def _convention(self) -> str:
        # The sign of the traces as migrated, so that of the files is the other one where they are reversed.
        negative = self.estimate.sign < 0.0
        words = "SEG normal, an increase of impedance begins with negative numbers"
        if not negative:
            words = "reversed from SEG normal, an increase of impedance begins with positive numbers"
        return words + " after conditioning.polarity" * self.reversed

    @property
    def holds(self) -> str:
        """What the wavelet holds, and which top it fits."""
        depths = f"source {self.source:.4g} m, receivers {self.receiver:.4g} m"
        return {
            KEPT: f'both ghosts ({depths}): fits [propagation] top = "{ABSORBING}"',
            REMOVED: f'no ghosts, which were divided out ({depths}): fits top = "{FREE}", or deghosted traces',
            NO_GHOSTS: f'no ghosts, since the traces have none: fits [propagation] top = "{ABSORBING}"',
        }[self.ghosts]

    def lines(self) -> list[str]:
        """What to print."""
        estimate = self.estimate
        low, high = estimate.band
        return [
            f"{len(self.t0)} of {len(self.near.traces)} near traces, offsets {self.near.offset.min():.0f} to "
            f"{self.near.offset[self.aligned.kept].max():.0f} m, alike by {self.aligned.correlation:.2f}",
            f"sea floor: t0 {np.median(self.t0):.4f} s, {np.median(self.depth):.1f} m deep "
            f"({self.depth.min():.1f} to {self.depth.max():.1f} m)",
            f"polarity: {self.polarity}",
            f"wavelet: minimum phase, {low:.3g} to {high:.3g} Hz in the traces; {self.holds}",
        ]

    def section(self, path: Path) -> list[str]:
        """The section of a survey file that takes the wavelet."""
        try:
            name = path.resolve().relative_to(self.survey.directory.resolve())
        except ValueError:
            name = path.resolve()
        return [
            "[wavelet]",
            'kind = "file"',
            f'path = "{name}"',
            f"sample_interval = {self.estimate.interval:.10g}",
            f"maximum_frequency = {self.highest:.4g}",
        ]

    def text(self) -> str:
        """The file: comments, then a sample a line."""
        comments = [
            "# source wavelet from sea-floor reflections, by fathometer survey wavelet",
            f"# minimum phase, largest magnitude 1; first sample at t = 0, every {self.estimate.interval:.10g} s",
            f"{GHOSTS}{self.ghosts} (source {self.source:.4g} m, receivers {self.receiver:.4g} m)",
            f"# polarity: {self.polarity}",
            f"# sea floor: t0 {np.median(self.t0):.4f} s, {np.median(self.depth):.1f} m",
        ]
        return "\n".join([*comments, *(f"{value:.9g}" for value in self.estimate.series)]) + "\n"


def survey_to_estimate(path: Path) -> Survey:
    """The survey of a file, which may lack [wavelet]: it is what is looked for. InputError as of `load_survey`."""
    values = read_toml(path, "the survey file")
    values.setdefault("wavelet", {"kind": "ricker", "peak_frequency": 20.0})  # nothing looks at it
    return survey_of(values, path)


def survey_wavelet(survey: Survey, request: WaveletRequest) -> SurveyWavelet:
    """Estimate the wavelet of a survey's gathers. Raises InputError where they do not show it, in one line."""
    if survey.acquisition.gathers is None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: missing; `survey wavelet` needs recorded shots (SEG-Y, SU)"
        )
    survey.require_acoustic("survey wavelet")
    with ledger.phase("read traces"):
        dimension = EarthFiles(survey, headers_only=True).dimension
        acquisition = acquisition_of(survey, dimension)
        near = near_traces(acquisition, request.offset)
    name, sign = str(survey.path), -1.0 if survey.acquisition.conditioning.polarity == "reversed" else 1.0
    source, receiver = float(np.median(near.source)), float(np.median(near.receiver))
    _check(near, request, name)
    assert acquisition.recording is not None
    tops = {top_of(layout) for layout in acquisition.recording.layouts}
    codes = frozenset(polarity_of(layout) for layout in acquisition.recording.layouts)
    ghosts = _ghosts(survey, request, source, receiver, tops, name)
    tows = None if ghosts == NO_GHOSTS else Tows(source, receiver, request.velocity, request.reflection)
    t0 = request.sea_floor or reflection_time(near, request.velocity, name)
    pieces = aligned(near, t0, request.velocity, request.length, name)
    line = dimension == 2 and survey.acquisition.conditioning.line_source is None
    estimate = estimate_of(pieces, near.interval, request.length, tows, ghosts == REMOVED, line)
    if sign < 0.0:
        estimate = estimate.reversed()
    offset, rows = near.offset[pieces.kept], pieces.kept
    onset = np.maximum(pieces.times + estimate.onset, offset / request.velocity)
    vertical = np.sqrt(onset**2 - (offset / request.velocity) ** 2)
    depth = 0.5 * (request.velocity * vertical + near.source[rows] + near.receiver[rows])
    highest = request.highest or min(math.ceil(estimate.highest), 0.45 / near.interval)
    return SurveyWavelet(
        survey=survey,
        near=near,
        aligned=pieces,
        estimate=estimate,
        ghosts=ghosts,
        source=source,
        receiver=receiver,
        t0=vertical,
        depth=depth,
        highest=highest,
        reversed=sign < 0.0,
        codes=codes,
    )


def _check(near: Near, request: WaveletRequest, name: str) -> None:
    nyquist = 0.5 / near.interval
    if request.highest is not None and not request.highest < nyquist:
        raise InputError(
            f"{name}: --max-frequency: found {request.highest:g} Hz; allowed: below {nyquist:g} Hz, the Nyquist "
            "frequency of the traces"
        )
    samples = request.length / near.interval
    if samples < 16:
        found = f"{request.length:g} s, {beside(samples, 16, 3)} samples"
        raise InputError(f"{name}: --length: found {found}; allowed: 16 samples or more")


def _ghosts(survey: Survey, request: WaveletRequest, source: float, receiver: float, tops: set[str], name: str) -> str:
    """Whether the wavelet is to hold ghosts. InputError where nothing says what they are, or where they come later than
    the wavelet is long."""
    free, deghost = survey.propagation.top == FREE, survey.acquisition.conditioning.deghost is not None
    chosen = request.ghosts or (NO_GHOSTS if tops == {ABSORBING} else REMOVED if free or deghost else KEPT)
    if chosen == NO_GHOSTS:
        return chosen
    depths = f"sources at a depth of {source:.4g} m and receivers at {receiver:.4g} m"
    if not (source > 0.0 and receiver > 0.0):
        raise InputError(
            f"{name}: ghosts: {depths}; needed: depths above 0, by headers or [acquisition] source_depth and "
            "receiver_depth, or --ghosts none for traces that have none"
        )
    latest = 2 * max(source, receiver) / request.velocity
    if latest > request.length:
        raise InputError(
            f"{name}: ghosts: {depths}: the later ghost comes after {latest:.3g} s, where the wavelet is "
            f"{request.length:g} s long (--length); needed: sources and receivers near the surface, since those on the "
            "sea floor record no reflection of it"
        )
    return chosen


def write_wavelet(wavelet: SurveyWavelet, path: Path) -> None:
    """Write the file, whole or not at all. Raises FathometerError where that fails."""
    with ledger.file("wavelet", "write"):
        atomic.write(path, wavelet.text().encode())
