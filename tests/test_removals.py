"""What this program removes: every call of the source that removes something, and what it is.

Nothing but base/removal.py calls the system for it. Of folders with what is in them it demands a mark or a name of the
program's own; files it removes by their names alone. So the table says of each call, also of what stands on it, why the
file is this program's: a new call without a reason fails.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "fathometer"
REMOVAL = "base/removal.py"

# Why what a call removes is this program's: by module, function and what it calls, a reason for each such call there.
REMOVES = {
    "apps/farm/journal.py": {
        "forget_set_aside remove_file": ["the list of a farm's tasks, in a folder that was read as a farm's"],
        "erase remove_file": [
            "by the names of nodes' files, beside the mark",
            "by the names of a farm's files, beside the mark, which goes last",
        ],
    },
    "apps/farm/run.py": {"_Farm erase": ["of a farm, whose mark it bears, with --overwrite"]},
    "apps/farm/task_process.py": {"TaskProcesses.run remove_file": ["a task's output, in the worker's own folder"]},
    "apps/farm/worker.py": {"Worker._command remove_file": ["a task's input, which the worker has written"]},
    "base/owned_folder.py": {
        "owned_folder remove_temporary": ["this process has just made it"],
        "_remove_abandoned remove_temporary": ["by its mark, of this user, and no process holds it"],
        "remove_temporary remove_tree": ["by its mark"],
    },
    "lab/cluster/making.py": {
        "bring_up remove_file": ["the lock of a cluster that could not be made, in the folder of clusters"],
        "take_down remove_file": ["the lock of a cluster that is gone, in the folder of clusters"],
        "clear_abandoned remove_file": ["the lock of a cluster that is gone, in the folder of clusters"],
    },
    "lab/cluster/state.py": {
        "remove remove_parts": ["unfinished cluster.json in the folder of a cluster"],
        "remove remove_tree": ["by its cluster.json, in the folder of clusters"],
    },
    "lab/io/device.py": {"Device.write remove_file": ["it has just been made, in the scratch folder"]},
    "lab/io/folder.py": {
        "scratch_folder remove_temporary": ["this process has just made it"],
        "_new remove_temporary": ["by its mark, of this user, and no process holds it"],
    },
    "lab/io/trial.py": {
        "Bench.remove_written remove_parts": ["by the names of trials, in the scratch folder, which bears a mark"],
        "Bench.remove_written remove_volume": ["by the names of trials, in the scratch folder, which bears a mark"],
        "Bench.remove remove_volume": ["by the names of trials, in the scratch folder, which bears a mark"],
    },
    "lab/profile/profile.py": {
        "remove_left remove_file": ["files of ranks by their names, where no other profile was"],
        "_prepare remove_file": ["record, page and files of ranks by their names, where the record is this program's"],
    },
    "lab/studies/batch_runner.py": {
        "BatchRunner.begin remove_file": ["jobs/NAME.json of the study's job, in a folder with its study.json"],
        "BatchRunner._ended remove_file": ["jobs/NAME.out of the study's job, in a folder with its study.json"],
    },
    "lab/studies/clock.py": {"restore remove_file": ["clock.json, which was read as such, when the clock is set back"]},
    "lab/studies/course.py": {
        "_forget_failed remove_run": ["runs that its cases name, in a folder with its study.json"],
        "_begun erase": ["of a study, as store.py"],
    },
    "lab/studies/execution.py": {
        "CaseRunner.tidy remove_run": ["this process has just made it, in a folder with its study.json"],
        "CaseRunner._prepared remove_run": ["left of a run of this number, in a folder with its study.json"],
    },
    "lab/studies/preparation.py": {"_remove remove_tree": ["by its preparation.json, in the folder of the results"]},
    "lab/studies/forecast.py": {"predict remove_file": ["predicted.json, in a folder with its study.json"]},
    "lab/studies/report/table_files.py": {
        "write_tables remove_file": ["tables that the list of an earlier report names, by names of tables, and no link"]
    },
    "lab/studies/store.py": {
        "erase remove_run": ["runs/CASE/KIND-NUMBER in a folder with its study.json, and no link on the way"],
        "erase remove_empty": ["nothing is in it", "nothing is in it", "nothing is in it"],
        "erase remove_file": [
            "by the names of cases, jobs, tables and clusters, in a folder with its study.json, and no link on the way",
            "machine.json and predicted.json beside study.json, the mark, which goes last",
        ],
        "erase remove_parts": ["unfinished, by the same names", "unfinished, by the names of a study's files"],
        "remove_run remove_tree": ["by study.json in the folder around it"],
    },
    "apps/flow/fields.py": {
        "TecplotSeries._tidy remove_parts": [
            "unfinished, by the names of files; the folder was seen to be a run's before"
        ],
        "TecplotSeries._tidy remove_file": [
            "flow-NUMBER.plt of later times, flow.plt of a run that begins; the folder was seen to be a run's before"
        ],
    },
    "runs/field_series.py": {
        "NetcdfSeries._tidy remove_parts": [
            "unfinished, by the names of fields; the folder was seen to be a run's before"
        ],
        "NetcdfSeries._tidy remove_file": ["NAME-STEP.nc of later steps; the folder was seen to be a run's before"],
        "VolumeSeries._tidy remove_parts": [
            "unfinished, by the names of fields; the folder was seen to be a run's before"
        ],
        "VolumeSeries._tidy remove_file": ["NAME-NUMBER.h5 of later times; the folder was seen to be a run's before"],
        "VolumeSeries._remove_described remove_file": [
            "named by the description of an earlier run of this program's",
            "that description itself, which was read as one",
        ],
    },
    "runs/folder_lock.py": {
        "FolderLock.__init__ remove_empty": ["nothing is in it"],
        "FolderLock.close erase": ["of a journal, as journal_folder.py"],
        "FolderLock.close remove_file": ["the lock, which this run holds and which held nothing else"],
        "FolderLock.close remove_empty": ["nothing is in it"],
        "SharedFolderLock.close remove_file": ["the lock, which this run holds and which held nothing else"],
        "SharedFolderLock.close remove_empty": ["nothing is in it"],
    },
    "runs/journal_folder.py": {
        "open_journal erase": ["of a journal"],
        "conclude erase": ["of this run's journal"],
        "erase remove_file": ["survey.json, the mark"],
        "_remove remove_file": ["by the names of a journal's files, beside the mark; without it unfinished ones alone"],
        "_tidy remove_file": [
            "NAME.sum that is damaged, in a journal that was read",
            "by the names of contributions, in a journal that was read",
        ],
    },
    "runs/lifecycle.py": {
        "remove_record remove_file": [
            "run.json that was seen to be a record, and its page, or what --overwrite replaces"
        ],
        "unfinished_record remove_file": ["run-unfinished.json, which this run has written"],
    },
    "runs/restart_folder.py": {
        "RestartFolder._tidy remove_parts": ["unfinished descriptions; the folder was seen to be a run's before"],
        "RestartFolder.remove remove_file": [
            "descriptions, which were seen to be of states before",
            "the list of states, which was seen to be one before",
        ],
        "RestartFolder.remove remove_parts": ["unfinished descriptions; the folder was seen to be a run's before"],
        "RestartFolder._remove_folders remove_tree": ["by its mark.json"],
    },
    "runs/restartable_run.py": {
        "restartable_run remove_unfinished": ["unfinished files of the run's results, as results_lock.py"]
    },
    "runs/results_lock.py": {
        "results_lock remove_file": ["the lock, which this run holds and which held no more"],
        "remove_untaken remove_file": ["an empty lock, just made"],
        "remove_unfinished remove_parts": [".NAME.XXXXXXXX.part of results of this run, whose lock it holds"],
    },
    "runs/sum_file.py": {"SumFile.all_in remove_file": ["a sum in a journal that another one contains: it was read"]},
    "runs/summation.py": {
        "fold remove_file": [
            "this run has just made it",
            "a sum in this run's journal, which is in another now",
            "contributions that the journal names, which are in a sum now",
        ],
        "_verified remove_file": ["a contribution that the journal names, which is damaged"],
    },
    "runs/task_run.py": {
        "locked_folder remove_unfinished": ["unfinished files of the run's results, as results_lock.py"],
        "_take_over remove_unfinished": ["unfinished files of the run's results, as results_lock.py"],
        "ResumableRun.complete erase": ["of this run's journal"],
    },
    "seismic/elastic/driver.py": {
        "ElasticModelling.clear remove_unfinished": ["unfinished files of the run's results, as results_lock.py"],
        "ElasticModelling.clear remove_parts": [
            "unfinished snapshots and maps, by their names, in a folder whose lock the run holds"
        ],
    },
    "seismic/setup/survey_tasks.py": {
        "SurveyTasks.remove_outdated remove_volume": [
            "results that the folder's record names, of kinds that these runs write"
        ]
    },
    "storage/atomic.py": {
        "NewFile.create remove_file": ["this process has just made it"],
        "create_part remove_file": ["this process has just made it"],
        "_remove_part remove_tree": [".NAME.XXXXXXXX.part"],
        "_replace_folder remove_empty": ["nothing is in it"],
    },
    "storage/folder.py": {"results_folder remove_empty": ["this run has just made it, and nothing is in it"]},
    "storage/scratch/file.py": {
        "_open_anonymous remove_file": ["this process has just made it; only the open one counts"]
    },
    "storage/traces/recorded_headers.py": {
        "RecordedHeadersWriter._discard remove_empty": ["this run has just made it, and nothing is in it"]
    },
    "storage/volumes/collective_file.py": {"abort remove_file": ["the unfinished file that this run writes"]},
    "storage/volumes/registry.py": {
        "remove_volume remove_file": ["a file that the callers' records name, or of a name of trials"],
        "remove_volume remove_tree": ["by the mark of its format"],
    },
}
# Folders of Python's, which go with the block that has made them.
TEMPORARY = {
    "apps/farm/demo.py", "apps/ocean/probes.py", "lab/calibrate.py", "lab/studies/forecast.py", "runs/small_runs.py",
    "seismic/elastic/probes.py", "seismic/probes.py", "storage/folder.py",
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


def removals(text: str) -> Counter[str]:
    """How often which function calls, or hands on, what removes: by its name, that of its class before it."""
    found: Counter[str] = Counter()

    def walk(node: ast.AST, within: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = child.id if isinstance(child, ast.Name) else child.attr if isinstance(child, ast.Attribute) else ""
            if OURS.fullmatch(name):
                found[f"{within} {name}"] += 1
            inner = isinstance(child, ast.FunctionDef | ast.ClassDef) and (not within or within[0].isupper())
            walk(child, f"{within}.{child.name}".strip(".") if inner and "." not in within else within)

    walk(ast.parse(text), "")
    return found


def test_every_call_has_its_reason():
    found = {name: removals(text) for name, text in sources(".py") if name != REMOVAL and WORDS.search(text)}
    told = {name: Counter({call: len(why) for call, why in calls.items()}) for name, calls in REMOVES.items()}
    assert {name: calls for name, calls in found.items() if calls} == told


def test_a_call_that_is_new_is_seen():
    old = "class A:\n    def b(self):\n        remove_file(self.c)\n"
    assert removals(old) == {"A.b remove_file": 1}
    assert removals(f"{old}        remove_file(self.d)\n") == {"A.b remove_file": 2}
    assert removals(f"{old}    def d(self):\n        return map(atomic.remove_parts, self.c)\n")["A.d remove_parts"]


def test_temporary_folders_are_in_the_list():
    kinds = {"TemporaryDirectory", "TemporaryFile", "NamedTemporaryFile"}
    assert {name for name, found in calls().items() if kinds & found} == TEMPORARY


def test_no_kernel_and_no_command_removes_anything_else():
    assert [name for name, text in sources(".cpp", ".hpp") if C_CALLS.search(text)] == []
    lines = {(name, line) for name, text in sources(".py", ".toml", ".txt", ".in") for line in RM.findall(text)}
    assert lines == SCRIPTS
    assert [name for name, found in calls().items() if any(call.startswith("the command ") for call in found)] == []
