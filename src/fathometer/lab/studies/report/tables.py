"""The tables of a study's answer: a row for each combination of factors, columns of figures and how they relate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from statistics import median

from fathometer.base.formatting import common_size, listed, with_unit
from fathometer.lab.studies.asked import Answer, answer_of, merits
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.report.cells import (
    Cell,
    Legend,
    Ratios,
    is_speed,
    ratio_name,
    setting_cell,
    value_cell,
)
from fathometer.lab.studies.report.needed import rounds_needed_in
from fathometer.lab.studies.results import FigureInfo, Results
from fathometer.lab.studies.selection import Block, Key, blocks, label
from fathometer.lab.studies.study_file import AnswerTable

MOST_COLUMNS = 10  # with those of the rows' names: what fits on paper; further ones go into another table


@dataclass(frozen=True)
class Head:
    """Of a column: its name, what it is of, whether it holds numbers, their unit where all have the same."""

    text: str
    below: str = ""
    number: bool = True
    unit: str = ""


@dataclass(frozen=True)
class View:
    """A table as it is shown: as many cells in each row as heads; notes: sentences below it."""

    title: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()


Column = tuple[Head, list[Cell]]


def views(results: Results, answer: Answer | None = None) -> tuple[list[View], Legend]:
    """All tables that the study asks for, and the legend that they share. Raises InputError as `answer_of`."""
    answer = answer or answer_of(results)
    legend, needed = Legend(), rounds_needed_in(results, answer)
    shown: list[View] = []
    for table in answer.tables:
        figures = [results.figures[name] for name in (table.columns or merits(results.figures))]
        made = blocks(results, answer, table)
        ratios = Ratios(results, table, figures, made, legend, needed)
        for block in made:
            shown += _Columns(results, table, figures, block, ratios).views()
    return shown, legend


@dataclass
class _Columns:
    """The columns of one block of a table, put together to views."""

    results: Results
    table: AnswerTable
    figures: Sequence[FigureInfo]
    block: Block
    ratios: Ratios

    def views(self) -> list[View]:
        if self.table.by:
            return self._views_by()
        main: list[Column] = []
        for figure in self.figures:
            main.append(self._values(figure, ()))
            if self.table.relative_to:
                main.append(self._ratios(figure, ()))
        if self.table.best_over:
            head = Head(f"best {', '.join(self.table.best_over)}", self._deciding, number=False)
            main.append((head, [setting_cell(self.block.cell(row)) for row in self.block.rows]))
        shown = self._split("", main, 2 if self.table.relative_to else 1)
        scaling: list[Column] = []
        for figure in self.scaled:
            scaling.append(self._efficiencies(figure, ()))
            if self.table.scaling == "strong":
                scaling.append(self._serial(figure))
        return shown + (self._split("scaling", scaling, 1) if scaling else [])

    def _views_by(self) -> list[View]:
        """Of each figure the values by the factor, then their ratios, then their efficiencies: in one table where that
        is not too wide, else each in its own."""
        columns, shown = self.block.columns, []
        for figure in self.figures:
            parts = {figure.name: [self._values(figure, column) for column in columns]}
            if self.table.relative_to:
                parts[ratio_name(figure)] = [self._ratios(figure, column) for column in columns]
            if figure in self.scaled:
                parts["efficiency"] = [self._efficiencies(figure, column) for column in columns]
            together = [
                (replace(head, below=head.below or ("" if head.unit else name)), cells)
                for name, part in parts.items()
                for head, cells in part
            ]
            if len(together) + len(self._names()) <= MOST_COLUMNS:
                shown += self._split(figure.name, together)
                continue
            for name, part in parts.items():
                shown += self._split(name if name == figure.name else f"{name} of {figure.name}", part)
        return shown

    @cached_property
    def scaled(self) -> list[FigureInfo]:
        """The figures of which efficiency is told: speeds, where a factor of scale is compared and varies."""
        if not self.table.relative_to or self.table.scaling == "none":
            return []
        sizes = {self.ratios.size(self._whole(row, column)) for row in self.block.rows for column in self.block.columns}
        return [figure for figure in self.figures if is_speed(figure)] if sizes - {None, Fraction(1)} else []

    @property
    def _deciding(self) -> str:
        return f"by {self.block.deciding.name}" if self.block.deciding else "no figure has a direction"

    def _whole(self, row: Key, column: Key) -> Key:
        return (*self.block.nested, *row, *column)

    def _values(self, figure: FigureInfo, column: Key) -> Column:
        legend = self.ratios.legend
        cells = []
        size = self._size(figure)
        for row in self.block.rows:
            chosen = self.block.cell(row, column)
            cell = value_cell(chosen, figure, self.results, self.ratios.intervals, legend, size)
            if column and chosen.setting:
                note = "; ".join(part for part in (label(tuple(chosen.setting.items())), cell.note) if part)
                cell = replace(cell, note=note)
            cells.append(cell)
        head = Head(label(column) if column else figure.name)
        units = {cell.unit for cell in cells if cell.kind == "value"}
        if len(units) == 1:
            return replace(head, unit=units.pop().removeprefix("· ")), cells
        return head, [replace(cell, text=with_unit(cell.text, cell.unit), unit="") for cell in cells]

    def _size(self, figure: FigureInfo) -> float | None:
        """By which all values of a figure in this block have one unit."""
        cells = (self.block.cell(row, column) for row in self.block.rows for column in self.block.columns)
        return common_size([median(values) for cell in cells if (values := cell.values(figure.name).values())])

    def _ratios(self, figure: FigureInfo, column: Key) -> Column:
        head = Head(label(column)) if column else Head(ratio_name(figure), figure.name)
        return head, [self.ratios.ratio_cell(self._whole(row, column), figure) for row in self.block.rows]

    def _efficiencies(self, figure: FigureInfo, column: Key) -> Column:
        head = Head(label(column)) if column else Head("efficiency", figure.name)
        return head, [self.ratios.efficiency_cell(self._whole(row, column), figure) for row in self.block.rows]

    def _serial(self, figure: FigureInfo) -> Column:
        cells = [self.ratios.serial_cell(self._whole(row, ()), figure) for row in self.block.rows]
        return Head("serial fraction", figure.name), cells

    def _split(self, what: str, columns: Sequence[Column], group: int = 1) -> list[View]:
        """As many tables as the width of paper asks for, each with the rows' names; a group's columns stay in one."""
        names = self._names()
        each = max(1, (MOST_COLUMNS - len(names)) // group) * group
        parts = -(-len(columns) // each)
        each = -(-len(columns) // parts // group) * group if parts > 1 else each
        shown = []
        for first in range(0, len(columns), each):
            taken = [*names, *columns[first : first + each]]
            title = self._title(what) + (" (continued)" if first else "")
            rows = [list(cells) for cells in zip(*(cells for _, cells in taken), strict=True)]
            shown.append(View(title, [head for head, _ in taken], rows, self._notes()))
        return shown

    def _names(self) -> list[Column]:
        rows = self.block.rows
        if not rows or not rows[0]:
            return [(Head("case", number=False), [Cell("the only case", "name") for _ in rows])]
        return [
            (Head(name, number=False), [Cell(text_of(row[place][1]), "name") for row in rows])
            for place, (name, _) in enumerate(rows[0])
        ]

    def _title(self, what: str) -> str:
        rows = [name for name, _ in self.block.rows[0]] if self.block.rows else []
        rows += [self.table.by] if self.table.by else []
        title = self.table.title or (f"By {listed(rows)}" if rows else "The case")
        title += f": {label(self.block.nested)}" if self.block.nested else ""
        return f"{title}: {what}" if what else title

    def _notes(self) -> list[str]:
        if not self.table.relative_to:
            return []
        return [f"Relative to {label(tuple(self.table.relative_to.items()))}, within rounds."]
