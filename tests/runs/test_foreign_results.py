"""Files of somebody else with the names of results: no run replaces or removes them, whatever the command line says."""

import pytest
from cli_support import MIGRATE, MODEL, here, inputs, survey
from elastic_surveys import IN_2D, elastic_survey
from input_values import text_of
from ocean_inputs import ocean_values
from time_survey_support import PATCH, record_noise

from fathometer.apps.reactive.demo import demo_text


def ocean(folder):
    return toml(folder, text_of(ocean_values(time__steps=1, output__fields=["height"])))


def reactive(folder):
    return toml(folder, demo_text(8, 1, "out"))


def toml(folder, text):
    (folder / "input.toml").write_text(text)
    return folder / "input.toml"


def seismic(keys):
    def written(folder):
        inputs(folder)
        return survey(folder, keys)

    return written


def time_migration(folder):
    record_noise(folder)
    return survey(folder, PATCH)


COMMANDS = {
    "ocean": (ocean, "ocean", "out"),
    "reactive": (reactive, "reactive", "out"),
    "model": (seismic(MODEL), "model", "out"),
    "elastic": (lambda folder: elastic_survey(folder, **IN_2D, propagation__duration=0.03), "model", "out"),
    "migrate": (seismic(MIGRATE), "migrate", "out"),
    "migrate-time": (time_migration, "migrate-time", "out/time"),
}


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(path, command, output, told):
    """By the command with and without --overwrite: one line, and all files are as they were."""
    before = contents(output)
    for words in ((), ("--overwrite",)):
        done = here(command, path, "--quiet", *words)
        assert done.code == 2
        assert told in done.err
        assert done.err.count("\n") == 1
        assert {name: text for name, text in contents(output).items() if name != "lock"} == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "text"), [("run.json", '{"users": ["me"]}'), ("run-unfinished.json", "")])
def test_a_record_of_somebody_else_is_not_replaced(tmp_path, command, name, text):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    make, command, folder = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / folder
    output.mkdir(parents=True, exist_ok=True)
    (output / name).write_text(text)
    refused(path, command, output, f"{output}: holds {name}, which is no record of this program's and is not replaced;")


@pytest.mark.parametrize("command", ["ocean", "reactive"])
@pytest.mark.parametrize("name", ["fields/ocean-00000007.nc", "fields/pH-0007.h5", "restart/00000120/state.nc"])
def test_fields_and_states_of_somebody_else_stay(tmp_path, command, name):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    make, command, folder = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / folder
    (output / name).parent.mkdir(parents=True)
    (output / name).write_text("mine")
    told = f"{output}: holds {name.partition('/')[0]}, but no record of a run of this program's: nothing in it is"
    refused(path, command, output, told)


def test_finished_tasks_elsewhere_stay(tmp_path):
    make, command, folder = COMMANDS["elastic"]
    path, away = make(tmp_path), tmp_path / "away"
    away.mkdir()
    (away / "00000001.npz").write_text("mine")
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "finished-tasks").symlink_to(away)
    refused(path, command, tmp_path / folder, f"{folder}/finished-tasks: is a link to '{away}'")
    assert contents(away) == {"00000001.npz": b"mine"}


@pytest.mark.parametrize("command", ["ocean", "model"])
def test_a_lock_of_somebody_else_stays(tmp_path, command):
    make, command, folder = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / folder
    output.mkdir()
    (output / "lock").write_text("the key is under the mat\n")
    done = here(command, path, "--quiet")
    assert done.code == 2
    assert f"{output / 'lock'}: is no lock of a run, and is not replaced; allowed: another [output]" in done.err
    assert contents(output) == {"lock": b"the key is under the mat\n"}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("demo",), ("demo.toml", "shots.toml", "vp.rsf", "smooth-delta.rsf@", "shots/shots.segy", "image/image.rsf")),
        (("ocean", "--demo"), ("demo.toml",)),
        (("reactive", "--demo"), ("demo.toml",)),
    ],
)
def test_a_demo_replaces_demos_only(tmp_path, words, names):
    if "reactive" in words:
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    for name in names:
        output = tmp_path / name.replace("/", "-")
        (output / name).parent.mkdir(parents=True)
        (output / name).write_text("# My survey.\n")
        done = here(*words, "--quick", "--quiet", "--output", output)
        assert done.code == 2
        assert f"{output}: holds {name.partition('/')[0]}, but no demo of this program's: nothing is" in done.err
        assert contents(output) == {name: b"# My survey.\n"}
