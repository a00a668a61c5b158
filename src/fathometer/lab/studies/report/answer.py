"""What a study says, in sentences made from its numbers: which choice is the best, and by how much.

The best of several choices is told from the others by the sign test of their ratios within rounds. Which one is the
best is seen only afterwards, so that the level is corrected for all pairs of choices, not only for those with the best.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fathometer.base.formatting import (
    counted,
    listed,
    ratio_text,
    spread_text,
    value_text,
    with_unit,
)
from fathometer.lab.statistics.differences import Difference, level_of_best, rounds_needed
from fathometer.lab.statistics.ratios import ByRound, ratios_by_round
from fathometer.lab.studies.asked import Answer, answer_of, cases_of, merits, names_of
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.levels import Intervals, intervals_of
from fathometer.lab.studies.report.cells import is_speed
from fathometer.lab.studies.report.needed import rounds_needed_in
from fathometer.lab.studies.results import MEASURED, CaseRuns, FigureInfo, Results, is_exact
from fathometer.lab.studies.selection import Block, Chosen, Key, blocks, label
from fathometer.lab.studies.study_file import AnswerTable

MOST_NAMED = 4  # choices that a sentence names


def answer_sentence(results: Results, answer: Answer | None = None) -> str:
    """The answer in a sentence, or in one for each combination of the nested factors.

    Raises InputError as `answer_of`.
    """
    answer = answer or answer_of(results)
    table, needed = answer.tables[0], rounds_needed_in(results, answer)
    if table.apart:
        rows = tuple(name for name in names_of(table.rows) if name not in table.apart)
        table = table.model_copy(update={"rows": rows})
        answer = replace(answer, nested=(*answer.nested, *table.apart))
    made = blocks(results, answer, table)
    figure = made[0].deciding if made else None
    if figure is None:
        name = (list(table.columns) or merits(results.figures) or ["figure"])[0]
        info = results.figures.get(name)
        return _not_compared(results, info)
    intervals = intervals_of(results)
    sentences = [_best(results, table, block, figure, intervals, needed) for block in made]
    effects = factor_effects(results, table, figure, intervals, needed)
    if effects and len(sentences) == 1:
        return sentences[0].removesuffix(".") + "; " + "; ".join(effects) + "."
    return " ".join(sentences + [f"{_capital(effect)}." for effect in effects])


@dataclass(frozen=True)
class _Choice:
    key: Key
    chosen: Chosen
    values: Mapping[int, float]
    median: float

    @property
    def failed(self) -> str:
        """How many of its runs failed, in words; "" where none did."""
        return failures(self.chosen)


def failures(chosen: Chosen) -> str:
    """How many runs of a cell's case, or of all its settings, failed, in words; "" where none did."""
    cases = [chosen.case] if chosen.case is not None else chosen.candidates
    runs = [run for case in cases for run in case.runs if run.kind == chosen.kind]
    failed = sum(bool(run.failed) for run in runs)
    if failed == len(runs) > 0:
        return f"all {len(runs)} runs failed" if len(runs) > 1 else "the only run failed"
    return f"{failed} of {len(runs)} runs failed" if failed else ""


def _best(results: Results, table: AnswerTable, block: Block, figure: FigureInfo, made: Intervals, needed: int) -> str:
    sign = 1.0 if figure.direction == "lower" else -1.0
    choices = []
    places = list(itertools.product(block.rows, block.columns))
    for row, column in places:
        chosen = block.cell(row, column)
        if values := chosen.values(figure.name):
            key = (*row, *column)
            choices.append(_Choice(key, chosen, values, made.of(values).median))
    where = f"With {label(block.nested)}, " if block.nested else ""
    if not choices:
        return _capital(f"{where}{_nothing(results)}")
    ranked = sorted(choices, key=lambda choice: sign * choice.median)
    best, others = ranked[0], ranked[1:]
    rest = _without(block, places, choices)
    if not others:
        return _whole(f"{where}{figure.name} is {_spread(best, figure, made)}: {_named(best)}.", ranked, rest)
    if is_exact(figure, *(list(choice.values.values()) for choice in ranked)):
        return _whole(f"{where}{_exactly(ranked, figure)}", ranked, rest)
    found = _against(best, others, figure, made)
    same = [choice for choice in others if not _differs(found, choice)]
    if len(same) == len(others):
        return _whole(f"{where}{_no_difference(ranked, figure, found, needed, made.level)}", ranked, rest)
    names = listed([_named(choice) for choice in (best, *same)], MOST_NAMED)
    of = f"of {len(choices)} choices"
    if same:
        text = f"{names} are {_superlative(figure, True)} {of}, and do not differ beyond noise"
    else:
        text = f"{names} is {_superlative(figure, False)} {of}"
    reference = _reference(table, ranked, same)
    against = made.ratio(*_orient(*_same_kind(best, reference, figure), figure))
    if against is None:
        return _whole(f"{where}{text}: {_spread(best, figure, made)}.", ranked, rest)
    number, ends = ratio_text(against.median, against.low, against.high)
    number += f" ({ends})" if against.reaches(made.level) else ""
    subject = f"{label(best.key)} is " if same else ""
    how = "times as fast as" if is_speed(figure) else "times that of"
    return _whole(f"{where}{text}: {subject}{number} {how} {_named(reference)}.", ranked, rest)


def _whole(text: str, ranked: Sequence[_Choice], rest: str) -> str:
    """The sentence, with the failures of those that it does not name."""
    unnamed = [
        f"{label(choice.key)} ({choice.failed})" for choice in ranked if choice.failed and _named(choice) not in text
    ]
    failed = f" Not all runs succeeded of {listed(unnamed, MOST_NAMED)}." if unnamed else ""
    return _capital(f"{text}{failed}{rest}")


def _without(block: Block, places: Sequence[tuple[Key, Key]], choices: Sequence[_Choice]) -> str:
    """The choices that have no value, and why: they are no slower ones."""
    there = {choice.key for choice in choices}
    found = []
    for row, column in places:
        chosen = block.cell(row, column)
        if chosen.candidates and (*row, *column) not in there:
            found.append(f"{label((*row, *column))} ({failures(chosen) or 'not run yet'})")
    if not found:
        return ""
    return f" No value {'has' if len(found) == 1 else 'have'} {listed(found, MOST_NAMED)}."


def _exactly(ranked: Sequence[_Choice], figure: FigureInfo) -> str:
    """What counts say that came out the same every time: compared as they are, without an interval."""
    count, least = len(ranked), ranked[0].median
    first = value_text(least, figure.unit)
    rounds = f"the same in all {min(len(choice.values) for choice in ranked)} rounds"
    equal = [choice for choice in ranked if choice.median == least]
    if len(equal) == count:
        return f"the {count} choices have the same {figure.name}: {first}, {rounds}."
    names = listed([_named(choice) for choice in equal], MOST_NAMED)
    verb = "are" if len(equal) > 1 else "is"
    others = sorted({choice.median for choice in ranked[len(equal) :]})
    rest = " to ".join(value_text(value, figure.unit) for value in dict.fromkeys((others[0], others[-1])))
    return (
        f"{names} {verb} {_superlative(figure, len(equal) > 1)} of {count} choices: {first} against {rest}, {rounds}."
    )


def _against(best: _Choice, others: Sequence[_Choice], figure: FigureInfo, made: Intervals) -> dict[Key, Difference]:
    """The best against each other one, corrected for all pairs."""
    ratios = {
        choice.key: found
        for choice in others
        if (found := ratios_by_round(*_orient(*_same_kind(best, choice, figure), figure)))
    }
    return made.differences(ratios, level_of_best(made.level, len(others))) if ratios else {}


def _differs(found: Mapping[Key, Difference], choice: _Choice) -> bool:
    return choice.key in found and found[choice.key].differs


def _same_kind(best: _Choice, other: _Choice, figure: FigureInfo) -> tuple[ByRound, ByRound]:
    """Values that are of the same rounds: of the runs of winners only where both have them."""
    if best.chosen.kind != other.chosen.kind and best.chosen.case is not None and other.chosen.case is not None:
        return best.chosen.case.values(figure.name), other.chosen.case.values(figure.name)
    return best.values, other.values


def _reference(table: AnswerTable, ranked: Sequence[_Choice], same: Sequence[_Choice]) -> _Choice:
    """What the best one is compared with: the row of relative_to where there is one that differs, else the last one."""
    wanted = tuple((name, table.relative_to.get(name, value)) for name, value in ranked[0].key)
    equal = {choice.key for choice in same}
    base = [choice for choice in ranked[1:] if choice.key == wanted and choice.key not in equal]
    return base[0] if base else ranked[-1]


def _no_difference(
    ranked: Sequence[_Choice], figure: FigureInfo, found: Mapping[Key, Difference], needed: int, level: float
) -> str:
    count = len(ranked)
    rounds = max((difference.corrected.count for difference in found.values()), default=0)
    ends = (
        f"{figure.name} is {value_text(ranked[0].median, figure.unit)} to {value_text(ranked[-1].median, figure.unit)}"
    )
    if any(value <= 0 for choice in ranked for value in choice.values.values()):
        return f"the choices are not compared, because ratios need values above zero: {ends}."
    if rounds < rounds_needed(count * (count - 1) // 2, level):
        return (
            f"{counted(rounds, 'round')} in common cannot tell {count} choices apart, for which {needed} are needed: "
            f"{ends}."
        )
    if found and not any(difference.could_differ for difference in found.values()):
        return f"sessions, or rounds that depend on each other, differ too much to tell {count} choices apart: {ends}."
    return f"the {count} choices do not differ beyond noise: {ends}."


def factor_effects(
    results: Results, table: AnswerTable, figure: FigureInfo, made: Intervals, needed: int, among: Key = ()
) -> list[str]:
    """What the factors of best_over do, each on average over all else. among: settings of the cases that count."""
    found: dict[tuple[str, int, int], dict[int, float]] = {}
    values_of: dict[str, list[object]] = {}
    for name in table.best_over:
        values = list(
            dict.fromkeys(results.cases[case].case.settings[name] for case in cases_of(results, table.design))
        )
        values_of[name] = list(values)
        for (a, first), (b, second) in itertools.combinations(enumerate(values), 2):
            if effect := _effect(results, table, figure, name, first, second, among):
                found[name, a, b] = effect
    if not found:
        return []
    known = made.differences(found)
    return [
        sentence
        for name in table.best_over
        if (
            sentence := _factor(
                name, values_of[name], {k[1:]: v for k, v in known.items() if k[0] == name}, found, figure, made, needed
            )
        )
    ]


def _effect(
    results: Results, table: AnswerTable, figure: FigureInfo, name: str, first: object, second: object, among: Key
) -> dict[int, float]:
    """Of each round the geometric mean, over cases that are alike in all else, of the second's ratio to the first."""
    alike: dict[str, dict[object, CaseRuns]] = {}
    for case in cases_of(results, table.design):
        settings = dict(results.cases[case].case.settings)
        value = settings.pop(name)
        if value in (first, second) and all(settings.get(key) == wanted for key, wanted in among):
            alike.setdefault(repr(settings), {})[value] = results.cases[case]
    logarithms: dict[int, list[float]] = {}
    for pair in alike.values():
        if len(pair) == 2:
            one, other = pair[first].values(figure.name), pair[second].values(figure.name)
            for number in one.keys() & other.keys():
                if one[number] > 0 and other[number] > 0:
                    logarithms.setdefault(number, []).append(math.log(other[number] / one[number]))
    most = max(map(len, logarithms.values()), default=0)
    # A round in which some of the pairs failed would be an average over other cases.
    return {n: math.exp(sum(all_) / len(all_)) for n, all_ in sorted(logarithms.items()) if len(all_) == most}


def _factor(
    name: str,
    values: Sequence[object],
    known: Mapping[tuple[int, int], Difference],
    found: Mapping[tuple[str, int, int], ByRound],
    figure: FigureInfo,
    made: Intervals,
    needed: int,
) -> str:
    """What one factor does, in words."""
    if not known:
        return ""
    texts = [text_of(value) for value in values]  # type: ignore[arg-type]
    different = {pair: difference for pair, difference in known.items() if difference.differs}
    if not different:
        if not any(difference.could_differ for difference in known.values()):
            one = next(iter(known.values()))
            if one.corrected.count >= one.rounds_needed:
                return f"{name}: sessions, or rounds that depend on each other, leave {listed(texts)} untold apart"
            return f"{name}: too few rounds to tell {listed(texts)} apart ({needed} are needed)"
        return f"{name} {listed(texts)} do not differ beyond noise"
    (a, b), _ = max(different.items(), key=lambda item: abs(math.log(item[1].corrected.median)))
    estimate = made.of_ratios(found[name, a, b])
    speed = is_speed(figure)
    if speed and figure.direction == "lower":  # times: the first over the second is the second's speed
        estimate = estimate.mapped(lambda value: 1 / value)
    more, less = (b, a) if estimate.median > 1 else (a, b)
    if estimate.median < 1:
        estimate = estimate.mapped(lambda value: 1 / value)
    number, ends = ratio_text(estimate.median, estimate.low, estimate.high)
    number += f" ({ends})" if estimate.reaches(made.level) else ""
    how = "times as fast as" if speed else f"times the {figure.name} of"
    verb = "is" if speed else "has"
    others = len(known) - len(different)
    pairs = len(values) * (len(values) - 1) // 2
    compared = (
        "pairs differ" if len(known) == pairs else f"pairs differ; the other {pairs - len(known)} have no cases alike"
    )
    rest = "" if len(values) == 2 else f" ({len(different)} of {len(different) + others} {compared})"
    return f"on average over all else, {name} {texts[more]} {verb} {number} {how} {texts[less]}{rest}"


def _not_compared(results: Results, figure: FigureInfo | None) -> str:
    if figure is None:
        return _capital(_nothing(results))
    values = [value for case in results.cases.values() for value in case.values(figure.name).values()]
    if not values:
        return _capital(_nothing(results))
    return (
        f"Of {figure.name}, neither higher nor lower values are better: they are "
        f"{value_text(min(values), figure.unit)} to {value_text(max(values), figure.unit)}."
    )


def _nothing(results: Results) -> str:
    runs = [run for case in results.cases.values() for run in case.runs if run.kind == MEASURED]
    if not runs:
        return "nothing has been measured yet." if not results.ended else "nothing was measured."
    if all(run.failed for run in runs):
        return f"no run has succeeded: all {len(runs)} failed." if len(runs) > 1 else "the only run failed."
    return "no run has left the figure that is asked for."


def _orient(values: ByRound, base: ByRound, figure: FigureInfo) -> tuple[ByRound, ByRound]:
    """Numerator and denominator of a ratio that is above 1 where a speed is better."""
    return (base, values) if is_speed(figure) and figure.direction == "lower" else (values, base)


def _superlative(figure: FigureInfo, several: bool) -> str:
    if is_speed(figure):
        return "the fastest"
    return f"{'those with' if several else 'the one with'} the {figure.direction.replace('er', 'est')} {figure.name}"


def _named(choice: _Choice) -> str:
    setting = ", ".join(f"{name} {text_of(value)}" for name, value in choice.chosen.setting.items())
    name = label(choice.key)
    beside = "; ".join(text for text in (setting, choice.failed) if text)
    return f"{name} ({beside})" if beside else name


def _spread(choice: _Choice, figure: FigureInfo, made: Intervals) -> str:
    estimate = made.of(choice.values)
    number, ends, unit = spread_text(estimate.median, estimate.low, estimate.high, figure.unit)
    text = with_unit(number, unit)
    return f"{text} ({ends})" if estimate.reaches(made.level) else f"{text} ({counted(estimate.count, 'run')})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
