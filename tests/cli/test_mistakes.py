"""Mistakes that newcomers make, over all commands: one line says the thing, its place, what was found, what is allowed
and what to do; nothing is computed, and nothing half-written stays.

Each was made with the real command, and its line judged by whether somebody who has never seen the program can go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, inputs, nothing_left, run, survey, velocity

from fathometer.apps.atmosphere.cases import demo_text as atmosphere
from fathometer.apps.flow.demo import demo_text as flow
from fathometer.apps.ocean.cases import demo_text as ocean
from fathometer.apps.plasma.cases import demo_text as plasma
from fathometer.apps.reactive.demo import demo_text as reactive

Prepare = Callable[[Path], Any]
FARM = '[[tasks]]\nkind = "lines"\nfile = "lines.txt"\ncommand = ["echo", "{}"]\n'
WATER_ON_TOP = np.where(np.arange(40)[:, None] < 10, 1500.0, 2000.0) * np.ones((40, 40))


@dataclass(frozen=True)
class Mistake:
    """What somebody writes, and what the line must say.

    Attributes:
        words: of the command. prepare: changes the files beside it. names: the thing and its place. found, allowed: as
            far as the line says them. todo: what to do, or what was meant.
    """

    name: str
    words: str
    names: str
    found: str
    allowed: str
    todo: str = ""
    prepare: Prepare = lambda folder: None

    def told(self) -> list[str]:
        """The texts that the line must have."""
        return [text for text in (self.names, self.found, self.allowed, self.todo) if text]


def edit(name: str, old: str, new: str) -> Prepare:
    """Another text in a file."""

    def prepare(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text, (name, old)
        (folder / name).write_text(text.replace(old, new, 1))

    return prepare


def text(name: str, contents: str) -> Prepare:
    return lambda folder: (folder / name).write_text(contents)


def array(name: str, values: np.ndarray) -> Prepare:
    return lambda folder: np.save(folder / name, values)


def all_of(*prepares: Prepare) -> Prepare:
    return lambda folder: [prepare(folder) for prepare in prepares]


def in_survey(old: str, new: str) -> Prepare:
    return edit("survey.toml", old, new)


def in_model(key: str) -> Prepare:
    return in_survey("[model]", f"[model]\n{key}")


def in_propagation(key: str) -> Prepare:
    return in_survey("[propagation]", f"[propagation]\n{key}")


SOURCES = "sources = {x = 200.0, z = 20.0}"
FROM_TABLE = in_survey(SOURCES, 'sources = "s.csv"')

COMMANDS = [
    Mistake("a letter too few", "migrat image.toml", "COMMAND", "'migrat'", "choose from", "did you mean migrate?"),
    Mistake("American", "modeling survey.toml", "COMMAND", "'modeling'", "choose from", "did you mean model?"),
    Mistake("words turned", "time-migrate image.toml", "COMMAND", "'time-migrate'", "", "did you mean migrate-time?"),
    Mistake("underscore", "migrate_time image.toml", "COMMAND", "'migrate_time'", "", "did you mean migrate-time?"),
    Mistake("another program's word", "rtm image.toml", "COMMAND", "'rtm'", "choose from", "did you mean migrate?"),
    Mistake("action as command", "compare a b", "COMMAND", "'compare'", "choose from", "did you mean study compare?"),
    Mistake("no action", "survey", "ACTION", "required", "allowed: build, wavelet", "see fathometer survey --help"),
    Mistake("action misspelt", "survey bulid x.segy", "ACTION", "'bulid'", "build, wavelet", "did you mean build?"),
    Mistake("no input file", "model", "SURVEY.toml", "required", "", "see fathometer model --help"),
    Mistake("no file and no demo", "ocean", "OCEAN.toml, --demo", "found neither", "needed: one of them"),
    Mistake("option misspelt", "migrate image.toml --overwite", "unrecognized", "--overwite", "", "--overwrite?"),
    Mistake("option's value", "model survey.toml --bind core", "--bind", "'core'", "cores, none",
            "did you mean cores?"),
    Mistake("no ranks", "model survey.toml --ranks 0", "--ranks 0", "0", "at least 1"),
    Mistake("ranks in words", "model survey.toml --ranks two", "--ranks", "found two", "a whole number of at least 1"),
    Mistake("far too many ranks", "ocean ocean.toml --ranks 1000", "--ranks 1000", "1000", "at most", "use more hosts"),
    Mistake("both of two", "migrate image.toml --resume --overwrite", "--overwrite", "--resume",
            "allowed: one of them"),
    Mistake("--set without value", "model survey.toml --set propagation.dt", "--set", "found propagation.dt",
            "allowed: KEY=VALUE", "such as history.store=disk"),
    Mistake("--set misspelt", "model survey.toml --set propagation.durations=1", "survey.toml: [propagation] durations",
            "unknown key", "", "did you mean duration?"),
    Mistake("a form", "study run --form scalling survey.toml", "--form", "found scalling", "allowed: ", "scaling?"),
    Mistake("a case", "ocean o.toml --write-case one_degree", "--write-case", "'one_degree'", "one-degree, double-gyre",
            "did you mean one-degree?"),
    Mistake("a pattern", "messages --pattern pingping", "--pattern", "found pingping", "allowed", "pingpong?"),
    Mistake("a format", "io . --format rfs", "--format", "rfs", "allowed: all, rsf", "did you mean rsf?"),
    Mistake("time in words", "submit survey.toml --time 8hours", "--time", "found 8hours",
            "allowed: a time such as 30m"),
]  # fmt: skip

FILES = [
    Mistake("file name misspelt", "model surveys.toml", "surveys.toml", "no such file", "the survey file",
            "did you mean survey.toml?"),
    Mistake("data as input file", "migrate recorded.segy", "recorded.segy", "not text", "needed: the survey file",
            "`fathometer info recorded.segy`"),
    Mistake("input of another command", "migrate ocean.toml", "ocean.toml", "`fathometer ocean`", "[acquisition]"),
    Mistake("survey as an ocean", "ocean survey.toml", "survey.toml", "`fathometer model`", "[bathymetry]"),
    Mistake("ocean as a flow", "flow ocean.toml", "ocean.toml", "`fathometer ocean`", "[fluid]"),
    Mistake("survey as a study", "study run survey.toml", "survey.toml", "no study", "needed: a study file",
            "fathometer study run --form scaling survey.toml"),
    Mistake("nothing to migrate", "migrate survey.toml", "survey.toml: [acquisition] gathers", "missing", "SEG-Y",
            "`fathometer model` makes them"),
    Mistake("model misspelt", "model survey.toml", "survey.toml: [model] vp", "no such file", "", "vp.npy?",
            in_survey("vp.npy", "vpp.npy")),
    Mistake("lines misspelt", "farm farm.toml", "farm.toml: [[tasks]]", "no file", "needed: one that can be read",
            "lines.txt?", edit("farm.toml", "lines.txt", "line.txt")),
    Mistake("no such depths", "ocean ocean.toml", "ocean.toml: [bathymetry] file", "depth.npy: no such file", "",
            "did you mean depths.npy?", all_of(array("depths.npy", np.ones((48, 32))),
            edit("ocean.toml", 'kind = "ridge"\nheight = 1000.0', 'kind = "file"\nfile = "depth.npy"'))),
    Mistake("an empty file", "info e.npy", "e.npy", "is empty: 0 bytes", "needed: a file with its contents", "",
            text("e.npy", "")),
    Mistake("unknown kind", "info notes.xyz", "notes.xyz", "unknown kind of file", "velocity picks .txt .csv", "",
            text("notes.xyz", "hello")),
    Mistake("info of an input file", "info survey.toml", "survey.toml", "unknown kind", ".segy", "`fathometer plan`"),
    Mistake("info of a record", "info run.json", "run.json", "unknown kind", ".segy", "`fathometer report`",
            text("run.json", "{}")),
    Mistake("info of a folder", "info .", ".: unknown kind", "folder", ".segy", "name a file in it"),
    Mistake("numbers without header", "model survey.toml", "[model] vp: ", "vp.bin: unknown kind", "allowed: .rsf",
            "n1=… n2=…", all_of(in_survey("vp.npy", "vp.bin"), lambda folder: velocity().tofile(folder / "vp.bin"))),
    Mistake("model as gathers", "migrate image.toml", "image.toml: [acquisition] gathers", "vp.npy: is NPY",
            "allowed: gathers in SEG-Y or SU", "", edit("image.toml", "recorded.segy", "vp.npy")),
    Mistake("gathers as model", "migrate image.toml", "image.toml: [model] vp", "holds gathers", "not a volume",
            "recorded.segy:volume", edit("image.toml", "vp.npy", "recorded.segy")),
    Mistake("cut off", "migrate image.toml", "[acquisition] gathers: ", "truncated", "no whole number", "copy it again",
            lambda folder: (folder / "recorded.segy").write_bytes((folder / "recorded.segy").read_bytes()[:-100])),
    Mistake("header without values", "model survey.toml", "[model] vp: ", "vp.rsf@: no such file", "",
            "names it as the file of its values", all_of(in_survey("vp.npy", "vp.rsf"),
            text("vp.rsf", "n1=30\nn2=40\nin=vp.rsf@\n"))),
    Mistake("no key of several", "info m.npz", "m.npz", "needs a key", "it holds: vp, vs", "as in m.npz:key",
            lambda folder: np.savez(folder / "m.npz", vp=velocity(), vs=velocity())),
    Mistake("key misspelt", "info m.npz:vpp", "m.npz:vpp", "no such array", "it holds: vp, vs", "did you mean vp?",
            lambda folder: np.savez(folder / "m.npz", vp=velocity(), vs=velocity())),
    Mistake("a column missing", "model survey.toml", "[acquisition] sources: ", "s.csv: column z: missing",
            "allowed: z, or depth", "", all_of(FROM_TABLE, text("s.csv", "x,y\n1,2\n"))),
    Mistake("words in a column", "model survey.toml", "s.csv: column z", "found 'two' in row 1", "allowed: numbers", "",
            all_of(FROM_TABLE, text("s.csv", "x,z\n1,two\n"))),
    Mistake("a spreadsheet", "model survey.toml", "[acquisition] sources: ", "s.xlsx", ".csv", "",
            all_of(in_survey(SOURCES, 'sources = "s.xlsx"'), text("s.xlsx", "PK"))),
    Mistake("no record", "report out", "out", "no such file", ""),
    Mistake("no record in a file", "report survey.toml", "survey.toml", "no record", "allowed: a run.json"),
    Mistake("no folder to test", "io nowhere", "nowhere", "no such folder", "allowed: one that can be written to"),
    Mistake("a file for a folder", "model survey.toml", "vp.npy: cannot make the output directory", "file exists",
            "[output] directory", "can be made and written to",
            edit("survey.toml", "[model]", '[output]\ndirectory = "vp.npy"\n\n[model]')),
    Mistake("a folder that cannot be", "model survey.toml", "/proc/x: cannot make the output directory",
            "no such file", "[output] directory", "", in_survey("[model]",
            '[output]\ndirectory = "/proc/x"\n\n[model]')),
    Mistake("onto its input", "prepare vp.npy -o vp.npy --smooth 60 --input-spacing 10", "vp.npy", "would replace",
            "allowed: another name"),
    Mistake("suffix of a result", "prepare vp.npy -o s.dat --smooth 60 --input-spacing 10", "s.dat", ".dat", ".rsf"),
    Mistake("no program", "farm farm.toml", "farm.toml: [[tasks]] command", 'no program "ecoh"',
            "that is installed", "",
            edit("farm.toml", "echo", "ecoh")),
]  # fmt: skip

KEYS = [
    Mistake("key misspelt", "model survey.toml", "survey.toml: [model] spaceing", "unknown key", "",
            "did you mean spacing?", in_survey("spacing", "spaceing")),
    Mistake("key of another program", "model survey.toml", "survey.toml: [model] dx", "unknown key", "",
            "did you mean spacing?", in_survey("spacing = [10.0, 10.0]", "dx = 10.0")),
    Mistake("short key", "model survey.toml", "[wavelet] f0", "unknown key", "", "did you mean peak_frequency?",
            in_survey("peak_frequency", "f0")),
    Mistake("singular", "model survey.toml", "[acquisition] receiver", "unknown key", "", "did you mean receivers?",
            in_survey("receivers", "receiver")),
    Mistake("section misspelt", "model survey.toml", "survey.toml: [wavelets]", "unknown section", "", "[wavelet]?",
            in_survey("[wavelet]", "[wavelets]")),
    Mistake("American key", "ocean ocean.toml", "ocean.toml: [initial] surface_height.center", "unknown key", "",
            "did you mean centre?", edit("ocean.toml", "salinity = 35.0", "salinity = 35.0\nsurface_height = {kind = "
            '"gaussian", amplitude = 1.0, center = [1.0, 1.0], radius = 10.0}')),
    Mistake("American value", "migrate image.toml", "[imaging] condition", 'found "source-normalized"', "allowed",
            'did you mean "source-normalised"?', edit("image.toml", "[model]",
            '[imaging]\ncondition = "source-normalized"\n\n[model]')),
    Mistake("capitals", "model survey.toml", "[wavelet] kind", 'found "Ricker"', "allowed", 'did you mean "ricker"?',
            in_survey('"ricker"', '"Ricker"')),
    Mistake("a kind that is a table", "model survey.toml", "[propagation] boundary", 'found "pml"', 'allowed: "auto"',
            'did you mean {kind = "pml"}?', in_survey('{kind = "pml", width = 10}', '"pml"')),
    Mistake("a table of a list", "reactive reactive.toml", "reactive.toml: [initial]", "found {", "a list of tables",
            "[[initial]]", edit("reactive.toml", "[[initial]]", "[initial]")),
    Mistake("no quotes", "model survey.toml", "survey.toml", "line 2", "not valid TOML", "a text stands in quotes",
            in_survey('"vp.npy"', "vp.npy")),
    Mistake("a comma", "model survey.toml", "survey.toml", "duration = 0,2", "not valid TOML", "a decimal point",
            in_survey("duration = 0.2", "duration = 0,2")),
    Mistake("a section twice", "model survey.toml", "survey.toml", "[model]", "not valid TOML", "stands once",
            in_survey("[wavelet]", '[model]\nvp = "vp.npy"\n\n[wavelet]')),
    Mistake("a unit", "model survey.toml", "[propagation] duration", 'found "0.2 s"', "allowed: a number",
            "without quotes and unit", in_survey("duration = 0.2", 'duration = "0.2 s"')),
    Mistake("species", "reactive reactive.toml", "reactive.toml: [chemistry]", 'found "Ca++"', "", "did you mean Ca+2?",
            edit("reactive.toml", '"Ca+2", "H+"', '"Ca++", "H+"')),
    Mistake("water", "reactive reactive.toml", "[[boundary]] 1 water", 'found "acis"', "allowed: resident, acid",
            "did you mean acid?", edit("reactive.toml", 'water = "acid"\nhead', 'water = "acis"\nhead')),
    Mistake("flow's beginning", "flow flow.toml", "flow.toml: [initial] kind", 'found "taylor_green"', "allowed",
            'did you mean "taylor-green"?', edit("flow.toml", "taylor-green", "taylor_green")),
    Mistake("plasma's modes", "plasma plasma.toml", "plasma.toml: [modes] kind", 'found "boxes"', "allowed",
            'did you mean "box"?', edit("plasma.toml", 'kind = "box"', 'kind = "boxes"')),
    Mistake("levels", "atmosphere atmosphere.toml", "atmosphere.toml: [levels] table", 'found "cam30"',
            'allowed: "cam26"', 'did you mean "cam26"?', edit("atmosphere.toml", "cam26", "cam30")),
    Mistake("fields", "ocean ocean.toml", "ocean.toml: [output] fields", "'velocities'", "allowed: a list of",
            'did you mean "velocity"?', edit("ocean.toml", '"velocity", "height"', '"velocities", "height"')),
    Mistake("a place in braces", "farm farm.toml", "[[tasks]] 1 command", 'found "{line}"', "allowed: {}", "",
            edit("farm.toml", "{}", "{line}")),
    Mistake("a command as text", "farm farm.toml", "[[tasks]] 1 command", 'found "echo {}"', "a list of words", "",
            edit("farm.toml", '["echo", "{}"]', '"echo {}"')),
]  # fmt: skip

VALUES = [
    Mistake("km/s", "model survey.toml", "[model] vp (vp.npy)", "from 2 to 2.5 m/s", "300 to 9000 m/s",
            'as "km/s" they are 2000 to 2500 m/s', array("vp.npy", velocity() / 1000)),
    Mistake("ft/s", "model survey.toml", "[model] vp (vp.npy)", "m/s when read as m/s", "300 to 9000 m/s",
            'as "ft/s" they are', array("vp.npy", velocity() * 5)),
    Mistake("spacing in km", "model survey.toml", "[acquisition]", "outside the model", "(0.39, 0, 0.29) m",
            "1000 times as large: are its spacing and origin in m?", in_survey("[10.0, 10.0]", "[0.01, 0.01]")),
    Mistake("negative spacing", "model survey.toml", "[model] spacing", "found [-10.0, 10.0]", "from 1e-09", "",
            in_survey("[10.0, 10.0]", "[-10.0, 10.0]")),
    Mistake("one spacing", "model survey.toml", "[model] spacing", "found 10.0", "allowed: a list of", "",
            in_survey("[10.0, 10.0]", "10.0")),
    Mistake("no spacing", "model survey.toml", "[model] spacing", "missing", "m, for x, z", "",
            in_survey("spacing = [10.0, 10.0]\n", "")),
    Mistake("depth upward", "model survey.toml", "the source of shot 1", "(200, 0, -20) m", "allowed: from (0, 0, 0)",
            "depths are positive downward", all_of(in_survey(SOURCES, "sources = {x = 200.0, z = -20.0}"),
            in_survey("10.0], z = 20.0}", "10.0], z = -20.0}"))),
    Mistake("source outside", "model survey.toml", "the source of shot 1", "(2000, 0, 20) m", "to (390, 0, 290) m",
            "`fathometer prepare --extend`", in_survey("sources = {x = 200.0", "sources = {x = 2000.0")),
    Mistake("z first, water", "model survey.toml", "[model] axes", "all water", 'needed: axes = "zx"', "",
            array("vp.npy", WATER_ON_TOP)),
    Mistake("z first, by places", "model survey.toml", "[acquisition]", "outside the model", "(290, 0, 390) m",
            '[model] axes = "zx"', array("vp.npy", velocity().T)),
    Mistake("NaN", "model survey.toml", "[model] vp (vp.npy)", "NaN or infinity in 600 of 1200 cells", "finite numbers",
            "", array("vp.npy", np.where(velocity() > 2100, np.nan, velocity()))),
    Mistake("complex", "model survey.toml", "[model] vp: vp.npy", "complex128", "allowed: floats and integers", "",
            array("vp.npy", velocity().astype(complex))),
    Mistake("four axes", "model survey.toml", "[model] vp: vp.npy", "4 dimensions", "2 or 3 are allowed", "",
            array("vp.npy", velocity()[None, None])),
    Mistake("percent", "model survey.toml", "[model] epsilon", "found 20.0", "a fraction", "",
            in_model("epsilon = 20.0")),
    Mistake("milliseconds", "model survey.toml", "[propagation] duration", "found 2000 s", "at most 32767",
            "is the duration in s?", in_survey("duration = 0.2", "duration = 2000.0")),
    Mistake("interval in ms", "model survey.toml", "[acquisition] sample_interval", "found 4.0",
            "whole microseconds", "",
            in_survey("[acquisition]", "[acquisition]\nsample_interval = 4.0")),
    Mistake("too long a step", "model survey.toml", "[propagation] dt", "found 0.01 s", "allowed: up to 0.00", '"auto"',
            in_propagation("dt = 0.01")),
    Mistake("too high a frequency", "model survey.toml", "[wavelet]", "cells per shortest wavelength",
            "at least 2.5", "a peak_frequency of", in_survey("15.0", "150.0")),
    Mistake("odd order", "model survey.toml", "[propagation] order", "found 7", "an even integer from 2 to 16", "",
            in_propagation("order = 7")),
    Mistake("count for step", "model survey.toml", "receivers.x", "found [0, 390, 40]", "does not divide", "360 or 400",
            in_survey("390.0, 10.0]", "390.0, 40]")),
    Mistake("a list of places", "model survey.toml", "receivers.x", "found [0.0, 10.0, 20.0, 30.0]",
            "[first, last, step]", "", in_survey("[0.0, 390.0, 10.0]", "[0.0, 10.0, 20.0, 30.0]")),
    Mistake("ranks that are not there", "model survey.toml", "[parallel] decomposition", "is for 8 ranks, but 1 is",
            "allowed: --ranks 8", '"auto"', in_survey("[model]", "[parallel]\ndecomposition = [8, 1]\n\n[model]")),
    Mistake("mute in km/s", "migrate image.toml", "[acquisition] mute.velocity", "found 1.5", "100 to 20000 (m/s)", "",
            edit("image.toml", "[acquisition]", "[acquisition]\nmute = {velocity = 1.5}")),
    Mistake("an ocean in km", "ocean ocean.toml", "[grid] levels: top", "found 60", "allowed: up to", "depth, 3 m",
            edit("ocean.toml", "depth = 3000.0", "depth = 3.0")),
    Mistake("an ocean's step", "ocean ocean.toml", "[time] step", "found 72000 s", "allowed: up to", "",
            edit("ocean.toml", "step = 7200.0", "step = 72000.0")),
    Mistake("kelvin", "ocean ocean.toml", "[initial] temperature", "found 2", "from -60 to 150 °C", "",
            edit("ocean.toml", "south = 22.0, north = 8.0", "south = 295.0, north = 281.0")),
    Mistake("heights", "ocean ocean.toml", "[bathymetry] file", "found -100", "positive down", 'positive = "up"',
            all_of(array("d.npy", np.full((48, 32), -100.0)),
            edit("ocean.toml", 'kind = "ridge"\nheight = 1000.0', 'kind = "file"\nfile = "d.npy"'))),
    Mistake("depths turned", "ocean ocean.toml", "[bathymetry] file: d.npy", "found 32 x 48", "needed: 48 x 32 (x, y)",
            "axes for another order", all_of(array("d.npy", np.full((32, 48), 100.0)),
            edit("ocean.toml", 'kind = "ridge"\nheight = 1000.0', 'kind = "file"\nfile = "d.npy"'))),
    Mistake("porosity in percent", "reactive reactive.toml", "[medium] porosity", "found 25", "from 1e-06 to 1", "",
            edit("reactive.toml", "porosity = 0.25", "porosity = 25")),
    Mistake("negative viscosity", "flow flow.toml", "[fluid] viscosity", "found -1", "from 0", "",
            edit("flow.toml", "viscosity = 6.25e-4", "viscosity = -1")),
    Mistake("Courant number", "flow flow.toml", "[time] courant", "found 3.0", "1.73205", "",
            edit("flow.toml", "courant = 1.0", "courant = 3.0")),
    Mistake("even modes", "plasma plasma.toml", "[modes] kx_number", "found 16", "allowed: odd numbers", "",
            edit("plasma.toml", "kx_number = 17", "kx_number = 16")),
    Mistake("seconds for days", "atmosphere atmosphere.toml", "[time] end", "found 2592000.0", "(days)", "",
            edit("atmosphere.toml", "end = 3.0", "end = 2592000.0")),
    Mistake("name for number", "atmosphere atmosphere.toml", "[grid] truncation", 'found "T21"',
            "an integer from 5", "",
            edit("atmosphere.toml", "truncation = 21", 'truncation = "T21"')),
    Mistake("a negative length", "prepare vp.npy -o s.rsf --smooth=-60 --input-spacing 10", "--smooth", "negative",
            "allowed: metres from 0"),
    Mistake("spacing missing", "prepare vp.npy -o s.rsf --smooth 60", "--input-spacing", "missing", "needed",
            "12.5,10"),
]  # fmt: skip

MISTAKES = [*COMMANDS, *FILES, *KEYS, *VALUES]


def written(folder: Path) -> None:
    """Small inputs of all applications, that are right."""
    inputs(folder)
    survey(folder, MODEL)
    survey(folder, MIGRATE, "image.toml")
    makers = {"ocean": ocean, "flow": flow, "reactive": reactive, "plasma": plasma, "atmosphere": atmosphere}
    for name, maker in makers.items():
        (folder / f"{name}.toml").write_text(maker(True))
    (folder / "farm.toml").write_text(FARM)
    (folder / "lines.txt").write_text("a\nb\n")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake.words.split()[0]}: {mistake.name}")
def test_one_line_says_thing_place_found_allowed_and_what_to_do(tmp_path, monkeypatch, capsys, mistake):
    written(tmp_path)
    mistake.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = run(capsys, *mistake.words.split())
    lines = [line for line in done.err.splitlines() if not line.startswith("note: ")]
    assert done.code == 2, done
    assert len(lines) == 1, done.err
    assert lines[0].startswith("fathometer: error: ")
    assert "Traceback" not in done.err
    assert "defect" not in done.err
    assert not done.out
    for words in mistake.told():
        assert words in lines[0], (words, lines[0])
    assert nothing_left(tmp_path, before, lines[0])


def test_there_are_enough_of_each_kind():
    assert len(MISTAKES) >= 36
    assert len({mistake.name for mistake in MISTAKES}) >= 36
    commands = {mistake.words.split()[0] for mistake in MISTAKES}
    assert commands >= {
        "model",
        "migrate",
        "ocean",
        "reactive",
        "flow",
        "plasma",
        "atmosphere",
        "farm",
        "info",
        "report",
    }
