"""Picture of the roofline of a stencil: the limits of memory and arithmetic, the streaming limit, the measured rates.

Williams, Waterman & Patterson 2009, Communications of the ACM 52(4).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fathometer.pictures import sheet

COLOURS = ("#1f4e79", "#c55a11", "#548235")


def draw_roofline(path: Path, envelope: dict[str, Any]) -> None:
    """Write the picture of a record of `fathometer stencil`. Raises FathometerError where it cannot be written."""
    results, request = envelope["results"], envelope["input"]
    flops, bandwidth = results["flops_per_point"], results["triad_bytes_per_second"]
    intensity = flops / results["bytes_per_point"]
    points = [
        ("plain sweeps", results["plain_sweeps_points_per_second"], COLOURS[1], "s"),
        ("several steps a sweep", results["points_per_second"], COLOURS[0], "o"),
    ]
    grid = " x ".join(str(n) for n in request["grid"] if n > 1)
    title = (
        f"{request['physics']} step of order {request['order']}, {grid} cells, "
        f"{results['ranks']} x {results['threads']} threads"
    )
    with sheet.style():
        from matplotlib.ticker import FuncFormatter, NullFormatter

        figure = sheet.sheet(8.0, 5.4, title)
        axes = sheet.place(figure, sheet.LEFT, sheet.TOP, 6.8, 4.1)
        roof = results["multiply_add_flops_per_second"]
        ridge = roof / bandwidth
        x = np.array([intensity / 4, ridge, ridge * 3])
        axes.loglog(x, np.minimum(x * bandwidth, roof) / 1e9, color=sheet.INK, linewidth=1.2)
        for text, at, across in (
            (f"triad, {bandwidth / 1e9:.1f} GB/s", intensity / 3, "left"),
            (f"multiply-adds, {roof / 1e9:.0f} Gflop/s", ridge * 3, "right"),
        ):
            axes.annotate(
                text,
                (at, min(at * bandwidth, roof) / 1e9),
                (-4 if across == "left" else 0, 8),
                textcoords="offset points",
                ha="right" if across == "left" else across,
            )
        axes.axvline(intensity, color="#999999", linewidth=0.8, linestyle=":")
        axes.plot(
            intensity,
            intensity * bandwidth / 1e9,
            "D",
            color=COLOURS[2],
            label=f"streaming limit: {results['streaming_limit_points_per_second'] / 1e9:.2f} billion cells/s",
        )
        for name, rate, colour, marker in points:
            axes.plot(
                intensity, rate * flops / 1e9, marker, color=colour, markersize=8, label=f"{name}: {rate / 1e9:.2f}"
            )
        axes.set_xlabel(f"flops a byte (dotted: {flops} over {results['bytes_per_point']})")
        axes.set_ylabel("Gflop/s")
        axes.set_xlim(intensity / 12, ridge * 4)
        axes.set_ylim(top=1.8 * max(roof, results["points_per_second"] * flops) / 1e9)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
        axes.legend(loc="lower right")
        sheet.save(figure, path)
