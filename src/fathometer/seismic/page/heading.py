"""Heading of a run's page: title and facts from its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.runs.application import Heading


def heading(record: Mapping[str, Any], title: str = "", kind: str = "") -> Heading:
    """Title, name of the survey, and facts. title, kind of medium: of other waves than acoustic ones."""
    results, keys = record["results"], record["input"]
    migrated = results.get("imaging", keys.get("acquisition", {}).get("gathers") is not None)
    title = title or ("Reverse time migration" if migrated else "Modelling of shots")
    facts: list[tuple[str, str]] = []
    grid = results.get("grid", {})
    if {"shape", "spacing_metres"} <= grid.keys():
        axes = [axis for axis, n in enumerate(grid["shape"]) if n > 1]
        cells = " × ".join(str(grid["shape"][axis]) for axis in axes)
        size = " × ".join(f"{grid['spacing_metres'][axis]:g}" for axis in axes)
        kind = kind or ("VTI" if results.get("physics") == "vti" else "isotropic")
        kind += " with attenuation" * bool(results.get("attenuation"))
        facts.append(("Model", f"{len(axes)}D, {kind}, {cells} cells of {size} m"))
    if results.get("weak_epsilon"):
        facts.append(("Epsilon below delta", str(results["weak_epsilon"]["summary"])))
    if "largest_error" in (fit := results.get("attenuation") or {}):
        low, high = fit["band_hertz"]
        found = f"within {100 * fit['largest_error']:.1f} % of the model's from {low:.3g} to {high:.3g} Hz"
        facts.append(("Q", f"{found}; velocities hold at {fit['reference_hertz']:g} Hz"))
    if results.get("components"):
        facts.append(("Source", f"{results['source']}; recorded: {', '.join(results['components'])}"))
    if {"shots", "traces", "samples", "sample_interval_seconds"} <= results.keys():
        facts.append(
            (
                "Shots",
                f"{results['shots']} with {results['traces']} traces of {results['samples']} samples, "
                f"one every {1000 * results['sample_interval_seconds']:g} ms",
            )
        )
    if {"steps", "time_step_seconds", "maximum_frequency_hertz", "points_per_shortest_wavelength"} <= results.keys():
        facts.append(
            (
                "Time steps",
                f"{results['steps']} a shot{' and direction' if migrated else ''}, of "
                f"{1000 * results['time_step_seconds']:.3g} ms; frequencies up to "
                f"{results['maximum_frequency_hertz']:g} Hz, {results['points_per_shortest_wavelength']:.1f} cells in "
                "the shortest wavelength",
            )
        )
    if results.get("absorbing_layers"):
        facts.append(("Absorbing layers", str(results["absorbing_layers"]["summary"]).partition(": ")[2]))
    if results.get("processor", {}).get("kind") == "gpu":
        facts.append(("Time steps on", _card(results["processor"])))
    if results.get("illumination"):
        facts.append(("Illumination", _illumination(results["illumination"])))
    if {"groups", "ranks_per_shot", "migrated_shots", "earlier_shots", "failed_shots"} <= results.keys():
        facts.append(("Shared", _distribution(results)))
    if "history" in results:
        facts.append(("Source wavefield", _history(results["history"])))
    return Heading(title, Path(str(keys.get("survey", ""))).stem, facts)


def _card(processor: Mapping[str, Any]) -> str:
    """The graphics card of a rank, as text."""
    shared = f", {processor['ranks_per_card']} ranks a card" if processor["ranks_per_card"] > 1 else ", one a rank"
    memory = bytes_in_words(processor["memory_bytes"])
    return f"a graphics card, {processor['name']} with {memory}{shared}, CUDA {processor['runtime']}"


def _illumination(level: Mapping[str, Any]) -> str:
    """Where a source-normalised image can be trusted, as text."""
    return str(level["note"] or f"everywhere above {level['weak_share_of_median']:g} of its median")


def _distribution(results: Mapping[str, Any]) -> str:
    """Distribution of the shots over groups of ranks and runs, as text."""
    groups, ranks = results["groups"], results["ranks_per_shot"]
    workers = f"{groups} groups of ranks with shots of their own" if groups > 1 else "all ranks on each shot"
    shots, failed = len(results["migrated_shots"]), results["failed_shots"]
    parts = [f"{number_of(shots, 'shot')} by {workers}" + f", {ranks} a shot" * (groups > 1)]
    if results["earlier_shots"]:
        parts.append(f"{results['earlier_shots']} by earlier runs")
    if failed:
        more = ", …" * (len(failed) > 1)
        parts.append(f"{len(failed)} set aside: shot {failed[0]['shot'] + 1}: {failed[0]['reason']}{more}")
    return "; ".join(parts)


def _history(history: Mapping[str, Any]) -> str:
    """Store, encoding and cost of the history, as text."""
    stores = {
        "card": "on the graphics card",
        "memory": "in memory",
        "disk": "on disk",
        "checkpoint": "some kept, the others computed again",
    }
    stored, logical = (sum(rank[f"{kind}_bytes"] for rank in history["ranks"]) for kind in ("stored", "logical"))
    text = f"{history['snapshots']} snapshots a shot, {stores.get(history['store'], history['store'])}, "
    text += f"as {history['encoding']}" + (f": {stored / logical:.3g} of the plain bytes" if logical else "")
    if history["recomputed_imaging_steps"]:
        text += (
            f"; {100 * history['recomputed_imaging_steps'] / max(1, history['snapshots'] - 1):.0f} % of its steps twice"
        )
    errors = [rank["relative_l2_error"] for rank in history["ranks"] if "relative_l2_error" in rank]
    return text + (f"; snapshots lost up to {100 * max(errors):.2g} % (relative L2)" if errors else "")
