"""What the record of an elastic run says beside that of every modelling."""

from __future__ import annotations

from typing import Any

from fathometer.seismic.elastic.setup import ElasticSetup


def facts(setup: ElasticSetup) -> dict[str, Any]:
    """Results by name, JSON-ready."""
    survey, attenuation = setup.survey, setup.attenuation
    return {
        "source": survey.source.kind if survey.source is not None else None,
        "components": list(setup.components),
        "absorbing_layers": {
            "summary": setup.layout.layers_in_words,
            "share_of_cells": setup.layout.share_in_layers,
        },
        "attenuation": None
        if attenuation is None
        else {
            "reference_hertz": attenuation.reference,
            "band_hertz": list(attenuation.band),
            "relaxation_seconds": attenuation.times.tolist(),
            "largest_error": setup.attenuation_error,
        },
        "snapshots": None if survey.snapshots is None else survey.snapshots.model_dump(mode="json"),
    }
