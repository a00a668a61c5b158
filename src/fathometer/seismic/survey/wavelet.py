"""The section [wavelet]: the source wavelet."""

from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import Field

from fathometer.config.quantities import Frequency, TraceTime
from fathometer.config.table import Table, key
from fathometer.config.types import FileName
from fathometer.seismic.survey.types import Corners

SeriesInterval = Annotated[float, Ge(1e-9), Le(100)]
RiseTime = Annotated[float, Ge(1e-9), Le(1e4)]


class RickerTable(Table):
    """Ricker wavelet, zero phase; its highest frequency is 2.5 times its peak frequency."""

    kind: Literal["ricker"] = key("Ricker, zero phase")
    peak_frequency: Frequency = key("frequency of the peak of the spectrum", "Hz")


class OrmsbyTable(Table):
    """Ormsby wavelet, zero phase; its highest frequency is its last corner."""

    kind: Literal["ormsby"] = key("Ormsby, zero phase: a trapezoid in frequency")
    corners: Corners = key("low cut, low pass, high pass, high cut", "Hz")


class SampledWaveletTable(Table):
    """Sampled wavelet: a series from a file, zero outside its samples."""

    kind: Literal["file"] = key("a series from a file")
    path: FileName = key("the series: .npy, .rsf or text; relative to the survey file")
    sample_interval: SeriesInterval = key("sample interval of the series", "s")
    zero: TraceTime | None = key(
        "time of t = 0 of the traces, from the first sample of the series; left out: 0, or where a text has a column "
        "of times, its time 0",
        "s",
        None,
    )
    maximum_frequency: Frequency = key("highest frequency that is used; the series is low-passed to it", "Hz")


class BruneTable(Table):
    """Brune's moment rate, t / T^2 exp(-t / T) from t = 0 on, of unit area; its peak is at T."""

    kind: Literal["brune"] = key("t / T^2 exp(-t / T), of unit area")
    rise_time: RiseTime = key("T", "s")
    maximum_frequency: Frequency = key(
        "highest frequency that is modelled; higher ones are filtered out, from twice this on wholly",
        "Hz",
    )


class CosineTable(Table):
    """A bell (1 - cos(2 pi t / T)) / T from t = 0 to T, of unit area."""

    kind: Literal["cosine"] = key("(1 - cos(2 pi t / T)) / T, of unit area")
    rise_time: RiseTime = key("T", "s")
    maximum_frequency: Frequency | None = key("highest frequency that is modelled; left out: 2.5 / T", "Hz", None)


WaveletTable = Annotated[
    RickerTable | OrmsbyTable | SampledWaveletTable | BruneTable | CosineTable, Field(discriminator="kind")
]
