"""Heading of the page of a time migration: title and facts from its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.base.formatting import number_of
from fathometer.runs.application import Heading

TITLE = "Kirchhoff time migration"


def time_heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the survey, and facts."""
    results, keys = record["results"], record["input"]
    facts = [("Image", _image(results["grid"]))]
    facts.append(("Velocities", _velocities(results["velocities"])))
    facts.append(
        (
            "Traces",
            f"{results['traces']} of {results['shots']} shots, {results['samples']} samples each, one every "
            f"{1000 * results['sample_interval_seconds']:g} ms",
        )
    )
    facts.append(("Sum", _sum(results, keys["time_migration"])))
    shared = _shared(results)
    if shared:
        facts.append(("Shared", shared))
    subject = Path(str(keys.get("survey", ""))).stem
    return Heading(TITLE, subject, facts, kernel=False)


def _image(grid: Mapping[str, Any]) -> str:
    """Places and times."""
    *places, samples = grid["shape"]
    axes = [axis for axis, n in enumerate(places) if n > 1] or [0]
    count = " × ".join(str(places[axis]) for axis in axes)
    size = " × ".join(f"{grid['spacing_metres'][axis]:g}" for axis in axes)
    start, step = grid["start_seconds"], grid["interval_seconds"]
    return (
        f"{len(axes) + 1}D, {count} places every {size} m; {samples} samples from {start:g} to "
        f"{start + (samples - 1) * step:g} s, one every {1000 * step:g} ms"
    )


def _velocities(velocities: Mapping[str, Any]) -> str:
    """Where they come from, and their range."""
    return f"{_rms(velocities)}; {_eta(velocities)}"


def _rms(velocities: Mapping[str, Any]) -> str:
    source = velocities["velocity"]
    if source["source"] == "number":
        return f"RMS velocity {source['value']:g} m/s everywhere"
    slowest, fastest = velocities["slowest_metres_per_second"], velocities["fastest_metres_per_second"]
    reach = "" if slowest is None else f", {slowest:.0f} to {fastest:.0f} m/s"
    return f"RMS velocities from {_source(source)}{reach}"


def _eta(velocities: Mapping[str, Any]) -> str:
    source = velocities["eta"]
    if source["source"] == "number":
        return f"eta {source['value']:g}"
    where = "" if source == velocities["velocity"] else f" from {_source(source)}"
    return f"eta {velocities['least_eta']:.3g} to {velocities['largest_eta']:.3g}{where}"


def _source(source: Mapping[str, Any]) -> str:
    """Where velocities or eta come from."""
    match source["source"]:
        case "model":
            return f"[model] ({', '.join(Path(name).name for name in source['files'])})"
        case "picks":
            return f"{source['picks']} picks at {source['locations']} places ({Path(source['file']).name})"
        case _:
            return f"a volume ({Path(source['file']).name})"


def _sum(results: Mapping[str, Any], keys: Mapping[str, Any]) -> str:
    """How many samples were summed, and the operator."""
    parts = []
    if results.get("samples_computed"):
        parts.append(f"{results['samples_computed'] / 1e9:.3g} · 10⁹ samples of traces")
    aperture = "as far as the dip allows" if keys["aperture"] is None else f"{keys['aperture']:g} m"
    parts.append(f"aperture {aperture}, dips up to {keys['dip']:g}°")
    weights = "true-amplitude weights" if keys["weights"] == "true-amplitude" else "weights 1"
    parts.append(f"{weights}, {'no' if keys['anti_alias'] == 'none' else 'triangle'} anti-alias filter")
    return "; ".join(parts)


def _blocks(number: int) -> str:
    return f"{number_of(number, 'block')} of traces"


def _shared(results: Mapping[str, Any]) -> str:
    """Distribution of the blocks of traces over groups of ranks and runs."""
    if not {"groups", "ranks_per_block", "migrated_blocks", "earlier_blocks", "failed_blocks"} <= results.keys():
        return ""
    groups, ranks, failed = results["groups"], results["ranks_per_block"], results["failed_blocks"]
    why = results["ranks_per_block_why"]
    if groups > 1:
        workers = f"{groups} groups of ranks with blocks of their own, {ranks} a block ({why})"
    else:
        workers = f"all ranks on each block ({why})" if ranks > 1 else "one rank"
    blocks, earlier = len(results["migrated_blocks"]), results["earlier_blocks"]
    parts = [f"{_blocks(blocks)} by {workers}"] if blocks or not earlier else []
    if earlier:
        parts.append(f"{_blocks(earlier)} by earlier runs")
    if failed:
        more = ", …" * (len(failed) > 1)
        parts.append(f"{len(failed)} set aside: block {failed[0]['block'] + 1}: {failed[0]['reason']}{more}")
    return "; ".join(parts)
