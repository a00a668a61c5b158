"""The figures of docs/verification.md of the ocean; needs a minute or two. Run by tools/figures.py."""

import test_ocean_conservation as conservation
import test_ocean_stratified as stratified
import test_ocean_waves as waves

from fathometer import _native


def percent(value):
    """By how much it differs from 1."""
    return f"{100 * (value - 1):+.2f} %"


def figures():
    """Print them."""
    _native.set_threads(1)
    for cells in (32, 64):
        print(f"seiche, {cells} cells: period {percent(waves.seiche_period(cells))}")
    for cells in (24, 48):
        print(f"Rossby wave, {cells} x {cells} cells: phase speed {percent(waves.rossby_speed((cells, cells)))}")
    for cells, levels in ((32, 16), (64, 32)):
        found = percent(stratified.internal_period(cells, levels))
        print(f"internal wave, {cells} cells, {levels} levels: period {found}")
    for cells in (64, 128):
        print(f"Stommel's gyre, {cells} x {cells} cells: transport {percent(waves.stommel_transport(cells))}")
    for cells in (40, 80):
        print(f"Munk's gyre, {cells} x {cells} cells: width {percent(waves.munk_width(cells))}")
    for viscosity in (10.0, 100.0, 200.0):
        found = stratified.lock_exchange(viscosity=viscosity)
        speeds = f"{found.bottom:.3f} at the bottom, {found.surface:.3f} at the surface"
        words = f"lock exchange, viscosity {viscosity:g} m²/s: fronts, over sqrt(g' H) / 2: {speeds}"
        print(f"{words}; beyond the bounds {found.beyond:.1e} °C")
    kinds = ("sphere", "channel", "box")
    drifts = [conservation.drift(kind) for kind in kinds]
    print(f"volume and contents, {conservation.STEPS} steps: {max(drifts):.1e}")
    forced = [conservation.drift(kind, surface=conservation.forcing()) for kind in kinds]
    print(f"the same with restoring and flux: {max(forced):.1e}")
    print(f"a uniform tracer: {max(conservation.evenness(kind) for kind in kinds):.1e}")
