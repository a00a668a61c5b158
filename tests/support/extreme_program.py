"""Each number of an application's input at extreme values, each run in a process of its own.

extreme_program.py FOLDER APPLICATION SEED COUNT

COUNT cases that the tables of the input accept are drawn with the seed: a key, of all that they have, and a value for
it or for one of its entries; 0: all there are. Prints "! KEY = VALUE: what is wrong" for a run that ends neither with
code 0 nor with one line of error, hangs, takes too much memory, or ends with code 0 and with an image of zeros, or with
traces of zeros or fields that are the same everywhere, of which its record does not tell.
"""

from __future__ import annotations

import copy
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import atmosphere_support
import cli_support
import elastic_surveys
import flow_inputs
import numpy as np
import ocean_inputs
import plasma_inputs
import reactive_flows
import time_survey_support
from input_values import text_of
from pydantic import BaseModel

from fathometer.base.early_signals import INTERRUPTED
from fathometer.base.errors import FathometerError
from fathometer.base.references import referred
from fathometer.base.signals import RESUMABLE
from fathometer.cli import registry

# Most magnitudes of physics too, so that limits and what lies within them are tried.
VALUES: tuple[Any, ...] = (
    *(30.0, 100.0, 300.0, 1e4, 1e5, -10.0, -1e3, -1e4, 0.1, 0.01),
    *(float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-300, 1e-150, 1e-30, 1e-12),
    *(1e-6, 1e-3, 0.5, 1.0, 1e3, 1e6, 1e9, 1e12, 1e17, 9.9e17, 1e19, 1e300, 1.7e308, -1e-300, -1.0, -1e17),
    *(0, 1, -1, 2, 3, 7, 255, 2**15, 10**6, 2**31 - 1, 2**31, 2**32, 10**12, 10**17, 2**62, 2**63, 2**64, 10**40),
)
ASK_SECONDS, SECONDS = 15.0, 75.0  # after which a run is asked to end, and hangs; the machine may be busy
MEMORY_BYTES = 6 << 30  # beyond what this process takes
RSS_BYTES = 3 << 30
Place = tuple[Any, ...]


def nested(keys: dict[str, Any]) -> dict[str, Any]:
    """{"section.key": value} as tables."""
    found: dict[str, Any] = {}
    for name, value in keys.items():
        *tables, key = name.split(".")
        inner = found
        for table in tables:
            inner = inner.setdefault(table, {})
        inner[key] = value
    return found


def _migration(folder: Path) -> dict[str, Any]:
    cli_support.inputs(folder)
    return nested(cli_support.MIGRATE)


def _planned(folder: Path) -> dict[str, Any]:
    from machine_support import MACHINE

    from fathometer.plan.machine_file import save_machine

    save_machine(folder / "machine.json", MACHINE)
    return _migration(folder)


def _modelling(folder: Path) -> dict[str, Any]:
    cli_support.inputs(folder)
    return nested(cli_support.MODEL)


def _time_migration(folder: Path) -> dict[str, Any]:
    time_survey_support.record_noise(folder)
    return nested({**time_survey_support.PATCH, "time_migration.depth": True})


def _elastic(folder: Path) -> dict[str, Any]:
    elastic_surveys.elastic_survey(folder)
    return nested(elastic_surveys.KEYS)


def _ocean(folder: Path) -> dict[str, Any]:
    return ocean_inputs.ocean_values(time__steps=3, **ocean_inputs.LIVELY)


def _flow(folder: Path) -> dict[str, Any]:
    return reactive_flows.values(time__end=2000.0)


def _box(folder: Path) -> dict[str, Any]:
    return flow_inputs.box_values(**flow_inputs.CHANNEL)


def _air(folder: Path) -> dict[str, Any]:
    return atmosphere_support.wave_values(physics={"forcing": "radiation"}, ground={"height": 1000.0, "radius": 20.0})


def _water(folder: Path) -> dict[str, Any]:
    return atmosphere_support.water_values(time={"end": 0.25, "step": 1800.0}, output={})


def _plasma(folder: Path) -> dict[str, Any]:
    return plasma_inputs.box_values()


# The command, and what writes its input files and gives its values.
APPLICATIONS: dict[str, tuple[str, Callable[[Path], dict[str, Any]]]] = {
    "migrate": ("migrate", _migration),
    "migrate-time": ("migrate-time", _time_migration),
    "model": ("model", _modelling),
    "elastic": ("model", _elastic),
    "plan": ("plan", _planned),
    "ocean": ("ocean", _ocean),
    "reactive": ("reactive", _flow),
    "flow": ("flow", _box),
    "atmosphere": ("atmosphere", _air),
    "shallow water": ("atmosphere", _water),
    "plasma": ("plasma", _plasma),
}


def _tables(annotation: Any) -> list[type[BaseModel]]:
    """All tables that a type can hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [table for argument in get_args(annotation) for table in _tables(argument)]


def _holds_numbers(annotation: Any) -> bool:
    return annotation in (int, float) or any(_holds_numbers(argument) for argument in get_args(annotation))


def _of_model(model: type[BaseModel], before: Place = (), depth: int = 0) -> Iterator[Place]:
    for name, field in model.model_fields.items():
        if _holds_numbers(field.annotation):
            yield (*before, name)
        for table in _tables(field.annotation) if depth < 3 else ():
            yield from _of_model(table, (*before, name), depth + 1)


def _of_values(value: Any, before: Place = ()) -> Iterator[Place]:
    """Places of numbers."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _of_values(inner, (*before, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield before


def places(model: type[BaseModel], values: dict[str, Any]) -> list[Place]:
    """Keys that take a number, with those of tables which the input does not have; entries of lists of its own."""
    return list(dict.fromkeys([*_of_model(model), *_of_values(values)]))


def changed(values: dict[str, Any], place: Place, value: Any) -> dict[str, Any] | None:
    """A copy with this value; None where there is no such place, as in a list of tables."""
    made = copy.deepcopy(values)
    inner: Any = made
    for key in place[:-1]:
        if isinstance(inner, dict):
            inner = inner.setdefault(key, {})
        elif not (isinstance(inner, list) and isinstance(key, int) and key < len(inner)):
            return None
        else:
            inner = inner[key]
    if isinstance(inner, list) != isinstance(place[-1], int) or not isinstance(inner, dict | list):
        return None
    inner[place[-1]] = value
    return made


def cases(model: type[BaseModel], values: dict[str, Any]) -> list[tuple[Place, Any]]:
    """All places with all values, those of unknown lists as lists of one to three."""
    found: list[tuple[Place, Any]] = []
    for place in places(model, values):
        for value in VALUES:
            found.append((place, value))
            if not isinstance(place[-1], int):
                found += [(place, [value] * count) for count in (1, 2, 3)]
                found.append((place, [0.0, 100.0, value]))
    return found


def wrong_with(command: str, values: dict[str, Any], folder: Path, allowed: tuple[int, ...]) -> str:
    """What is wrong with a run of an input in a folder; "" where nothing is. allowed: codes of its exit besides 0."""
    path = folder / "input.toml"
    path.write_text(text_of(values), encoding="utf-8")
    out = folder / "said.txt"
    child = os.fork()
    if child == 0:
        _become(command, path, out)
    begin, most, asked = time.monotonic(), 0, False
    while True:
        done, status, _ = os.wait4(child, os.WNOHANG)
        if done:
            break
        with suppress(OSError, IndexError, ValueError):
            most = max(most, int(Path(f"/proc/{child}/statm").read_text().split()[1]) * resource.getpagesize())
        if not asked and time.monotonic() - begin > ASK_SECONDS:
            asked = True
            os.kill(child, signal.SIGINT)
        if time.monotonic() - begin > SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"hangs: not ended by SIGINT in {SECONDS - ASK_SECONDS:g} s"
        time.sleep(0.02)
    code, text = os.waitstatus_to_exitcode(status), out.read_text(errors="replace").strip()
    if "defect" in text or "Traceback" in text or "Warning" in text:
        return text[-300:]
    if asked and code in (RESUMABLE, INTERRUPTED) and text.startswith("fathometer: interrupted"):
        return ""  # as long as the numbers ask for
    if code not in (0, *allowed):
        return f"exit code {code}: {text[-300:]}"
    if code and (not text or "\n" in text or not text.startswith("fathometer: error: ")):
        return f"no line of error: {text[-300:]}"
    if most > RSS_BYTES:
        return f"takes {most / 2**30:.1f} GiB"
    return "" if code or command == "plan" else without_a_word(folder)


def without_a_word(folder: Path) -> str:
    """Results that are 0 or the same everywhere without a word of it in the record of the run that has ended last; ""
    where there are none. The files are looked at, not what the program has seen of them."""
    record = json.loads(max(folder.glob("**/run.json"), key=lambda path: path.stat().st_mtime).read_text())
    told = [*record["results"]["notes"], *record["validity"]["reasons"]]
    files = {kind: Path(path) for kind, path in record["results"]["files"].items()}
    if "image" in files and not np.fromfile(f"{files['image']}@", np.float32).any():
        return f"an image of zeros, exit code 0, and {told}"
    traces = [path for kind, path in files.items() if kind.startswith("shots") and path.suffix == ".segy"]
    silent = traces and not any(samples_of(path).any() for path in traces)
    if silent and not any("all traces are 0" in words for words in told):
        return f"traces of zeros, and {told}"
    nothing = any("nothing happens" in words for words in told)
    if "fields" in files and not nothing and still(fields_of(files["fields"])):
        return f"fields that are the same everywhere, and {told}"
    return ""


def samples_of(path: Path) -> np.ndarray:
    """All samples of a SEG-Y file that this program has written, as bytes."""
    raw = np.fromfile(path, np.uint8)
    samples = int.from_bytes(raw[3220:3222].tobytes(), "big")
    return raw[3600:].reshape(-1, 240 + 4 * samples)[:, 240:]


def fields_of(path: Path) -> list[Path]:
    """The files of fields."""
    return sorted(path.glob("*.[np][cl]*")) if path.is_dir() else sorted(path.parent.glob("fields/*.h5"))


def still(paths: list[Path]) -> bool:
    """Whether each field has one value, everywhere and at all times."""
    seen: dict[str, set[float]] = {}
    for path in paths:
        for name, values in arrays_of(path).items():
            seen.setdefault(name, set()).update(np.unique(values)[:2].tolist())
    return all(len(values) < 2 for values in seen.values())


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    """The fields in a file, without what is no water."""
    if path.suffix == ".h5":
        import h5py

        with h5py.File(path) as volume:
            return {path.stem.rpartition("-")[0]: np.concatenate([np.ravel(one) for one in volume.values()])}
    if path.suffix == ".plt":
        from fathometer.storage.tecplot.reader import TecplotFile

        zones = TecplotFile(path)
        return {name: zones.read(0, name) for name in zones.variables if name not in "xyz"}
    from fathometer.storage.datasets.dataset import FILL_VALUE
    from fathometer.storage.datasets.reader import DatasetFile

    with DatasetFile(path) as file:
        names = [name for name, one in file.header.variables.items() if len(one.shape) > 2]
        found = {name: file.read(name) for name in names}
    return {name: values[values != np.float32(FILL_VALUE)] for name, values in found.items()}


def _become(command: str, path: Path, out: Path) -> None:
    code = 70
    try:
        os.setsid()
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        from fathometer.cli.main import main

        words = [command, str(path)]
        more = ["--quiet", "--overwrite", "--threads", "1"]
        code = main([*words, *(["--on", "machine.json"] if command == "plan" else more)])
        sys.stdout.flush()
    finally:
        os._exit(code)


def main() -> None:
    folder, name, seed, count = Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    command, written = APPLICATIONS[name]
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    run = "migrate" if command == "plan" else command
    model, values = referred(registry.of_command(run).identity.input), written(folder)
    wrong = wrong_with(command, values, folder, ())
    assert not wrong, wrong
    every = cases(model, values)
    left = count or len(every)
    for place, value in random.Random(seed).sample(every, len(every)):
        if not left:
            break
        made = changed(values, place, value)
        if made is None:
            continue
        try:
            model.model_validate(made)
        except (ValueError, FathometerError):
            continue
        left -= 1
        where = ".".join(map(str, place))
        print(f"{where} = {value!r}", flush=True)
        if wrong := wrong_with(command, made, folder, (1, 2)):
            print(f"! {where} = {value!r}: {' '.join(wrong.split())}", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
