"""Files of somebody else with the names of results: no run replaces or removes them, whatever the command line says."""

import pytest
from cli_support import MIGRATE, MODEL, here, inputs, survey
from elastic_surveys import IN_2D, elastic_survey
from input_values import text_of
from mpi4py import MPI
from ocean_inputs import ocean_values
from time_survey_support import PATCH, record_noise

from fathometer.apps.reactive.demo import flow_text
from fathometer.base.errors import InputError
from fathometer.record.envelope import BEGINNING
from fathometer.runs.foreign import require_own_demo
from fathometer.runs.lifecycle import unfinished_record
from fathometer.runs.restart_hint import DEMO


def ocean(folder):
    return toml(folder, text_of(ocean_values(time__steps=1, output__fields=["height"])))


def reactive(folder):
    return toml(folder, flow_text(8, 1, "out"))


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


@pytest.mark.parametrize("command", ["ocean", "reactive"])
@pytest.mark.parametrize("name", ["restart.json", "restart-before.json", "steps.jsonl"])
@pytest.mark.parametrize("recorded", [False, True])
def test_restart_files_of_somebody_else_stay(tmp_path, command, name, recorded):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    make, command, folder = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / folder
    (output / "restart" / "00000120").mkdir(parents=True)
    for place in (name, "00000120/thesis.tex"):
        (output / "restart" / place).write_text('{"mine": 1}')
    if recorded:
        (output / "run.json").write_bytes(BEGINNING + b"2}")
    refused(path, command, output, f"{output / 'restart' / name}: is none of the restart files of this program,")


def test_a_folder_that_no_state_has_made_stays(tmp_path):
    """Beside states of ours, one with a name that they might have, and one in the way of the next state."""
    path = toml(tmp_path, text_of(ocean_values(time__steps=2, output__fields=["height"])))
    assert here("ocean", path, "--quiet").code == 0
    mine = tmp_path / "out" / "restart" / "12345678" / "thesis.tex"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert here("ocean", path, "--quiet", "--overwrite").code == 0
    assert mine.read_text() == "mine"
    states = tmp_path / "out" / "restart"
    (states / "00000002" / "mark.json").unlink()
    (states / "steps.jsonl").write_text("")
    before = contents(states / "00000002")
    done = here("ocean", path, "--quiet", "--overwrite")
    assert done.code == 1
    assert f"{states / '00000002'}: holds files, but is of no state that a run of this program has written" in done.err
    assert contents(states / "00000002") == before


@pytest.mark.parametrize("name", ["model", "elastic", "migrate"])
def test_a_journal_elsewhere_stays(tmp_path, name):
    make, command, folder = COMMANDS[name]
    path, away = make(tmp_path), tmp_path / "away"
    away.mkdir()
    (away / "000001-traces.npy").write_text("mine")
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "journal").symlink_to(away)
    refused(path, command, tmp_path / folder, f"{folder}/journal: is a link to '{away}'")
    assert contents(away) == {"000001-traces.npy": b"mine"}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ocean", "lock"),
        ("model", "journal/lock"),
        ("elastic", "journal/lock"),
        ("migrate", "journal/lock"),
        ("migrate-time", "journal/lock"),
    ],
)
def test_a_lock_of_somebody_else_stays(tmp_path, command, name):
    make, command, folder = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / folder
    (output / name).parent.mkdir(parents=True, exist_ok=True)
    (output / name).write_text("the key is under the mat\n")
    done = here(command, path, "--quiet")
    assert done.code == 2
    assert f"{output / name}: is no lock of a run, and is not replaced; allowed: another [output]" in done.err
    assert contents(output) == {name: b"the key is under the mat\n"}


REPLACED = [
    ("ocean", "ocean.png"),
    ("ocean", "report.html"),
    ("reactive", "flow.png"),
    ("reactive", "flow.xdmf"),
    ("model", "shots.segy"),
    ("model", "report.html"),
    ("elastic", "shots-vx.segy"),
    ("elastic", "peak-velocity-shot-2-horizontal.rsf@"),
    ("migrate", "image.rsf"),
    ("migrate", "image.rsf@"),
    ("migrate", "image-illumination.rsf"),
    ("migrate", "image.png"),
    ("migrate-time", "image.rsf@"),
    ("migrate-time", "image-fold.rsf"),
    ("migrate-time", "report.html"),
]


@pytest.mark.parametrize(("command", "name"), REPLACED)
def test_results_of_somebody_else_are_replaced_with_overwrite_only(tmp_path, command, name):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    make, command, folder = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / folder
    output.mkdir(parents=True, exist_ok=True)
    (output / name).write_text("mine")
    before = contents(output)
    for words in (("--resume",), ()):
        if words and make is COMMANDS["model"][0]:
            continue  # acoustic waves have no --resume
        done = here(command, path, "--quiet", *words)
        assert done.code == 2
        assert f"{output / name}: is there, but no record of a run of this program's lies in {output}" in done.err
        assert "allowed: another [output] directory, or --overwrite" in done.err
        assert done.err.count("\n") == 1
        assert {name: text for name, text in contents(output).items() if name != "lock"} == before
    done = here(command, path, "--quiet", "--overwrite")
    assert done.code == 0, done.err
    assert contents(output)[name] != b"mine"
    done = here(command, path, "--quiet", "--overwrite")  # over its own results
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("demo",), ("demo.toml", "shots.toml", "vp.rsf", "smooth-delta.rsf@", "shots/shots.segy", "image/image.rsf")),
        (("ocean", "--demo"), ("demo.toml", "ocean.png", "report.html")),
        (("reactive", "--demo"), ("demo.toml", "flow.xdmf")),
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


def test_a_demo_is_known_by_the_first_line_of_its_file(tmp_path):
    require_own_demo(tmp_path, "# A demo.\n[time]\n", ["shots.toml"])
    (tmp_path / DEMO).write_text("# A demo.\n[time]\nsteps = 9\n")
    require_own_demo(tmp_path, "# A demo.\n[time]\n", ["shots.toml"])
    with pytest.raises(InputError, match="but no demo of this program's"):
        require_own_demo(tmp_path, "# Another demo.\n[time]\n", ["shots.toml"])


def test_a_run_does_not_begin_beside_the_record_of_somebody_else(tmp_path):
    (tmp_path / "run.json").write_text("mine")
    with (
        pytest.raises(InputError, match=r"run\.json, which is no record of this program's"),
        unfinished_record(tmp_path, MPI.COMM_SELF, lambda reason: {}),
    ):
        pytest.fail("the run begins")
    assert contents(tmp_path) == {"run.json": b"mine"}
