"""A plan as a table for people."""

from __future__ import annotations

from collections.abc import Callable

from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.plan.machine_file import Machine
from fathometer.plan.table import amount, comparison
from fathometer.runs.application import CostEstimate
from fathometer.runs.told import note_lines
from fathometer.seismic.cost.prediction import WavePrediction
from fathometer.seismic.plan import Plan
from fathometer.seismic.setup.cone import Saved


def estimate(plan: Plan) -> CostEstimate:
    """The plan for a record, and as a table."""
    return CostEstimate(plan.as_dict(), lines(plan))


def lines(plan: Plan) -> list[str]:
    """The plan as a table for people."""
    layout, time, asked, recommended = plan.layout, plan.time, plan.asked, plan.recommended
    grid = layout.grid
    cells = " x ".join(str(grid.full_shape[axis]) for axis in grid.axes)
    shots = len(layout.acquisition.shots)
    text = [
        f"{'migrate' if layout.imaging else 'model'} {layout.survey.path} on {plan.machine.name}",
        f"{cells} cells with absorbing boundaries, {number_of(shots, 'shot')}, {time.steps} time steps of "
        f"{1000 * time.dt:.4g} ms, {plan.points_per_wavelength:.1f} cells per shortest wavelength",
        f"velocities: {plan.known.origin}; a snapshot every {time.every} steps" * layout.imaging
        or f"velocities: {plan.known.origin}",
        *filter(None, [layout.layers_in_words]),
        *([_saved(plan.cone)] if plan.cone is not None else []),
        *([_cards(plan.machine)] if plan.machine.card is not None else []),
        *note_lines(plan.notes, layout.survey.path, "--json lists all"),
        "",
    ]
    further: dict[str, Callable[[WavePrediction], str]] = {
        "snapshots": _snapshots,
        "disk": lambda p: amount(p.disk_bytes),
        "halo bytes a step": lambda p: amount(p.halo_bytes_per_step),
        "overlap, model": lambda p: amount(p.model_halo_bytes),
        "overlap, traces": lambda p: amount(p.trace_halo_bytes),
    }
    if plan.machine.card is not None:
        further["on a card a rank"] = lambda p: (
            f"{bytes_in_words(sum(p.card_bytes.values()))} of {bytes_in_words(p.card_room)}"
        )
    return [*text, *comparison(asked, recommended, _layout, further, plan.budget)]


def _saved(loops: dict[str, Saved]) -> str:
    shares = " and ".join(f"{100 * saved.share:.0f} % of the {name} loop" for name, saved in loops.items())
    return f"cone: about {shares} is left out"


def _cards(machine: Machine) -> str:
    """Which graphics cards take the time steps, and where their rates come from."""
    card, calibration = machine.card, machine.calibration
    assert card is not None
    measured = [name for one in calibration.measurements for name in one.figures] if calibration is not None else []
    where = f"measured on one of {calibration.host}" if calibration and "card" in measured else "from the machine file"
    cards = "a graphics card" if card.per_node == 1 else f"{card.per_node} graphics cards"
    return f"time steps on {cards} a node, {card.name}; rates {where}"


def _snapshots(prediction: WavePrediction) -> str:
    history = prediction.history
    return "" if history is None else f"{history.store}, {history.encoding}, every {prediction.every} steps"


def _layout(p: WavePrediction) -> str:
    times = " x ".join(str(n) for n in p.shot_ranks)
    groups = f"{p.groups} groups of " * (p.groups > 1)
    return f"{number_of(p.nodes, 'node')}, {groups}{times} ranks x {p.threads}"
