"""The survey file states what is modelled or migrated, a module a section."""

from fathometer.seismic.survey.acquisition import (
    AcquisitionTable,
    AgcBalanceTable,
    ConditioningTable,
    DeghostTable,
    MuteTable,
    ReceiversTable,
    RmsBalanceTable,
    SourcesTable,
)
from fathometer.seismic.survey.history import HistoryTable
from fathometer.seismic.survey.imaging import ImagingTable
from fathometer.seismic.survey.model import ModelTable
from fathometer.seismic.survey.parallel import ParallelTable
from fathometer.seismic.survey.propagation import PmlTable, PropagationTable, SpongeTable
from fathometer.seismic.survey.source import (
    DoubleCoupleTable,
    ExplosionTable,
    ForceTable,
    MomentTensorTable,
    SourceFileTable,
    SourceTable,
)
from fathometer.seismic.survey.survey import Survey, load_survey, survey_of
from fathometer.seismic.survey.time_migration import TimeMigrationTable
from fathometer.seismic.survey.wavelet import (
    BruneTable,
    CosineTable,
    OrmsbyTable,
    RickerTable,
    SampledWaveletTable,
    WaveletTable,
)

__all__ = [
    "AcquisitionTable",
    "AgcBalanceTable",
    "BruneTable",
    "ConditioningTable",
    "CosineTable",
    "DeghostTable",
    "DoubleCoupleTable",
    "ExplosionTable",
    "ForceTable",
    "HistoryTable",
    "ImagingTable",
    "ModelTable",
    "MomentTensorTable",
    "MuteTable",
    "OrmsbyTable",
    "ParallelTable",
    "PmlTable",
    "PropagationTable",
    "ReceiversTable",
    "RickerTable",
    "RmsBalanceTable",
    "SampledWaveletTable",
    "SourceFileTable",
    "SourceTable",
    "SourcesTable",
    "SpongeTable",
    "Survey",
    "TimeMigrationTable",
    "WaveletTable",
    "load_survey",
    "survey_of",
]
