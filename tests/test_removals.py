"""What this program removes: every call of the source that removes something, and what it is.

Nothing but base/removal.py calls the system for it, which demands a mark or a name of the program's own. The table
names the modules that remove by it, or by what stands on it: a new one is to say here what it removes.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "fathometer"
REMOVAL = "base/removal.py"

REMOVES = {
    "apps/ocean/fields.py": "fields/ocean-STEP.nc of later steps than the run goes on from",
    "apps/reactive/fields.py": "fields of the run's own names that the description names, or that are later",
    "base/owned_folder.py": "temporary folders with the mark, of this user, that no process holds",
    "lab/cluster/making.py": "the lock of a cluster that is gone",
    "lab/cluster/state.py": "folders of clusters, by their cluster.json",
    "lab/io/device.py": "the file of the device's own rate, in the scratch folder",
    "lab/io/folder.py": "scratch folders with the mark, of this user, that no process holds",
    "lab/io/trial.py": "volumes that were written for a trial, in the scratch folder",
    "lab/profile/profile.py": "record, page and files of ranks by their names, where the record is this program's",
    "lab/studies/batch_runner.py": "jobs/NAME.json and NAME.out of the study's jobs",
    "lab/studies/clock.py": "clock.json, when the clock is set back",
    "lab/studies/course.py": "runs that failed, to be made again; with --overwrite the study, as store.py",
    "lab/studies/execution.py": "a run's folder before it is made, and what is not kept of it",
    "lab/studies/preparation.py": "what [[prepare]] has made, by preparation.json: files, folders among the results",
    "lab/studies/store.py": "files and run folders of a study by their names, in a folder with its study.json",
    "runs/finished_tasks.py": "finished-tasks/NUMBER.npz, input.json, the lock; the folder where it is empty",
    "runs/folder_lock.py": "the lock of a journal, and its folder where it is empty",
    "runs/journal_folder.py": "files of a journal by their names, in a folder with its survey.json",
    "runs/lifecycle.py": "record and page of results that are replaced; the record of an unfinished run at its end",
    "runs/restart_folder.py": "states by their names, in a folder with its steps.jsonl",
    "runs/restartable_run.py": "unfinished files of the run's results, as results_lock.py",
    "runs/results_lock.py": "the lock, and unfinished files beside results that bear their names",
    "runs/sum_file.py": "a sum in a journal that another one contains",
    "runs/summation.py": "contributions and sums in a journal that were summed, or are damaged",
    "seismic/elastic/driver.py": "results that the folder's record names and this run does not make; unfinished files",
    "seismic/modelling/driver.py": "unfinished files of its results, as results_lock.py",
    "seismic/setup/results_files.py": "volumes that the folder's record names and this run does not make",
    "storage/atomic.py": "unfinished files and folders by their names, .NAME.XXXXXXXX.part",
    "storage/folder.py": "folders that this run has just made, where they are empty",
    "storage/scratch/file.py": "a file that was just made, of which only the open one is used",
    "storage/traces/recorded_headers.py": "folders that this run has just made, where they are empty",
    "storage/volumes/formats/hdf5.py": "the unfinished file, before all ranks are aborted",
    "storage/volumes/registry.py": "volumes by their names; those that are folders by the file of their format",
}
# Folders of Python's, which go with the block that has made them.
TEMPORARY = {
    "apps/ocean/probes.py", "apps/reactive/probes.py", "lab/calibrate.py", "seismic/elastic/probes.py",
    "seismic/probes.py", "storage/folder.py",
}  # fmt: skip
SCRIPTS = {("launch/slurm.py", 'rm -f "$fruitless"')}  # in a batch script: a file with the name of its job

SYSTEM = {"unlink", "rmdir", "rmtree", "removedirs", "unlinkat"}
OURS = re.compile(r"remove_(file|empty|tree|parts|volume|temporary|run|unfinished)|erase")
COMMANDS = {"rm", "/bin/rm", "rmdir", "unlink", "-delete"}
RM = re.compile(r"\brm\s+-.*")
WORDS = re.compile(r"remove|unlink|rmdir|rmtree|erase|Temporary|\brm\b|-delete")
C_CALLS = re.compile(r"\b(unlink|unlinkat|rmdir|remove|remove_all|rename)\s*\(")


def sources(*suffixes: str) -> Iterator[tuple[str, str]]:
    """The source files by their paths below the package, and their texts."""
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in suffixes:
            yield str(path.relative_to(SOURCE)), path.read_text(encoding="utf-8")


@cache
def calls() -> dict[str, set[str]]:
    """What the modules call that removes something."""
    return {name: set(called(text)) for name, text in sources(".py") if WORDS.search(text)}


def called(text: str) -> Iterator[str]:
    """Names of functions that are called, or handed on: the last part of each, with os. where it is the module's; texts
    that are words of commands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and node.value in COMMANDS:
            yield f"the command {node.value}"
        elif isinstance(node, ast.Attribute):
            of_os = isinstance(node.value, ast.Name) and node.value.id in ("os", "shutil", "atomic")
            yield f"os.{node.attr}" if of_os and node.attr == "remove" else node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil"):
            yield from ("os.remove" if alias.name == "remove" else alias.name for alias in node.names)


def test_the_system_is_called_in_one_place():
    assert {name for name, found in calls().items() if {*SYSTEM, "os.remove"} & found} == {REMOVAL}


def test_every_caller_is_in_the_list():
    calling = {name for name, found in calls().items() if any(OURS.fullmatch(call) for call in found)}
    assert calling - {REMOVAL} == set(REMOVES)


def test_temporary_folders_are_in_the_list():
    kinds = {"TemporaryDirectory", "TemporaryFile", "NamedTemporaryFile"}
    assert {name for name, found in calls().items() if kinds & found} == TEMPORARY


def test_no_kernel_and_no_command_removes_anything_else():
    assert [name for name, text in sources(".cpp", ".hpp") if C_CALLS.search(text)] == []
    lines = {(name, line) for name, text in sources(".py", ".toml", ".txt", ".in") for line in RM.findall(text)}
    assert lines == SCRIPTS
    assert [name for name, found in calls().items() if any(call.startswith("the command ") for call in found)] == []
