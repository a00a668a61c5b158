"""Panels of one size in rows and columns, placed in inches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fathometer.pictures import sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 3.3  # inches of a panel
ACROSS = sheet.LEFT + 0.95  # inches between panels side by side: labels, colour bar
BETWEEN = 0.6  # inches between rows, without the names of the lower one
COLUMNS = 3


@dataclass(frozen=True)
class PanelGrid:
    """Rows and columns of panels; width and height of one in inches."""

    rows: int
    columns: int
    width: float
    height: float

    def figure(self, title: str, note: str) -> Figure:
        """The empty figure."""
        wide = self.columns * (self.width + ACROSS)
        tall = sheet.TOP + self.rows * (sheet.NAME + self.height + BETWEEN) - BETWEEN + sheet.BOTTOM
        return sheet.sheet(wide, tall, title, 0.0, note)

    def place(self, row: int, column: int) -> tuple[float, float]:
        """Inches of a panel's upper left corner from that of the figure."""
        left = sheet.LEFT + column * (self.width + ACROSS)
        return left, sheet.TOP + sheet.NAME + row * (sheet.NAME + self.height + BETWEEN)


def columns_for(panels: int) -> int:
    """Columns of so many panels."""
    return panels if panels <= COLUMNS else 2 if panels == 4 else COLUMNS
