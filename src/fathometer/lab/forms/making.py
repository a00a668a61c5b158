"""A form's study file: what is asked for and what the machine offers, filled into the form's text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from fathometer.base.errors import InputError, shortened
from fathometer.config.toml_text import escaped, quoted, toml
from fathometer.lab.forms.applications import PROGRAMS, Program
from fathometer.lab.forms.form import Form
from fathometer.lab.forms.here import Here, powers
from fathometer.lab.recipes.recipe import load_recipe
from fathometer.lab.studies.store import read_header

FOLDER, LOGS, NONE, OTHER = "folder", "logs", "none", "other"  # kinds of inputs that belong to no application
VIRTUAL = (
    "The nodes are namespaces on one machine and share its memory, disk and cores: messages, bytes and what links "
    "of up to some Gbit/s cost are as on any cluster, the speed of many nodes is not."
)
QUICK = "Few rounds: what differs by little is not told apart from noise."
_COUNT = re.compile(r"[1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Asked:
    """What the command line asks for.

    Attributes:
        input: a file or folder; None: the form's own. kind: what that is: the name of an application, folder or logs.
        nodes: to run on; none: as the machine has. quick: small and soon. record: a study of another machine. deck: of
        OPM Flow. machine: a machine file for predictions.
    """

    input: Path | None = None
    kind: str = ""
    nodes: tuple[int, ...] = ()
    quick: bool = False
    record: Path | None = None
    deck: Path | None = None
    machine: Path | None = None


@dataclass(frozen=True)
class Made:
    """The text of a study file, and what it leaves out, a line each."""

    text: str
    notes: Sequence[str]


def made(form: Form, asked: Asked, machine: Here) -> Made:
    """The study of a form.

    Raises InputError for an input that the form cannot take, and where nothing of it can be run here.
    """
    _require_used(form, asked)
    kind = _kind(form, asked)
    notes: list[str] = []
    values = dict(form.head.values)
    if asked.quick:
        values |= form.head.quick
    values |= _of_input(form, asked, kind)
    values |= _of_machine(form, asked, machine, notes)
    values |= _of_beside(form, asked, kind, notes)
    said = [
        form.head.limits,
        form.head.cannot if asked.input is None else "",
        QUICK if asked.quick else "",
        VIRTUAL if values["virtual"] and form.names() & {"place", "virtual"} else "",
        *notes,
    ]
    values["limits"] = escaped(" ".join(filter(None, said)))
    values["title"] = escaped(Template(form.head.title).substitute({"scale": values["scale"], "name": values["name"]}))
    values["published"] = escaped(form.head.source)
    values["limits"] = escaped(" ".join(filter(None, said)))
    values["title"] = escaped(Template(form.head.title).substitute({"scale": values["scale"], "name": values["name"]}))
    values["published"] = escaped(form.head.source)
    return Made(form.filled(values), notes)


def _kind(form: Form, asked: Asked) -> str:
    """Of the input; the form's own where none is given. Raises InputError where it cannot be taken."""
    inputs = form.head.inputs
    allowed = ", ".join(_named(kind) for kind in inputs)
    if asked.input is None:
        if not form.head.default:
            raise InputError(f"--form {form.name}: found no input; needed: {allowed}")
        return form.head.default
    if asked.kind in inputs:
        return asked.kind
    if asked.input.is_dir():
        folders = [kind for kind in inputs if kind in (FOLDER, LOGS)]
        if folders:
            return folders[0]
    found = asked.kind or (FOLDER if asked.input.is_dir() else OTHER)
    raise InputError(f"--form {form.name}: found {asked.input}, {_named(found)}; allowed: {allowed}")


def _require_used(form: Form, asked: Asked) -> None:
    """Raises InputError for an option that the form has no use for, and for a file or folder that is not there."""
    wants = form.names()
    used = {
        "--nodes": (bool(asked.nodes), {"scales", "most"}, "scaling"),
        "--record": (asked.record is not None, {"record"}, "generations, rate"),
        "--deck": (asked.deck is not None, {"deck"}, "throughput"),
        "--on": (asked.machine is not None, {"machine"}, "scaling"),
    }
    for option, (given, names, others) in used.items():
        if given and not wants & names:
            raise InputError(f"{option}: found with --form {form.name}, which does not use it; allowed with: {others}")
    for option, path in (("--deck", asked.deck), ("--on", asked.machine)):
        if path is not None and not path.is_file():
            raise InputError(f"{option}: no file {path}; needed: one")
    if asked.record is not None:
        read_header(asked.record)
    for path in (asked.input, asked.record, asked.deck, asked.machine):
        if path is not None and not str(path.absolute()).isprintable():
            raise InputError(
                f"--form {form.name}: found {str(path)!r}; allowed: names of characters that can be printed"
            )


def _named(kind: str) -> str:
    return {
        FOLDER: "a folder",
        LOGS: "a folder of logs",
        NONE: "no input",
        OTHER: "no input file of an application",
        "modelling": "a survey without gathers",
        "seismic": "a survey",
        "reactive": "a reactive flow",
        "farm": "a farm of tasks",
    }.get(kind, f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind} file")


def _of_input(form: Form, asked: Asked, kind: str) -> dict[str, str]:
    """The application, what prepares its input, and what is known of it."""
    values = {f"is_{kind}": "yes", "input": "" if asked.input is None else quoted(_absolute(asked.input))}
    own = "the built-in example" if kind in PROGRAMS else "this folder"
    values["name"] = asked.input.resolve().name if asked.input is not None else own
    if kind not in PROGRAMS:
        return values | {"input": values["input"] or quoted(_absolute(Path()))}
    program = PROGRAMS[kind]
    place = quoted(_absolute(asked.input)) if asked.input is not None else quoted(program.made)
    short = program.short if asked.input is None else {}
    lines = [f"recipe = {quoted(program.recipe)}", f"{program.parameter} = {place}"]
    lines += [f'set."{name}" = {toml(value)}' for name, value in short.items()]
    values |= {
        program.parameter: place,
        "program": "\n".join(lines),
        "prepare": "" if asked.input is not None else _prepare(program),
        "rate": program.rate or "total",
        "share": program.share,
        "figures": _figures(program),
    }
    return values | _tunings(program, asked.quick)


def _prepare(program: Program) -> str:
    return f"[[prepare]]\ncommand = {toml(list(program.demo))}\nmakes = [{quoted(program.made)}]"


def _figures(program: Program) -> str:
    """Total and kernel, or what the recipe has of them."""
    known = [figure.name for figure in load_recipe(program.recipe, Path()).figure]
    return toml([name for name in ("total", "kernel") if name in known])


def _tunings(program: Program, quick: bool) -> dict[str, str]:
    """Of an application: lines that set its keys, the factors, and their names."""
    asked = program.quick if quick and program.quick else program.tunings
    names = {key: key.rpartition(".")[2] for key in asked}
    return {
        "tuned": "\n".join(f'set."{key}" = "{{{name}}}"' for key, name in names.items()),
        "tunings": "\n".join(f"{names[key]} = {toml(list(values))}" for key, values in asked.items()),
        "tuning_names": toml(list(names.values())),
        "first_tunings": ", ".join(f"{names[key]} = {toml(values[0])}" for key, values in asked.items()),
    }


def _of_machine(form: Form, asked: Asked, machine: Here, notes: list[str]) -> dict[str, str]:
    """Nodes, or ranks where there are none; placement, links, threads, clocks."""
    virtual = not machine.no_cluster and (form.head.cluster or not machine.allocated)
    wants = form.names()
    if form.head.cluster and machine.no_cluster:
        raise InputError(f"--form {form.name}: it needs nodes of its own: {machine.no_cluster}")
    if not machine.on_nodes and wants & {"scales", "place"}:
        notes.append(f"There are no nodes here ({machine.no_cluster}): ranks of this host stand in their place.")
    scale = "nodes" if machine.on_nodes else "ranks"
    most = machine.allocated or machine.cores
    scales = sorted(asked.nodes) or powers(max(most, 2 if virtual else 1))
    place = "[placement]\nthreads = 1"
    if machine.on_nodes:
        place = '[placement]\nranks = "{nodes}"'
        place += f"\nthreads = 1\n\n[place]\ncluster = {{nodes = {max(scales)}}}" if virtual else ""
    if virtual and max(scales) > machine.cores and wants & {"scales", "most"}:
        notes.append(f"{max(scales)} nodes share {machine.cores} cores: what they take says nothing of so many nodes.")
    threads = [max(1, machine.cores // 2), machine.cores] if machine.cores > 1 else [1]
    if machine.hardware_threads > 1:
        threads.append(machine.cores * machine.hardware_threads)
    _tell_lacking(form, machine, virtual, notes)
    return {
        "scale": scale,
        "scales": toml(scales),
        "first": toml(scales[0]),
        "most": toml(max(scales)),
        "more": toml([max(scales) * 2**k for k in (1, 2, 3)]),
        "place": place,
        "virtual": "yes" if virtual else "",
        "threads": toml(list(dict.fromkeys(threads))),
        "fewest": toml(threads[0]),
        "memories": toml(["as it is", "local", "interleave"] if machine.numa > 1 else ["as it is"]),
        "one_memory": "" if machine.numa > 1 else "yes",
        "one_thread": "" if machine.hardware_threads > 1 else "yes",
        "clocks": toml(sorted(machine.clocks, reverse=True)) if machine.clocks else "",
        "cores": toml(machine.cores),
        "copies": toml(["cma", "none"] if machine.shared_memory else ["cma"]),
        "first_storage": "'/run/cluster/local'" if virtual else "",
        "most_jobs": toml(max(scales[-1], machine.cores) if virtual else machine.cores),
        "vader": "yes" if machine.shared_memory else "",
        **_pairs(form, machine, notes),
    }


def _pairs(form: Form, machine: Here, notes: list[str]) -> dict[str, str]:
    """How many ranks exchange, where: n pairs need two cores each, inside a node and between two."""
    if "swap_ranks" not in form.names():
        return {}
    pairs = machine.cores // 2 if machine.allocated else machine.cores // 4
    if pairs < 2:
        notes.append(
            f"{machine.cores} cores are too few for several pairs at the same time, inside a node and between two."
        )
    between = machine.on_nodes and (machine.allocated != 1)
    return {
        "swap_ranks": toml(2 * max(1, pairs)),
        "pairs": toml(["1", "all"] if pairs > 1 else ["1"]),
        "classes": toml(["in-node", "between"] if between else ["in-node"]),
        "class_nodes": toml([1, 2] if between else [1]),
        "between": "yes" if between else "",
    }


def _tell_lacking(form: Form, machine: Here, virtual: bool, notes: list[str]) -> None:
    """What a form would vary and this machine does not have, a line each."""
    wants = form.names()
    if "one_thread" in wants and machine.hardware_threads == 1:
        notes.append("A core has one hardware thread here: more threads than cores are not compared.")
    if "one_memory" in wants and machine.numa == 1:
        notes.append("There is one memory domain here: policies of memory are not compared.")
    if "clocks" in wants and machine.clocks is None:
        notes.append("The clock cannot be set here, and is not varied.")
    if "first_storage" in wants and not virtual:
        notes.append("There are no folders of nodes here, local and shared: where files are is not varied.")
    if "vader" in wants and not machine.shared_memory:
        notes.append("How MPI copies inside a node is chosen for Open MPI 4 only: left out.")


def _of_beside(form: Form, asked: Asked, kind: str, notes: list[str]) -> dict[str, str]:
    """The record of another machine, a deck, logs, a machine file."""
    values = {"record": "", "deck": "", "machine": ""}
    wants = form.names()
    if asked.machine is not None:
        values["machine"] = quoted(asked.machine.absolute())
    elif "machine" in wants:
        notes.append("No machine file was given (--on): there is no prediction for more.")
    if "record" in wants:
        if asked.record is not None:
            values["record"] = quoted(asked.record.absolute())
        else:
            notes.append(
                "There is no record of a second machine (--record): run this form there too, and give its folder here."
            )
    if "deck" in wants:
        if asked.deck is not None:
            values["deck"] = quoted(_absolute(asked.deck))
        else:
            notes.append("No deck of OPM Flow was given (--deck): time migration is the second application.")
    if kind == LOGS and asked.input is not None:
        values |= _of_logs(form, asked.input)
    return values


def _of_logs(form: Form, folder: Path) -> dict[str, str]:
    """Folders of logs by cores, and which of the published cases they are of."""
    counts = sorted(int(path.name) for path in folder.iterdir() if path.is_dir() and _COUNT.fullmatch(path.name))
    if not counts:
        raise InputError(
            f"--form {form.name}: {folder}: found no folder whose name is a number; allowed: a folder for each number "
            "of cores, such as 64, with rsl.error.0000 and namelist.input"
        )
    for count in counts:
        for name in ("rsl.error.0000", "namelist.input"):
            if not (folder / str(count) / name).is_file():
                raise InputError(
                    f"--form {form.name}: {folder / str(count) / name}: not there; needed: {name} of the run"
                )
    return {
        "counts": toml(counts),
        "fewest_cores": toml(counts[0]),
        "case": quoted(f"{_absolute(folder)}/{{processes}}"),
    }


def _absolute(path: Path) -> str:
    return str(path.absolute()).replace("{", "{{").replace("}", "}}")


def nodes_of(text: str) -> tuple[int, ...]:
    """Numbers of nodes, with commas between. Raises InputError."""
    words = [word.strip() for word in text.split(",")]
    if not all(_COUNT.fullmatch(word) for word in words):
        raise InputError(f"--nodes: found {shortened(text, 40)}; allowed: numbers of nodes, as in 1,2,4")
    return tuple(dict.fromkeys(map(int, words)))
