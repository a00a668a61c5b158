"""What a plan knows of an acoustic survey: its velocities from some rows of the model, and what its layouts cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from fathometer.base.errors import InputError
from fathometer.plan.machine_file import Machine
from fathometer.runs.application import CostEstimate
from fathometer.seismic.acoustic.predict import predict
from fathometer.seismic.plan import NoRoomOnCards, Plan, PlanRequest, plan_of_waves
from fathometer.seismic.plan_table import estimate
from fathometer.seismic.setup.checks import check_sampling, time_step
from fathometer.seismic.setup.grazing import grazing_notes, peak_frequency
from fathometer.seismic.setup.known_model import known_model
from fathometer.seismic.setup.survey_layout import survey_layout
from fathometer.seismic.shots.offsets import check_bins
from fathometer.seismic.survey import Survey


def estimate_acoustic(survey: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """The plan that `fathometer plan` shows."""
    return estimate(plan_acoustic(survey, machine, PlanRequest.of(options)))


def plan_acoustic(survey: Survey, machine: Machine, request: PlanRequest) -> Plan:
    """Of the migration of its gathers, or of a modelling. Raises InputError for what is wrong with the survey, and as
    `plan_of_waves`."""
    recorded = survey.acquisition.gathers is not None and not request.model
    layout = survey_layout(survey, request.migrate or recorded, headers_only=True)
    known = known_model(layout, request.velocities)
    dt = time_step(survey, known.limit)
    notes = check_sampling(survey, known.slowest, layout.grid, layout.wavelet, layout.acquisition, dt)
    notes += grazing_notes(layout, known.slowest, known.fastest, peak_frequency(layout.wavelet))
    notes += check_bins(survey, layout.acquisition.shots) if layout.imaging else ()

    def planned(cards: bool, notes: tuple[str, ...]) -> Plan:
        running = machine.running("migrate" if layout.imaging else "model", cards)
        return plan_of_waves(layout, known, dt, notes, running, request, partial(predict, layout))

    wanted = survey.parallel.processor
    if wanted == "gpu" and machine.card is None:
        raise InputError(
            f'{survey.path}: [parallel] processor: found "gpu", but {machine.name} has no graphics card; needed: a '
            'machine file with one (`make cuda`, then `fathometer calibrate` where a card is), or processor = "cpu"'
        )
    if wanted == "cpu" or machine.card is None:
        return planned(False, notes)
    try:
        return planned(True, notes)
    except NoRoomOnCards as reason:
        if wanted == "gpu":
            raise
        return planned(False, (*notes, f"the processors take the time steps: {reason.why}"))
