"""The studies of examples/studies/: each runs at a tiny size and says what it asks; `make verify` runs them whole."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import MIGRATE, call, here, inputs, survey
from cluster_support import cluster_names, require_clusters
from paths import ROOT
from patience import PATIENCE
from support import FULL

from fathometer.base.errors import InputError
from fathometer.lab.cluster.gluster import require_gluster
from fathometer.lab.studies.comparison import compare_builds
from fathometer.lab.studies.mixes import ALONE, THROUGHPUT
from fathometer.lab.studies.store import read_results

STUDIES = ROOT / "examples" / "studies"
ONE_ROUND = {r"repetitions = .*": "repetitions = 1", r"warm_up = 1": "warm_up = 0"}


def copied(name, folder, changes):
    """A study of the examples in a folder of its own, with what the patterns fit replaced."""
    shutil.copytree(STUDIES / "inputs", folder / "inputs", dirs_exist_ok=True)
    text = (STUDIES / name).read_text(encoding="utf-8")
    for pattern, new in changes.items():
        text, count = re.subn(pattern, new, text)
        assert count == 1, (pattern, count)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def tiny_survey(folder):
    """What stands in a study file for the survey that the example prepares: it takes longer than its study here."""
    inputs(folder)
    survey(folder, MIGRATE)
    return {
        r"\[\[prepare\]\] +# (the survey|a small 3D model)[^[]*\[[^]]*\]\nmakes = .*": "",
        r"survey = .*": 'survey = "survey.toml"',
    }


def measured(path, results=""):
    """What the study has measured when it is complete; all of its runs went well."""
    # In a process of its own: what MPI leaves in the environment of these tests would be that of the ranks.
    done = call("study", "run", path, *(["--output", path.parent / results] if results else []))
    assert done.code == 0, done.err
    found = read_results(path.parent / (results or f"{path.stem}.study"))
    assert found.ended
    failures = [run.failed for case in found.cases.values() for run in case.runs if run.failed]
    assert failures == []
    return found, done


def test_ranks_and_threads(tmp_path):
    few = {r"threads = \[1, 2\]": "threads = [1]", r"ranks = \[1, 2\]": "ranks = [1]"}
    found, done = measured(copied("ranks-threads.toml", tmp_path, ONE_ROUND | tiny_survey(tmp_path) | few))
    assert len(found.cases) == 2
    kinds = [run.kind for case in found.cases.values() for run in case.runs]
    assert kinds.count("round") == 2
    assert kinds.count("winner") >= 1  # the best history, once more
    assert "All settings" in done.out
    for case in found.cases.values():  # the factor is a key of the survey
        record = tmp_path / "ranks-threads.study" / case.runs[0].folder / "out" / "run.json"
        assert json.loads(record.read_text())["results"]["history"]["store"] == case.case.settings["history"]


@pytest.mark.trials
def test_storage_twice_and_compared(tmp_path):
    small = {r"grid = .*": 'grid = "24,20,16"', r"repeat = 5": "repeat = 2", r"ranks = \[1, 2\]": "ranks = [1]"}
    path = copied("storage.toml", tmp_path, ONE_ROUND | small)
    for results in ("first.study", "second.study"):
        found, done = measured(path, results)
        assert len(found.cases) == 2
        for case in found.cases.values():
            for operation in ("write", "read"):
                least, mean, most = (case.values(f"{word} {operation} rate")[1] for word in ("least", "mean", "most"))
                assert 0 < least <= mean <= most
        assert "least write rate" in done.out
    done = here("study", "compare", tmp_path / "first.study", tmp_path / "second.study")
    assert done.code == 4, done.err  # two sessions tell nothing beyond doubt
    assert re.search(r"Gate: of \d+ figures 0 worse, \d+ undecided, 0 not worse", done.out)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["first.study", "inputs", "second.study", "storage.toml"]


FEW_JOBS = {r"flows = \[0.*\] ": "flows = [0, 1, 2] ", r"migrations = \[0.*": "migrations = [0, 1]"}
KEEP_ALL = {r'time_limit = "2min"': 'time_limit = "2min"\nkeep = "all"'}
FEW_JOBS |= {r'"36"': '"6"', r"lists = .*": "lists = {flows = [1], migrations = [1]}"}


@pytest.mark.trials
@pytest.mark.skipif(shutil.which("flow") is None, reason="no program flow on PATH: libopm-simulators-bin")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="jobs beside each other need two cpus")
def test_throughput(tmp_path):
    path = copied("throughput.toml", tmp_path, ONE_ROUND | tiny_survey(tmp_path) | FEW_JOBS | KEEP_ALL)
    found, done = measured(path)
    assert "OPM Flow beside migrations" in done.out
    mixes = {
        tuple(case.case.settings.values()): case for case in found.cases.values() if ALONE not in case.case.settings
    }
    one, two = (1, 0), (2, 0)
    assert set(mixes) == {(*jobs, folder) for jobs in (one, two) for folder in ("own", "shared")} | {(1, 1, "own")}
    for (flows, migrations, _), case in mixes.items():
        [run] = case.runs
        figures = run.figures
        each = [figures[f"flow {n} elapsed"] for n in range(1, flows + 1)]
        own = found.cases[found.baselines[case.case.name]["flow"]].runs[0].figures["flow elapsed"]
        total = sum(own / seconds for seconds in each)
        assert (f"migration {THROUGHPUT}" in figures) == (migrations == 1)
        assert figures[THROUGHPUT] == pytest.approx(total + figures.get(f"migration {THROUGHPUT}", 0.0))
        # Every job has written results of its own, also in one folder.
        left = {path.name for path in (tmp_path / "throughput.study" / run.folder).rglob("WATERFLOOD-*.UNSMRY")}
        assert left == {f"WATERFLOOD-{n}.UNSMRY" for n in range(1, flows + 1)}


def test_throughput_without_flow(tmp_path, monkeypatch):
    """One line, before the first run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    path = copied("throughput.toml", tmp_path, ONE_ROUND | tiny_survey(tmp_path) | FEW_JOBS)
    done = here("study", "run", path)
    assert done.code == 2
    assert "recipe opm-flow: no program flow on PATH; needed: the Debian package libopm-simulators-bin" in done.err
    assert len([line for line in done.err.splitlines() if "error" in line]) == 1
    assert not (tmp_path / "throughput.study" / "cases").exists()


SMALL_STEPS = {r"grid = .*": 'grid = "24,20,16"', r"steps = 6": "steps = 2", r"repeat = 3": "repeat = 1"}
SMALL_STEPS |= {r"physics = .*": 'physics = ["vti"]', r"order = .*": "order = [4]"}


def test_regression_and_its_gate(tmp_path):
    path = copied("regression.toml", tmp_path, ONE_ROUND | SMALL_STEPS)
    done = call("study", "run", path, "--undecided", "pass")
    assert done.code == 0, done.err  # one round decides nothing
    folder = tmp_path / "regression.study"
    cases = {("build" in case.case.settings): name for name, case in read_results(folder).cases.items()}
    assert read_results(folder).cases[cases[True]].values("grid point updates")[1] > 0
    # Eight rounds of each build, this one as if it had so much of the baseline's speed, with a noise of 1 %.
    for speed, code in ((1.0, 0), (0.5, 3), (1.5, 0), (0.97, 4)):
        for baseline, name in cases.items():
            file = folder / "cases" / f"{name}.json"
            values = json.loads(file.read_text())
            first = values["runs"][0] | {"marks": [], "kind": "round"}
            runs = []
            for number in range(1, 9):
                noise = 1.0 + 0.01 * ((number * (5 if baseline else 3)) % 8 - 3.5) / 3.5
                figures = first["figures"] | {"grid point updates": 2e9 * (1.0 if baseline else speed) * noise}
                runs.append(first | {"number": number, "figures": figures})
            file.write_text(json.dumps(values | {"runs": runs}))
        done = here("study", "compare", folder)
        assert done.code == code, (speed, done.out)
        if code == 3:
            assert "gate: grid point updates of physics = vti, order = 4 got worse by more than 3 %: 0.5" in done.err


@pytest.mark.trials
@pytest.mark.parametrize("name", ["profile", "interconnect"])
def test_studies_of_reactive_flow(tmp_path, name):
    """A round of few cases: what MPI did is counted, on each number of nodes."""
    require_clusters()
    pytest.importorskip("petsc4py", reason="PETSc is not installed")
    few = {
        "profile": {r"nodes = \[1, 2, 4\]": "nodes = [1, 2]"},
        "interconnect": {r'"10gbit", "unlimited"': '"unlimited"', r'\["gmres", "bcgs"\]': '["gmres"]'},
    }
    found, _ = measured(copied(f"reactive-{name}.toml", tmp_path, ONE_ROUND | few[name]))
    cases = [case.runs[0].figures for case in found.cases.values()]
    assert len(cases) == 2
    if name == "profile":
        one, two = sorted(cases, key=lambda figures: figures["messages"])
        assert one["messages"] == 0 < two["messages"]
        assert 0 < two["Allreduce of MPI time"] < 1
        assert 0 < two["calls below 4 KB"] < 1
        assert one["linear iterations"] == pytest.approx(two["linear iterations"], rel=0.2)
    else:
        assert cases[0]["linear iterations"] == cases[1]["linear iterations"]
    assert cluster_names() == []


@pytest.mark.trials
def test_the_study_of_an_ocean(tmp_path):
    """A round of few cases: the same iterations in both process grids."""
    require_clusters()
    few = {r'"pcg", "chronopoulos-gear", "pipelined"': '"pcg", "chronopoulos-gear"'}
    few |= {r'"unlimited", "1gbit"': '"unlimited"'}
    found, _ = measured(copied("ocean-grids.toml", tmp_path, ONE_ROUND | few))
    cases = [case.runs[0].figures for case in found.cases.values()]
    assert len(cases) == 6
    assert max(c["iterations a step"] for c in cases) <= 1.1 * min(c["iterations a step"] for c in cases)
    assert all(c["baroclinic"] > 0 and c["barotropic"] > 0 for c in cases)
    assert cluster_names() == []


@pytest.mark.trials
def test_the_study_of_decimated_steps(tmp_path):
    """A round of tiny files: lists and subarrays, one step or all before a write, on the published processes."""
    few = {r"grid = .*": 'grid = "12,10,8"', r"steps = \[100\]": "steps = [4]", r"\[1, 10, 100\]": "[1, 4]"}
    few |= {r"repetitions = .*": "repetitions = 1", r"ranks = \[12\]": "ranks = [2]", r'"3,2,2"': '"2,1,1"'}
    found, done = measured(copied("decimated-steps.toml", tmp_path, few))
    assert {tuple(case.case.settings.values())[:3] for case in found.cases.values()} == {
        (library, kind, buffer)
        for library in ("ompio", "romio321")
        for kind in ("hindexed", "subarray")
        for buffer in (1, 4)
    }
    for case in found.cases.values():
        assert 0 < case.values("least write rate")[1] <= case.values("most write rate")[1]
    assert "AWP-ODC" in done.out + (tmp_path / "decimated-steps.study" / "study.md").read_text()


@pytest.mark.trials
def test_the_study_of_a_tecplot_file(tmp_path):
    """A round of few cases, on the disk alone: as many calls as the guide says, and what one machine cannot show."""
    require_clusters()
    few = {r'place = \["shared", "network"\] ': 'place = ["shared"]', r", network_folder = true": ""}
    few |= {r'"ompio", "romio321"': '"ompio"', r'"offsets", "memory", "views", "packed"': '"offsets", "packed"'}
    found, done = measured(copied("tecplot.toml", tmp_path, ONE_ROUND | few))
    calls = {tuple(case.case.settings.values())[1:]: case.values("I/O calls")[1] for case in found.cases.values()}
    variables, times, rows = 6, 2, 32 * 32
    # Beside writing: opened and closed by each node; rank 0 writes two headers a time.
    assert calls[1, "ompio", "types", "kept", "packed", "collective"] == times * (variables + 2) + 1
    assert calls[2, "ompio", "types", "kept", "packed", "collective"] == times * (2 * variables + 2) + 2
    assert calls[1, "ompio", "types", "kept", "offsets", "independent"] == times * (variables * rows + 2) + 1
    assert calls[1, "ompio", "types", "call", "offsets", "independent"] == 3 * times * (variables * rows + 2)
    assert "What one machine cannot show" in done.out
    assert "PICMSS" in (tmp_path / "tecplot.study" / "study.html").read_text()
    assert cluster_names() == []


@pytest.mark.trials
def test_the_study_of_a_plasma(tmp_path):
    """A round of few cases, with the published share of communication beside it."""
    require_clusters()
    few = {r'"alltoallw", "alltoallv", "pairwise"': '"alltoallv"', r"overlap = \[false, true\]": "overlap = [true]"}
    found, done = measured(copied("plasma.toml", tmp_path, ONE_ROUND | few))
    for case in found.cases.values():
        assert case.values("rate")[1] > 0
        assert 0 < case.values("communication share")[1] < 1
    assert "GTC.n64.500" in done.out + (tmp_path / "plasma.study" / "study.md").read_text()
    assert cluster_names() == []


def test_the_study_of_an_atmosphere(tmp_path):
    """A round of few cases: day and night are balanced by both ways of sharing them out."""
    few = {
        r"columns = \[16, 256\]": "columns = [64]",
        r'binding = \["cores", "none"\]': 'binding = ["cores"]',
        r'exchange = \["all-to-all", "point-to-point"\]': 'exchange = ["all-to-all"]',
        r'protocol = \["alltoallv", "pairwise"\]': 'protocol = ["alltoallv"]',
    }
    path = copied("atmosphere.toml", tmp_path, ONE_ROUND | few)
    tiny = {"truncation = 42": "truncation = 21", 'table = "cam26"': "count = 6", "step = 1200.0": "step = 2400.0"}
    text = (tmp_path / "inputs" / "day-night.toml").read_text()
    for old, new in tiny.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "inputs" / "day-night.toml").write_text(text)
    found, done = measured(path)
    assert {tuple(case.case.settings[name] for name in ("ranks", "balance")) for case in found.cases.values()} == {
        (1, "none"), (2, "none"), (2, "all"), (2, "partner")
    }  # fmt: skip
    for case in found.cases.values():
        assert case.values("rate")[1] > 0
        assert case.values("physics imbalance")[1] >= 1
    assert "What one machine cannot show" in done.out
    assert "CAM, dev54" in done.out + (tmp_path / "atmosphere.study" / "study.md").read_text()


@pytest.mark.trials
@pytest.mark.skipif(shutil.which("blastp") is None, reason="no blastp on PATH (package ncbi-blast+)")
def test_the_study_of_a_farm(tmp_path):
    """A round of few cases: two buffers save more than results one by one, in one write a node."""
    require_clusters()
    few = {r"queries = \[1, 4, 16\]": "queries = [16]", r'compression = \["zstd", "none"\]': 'compression = ["zstd"]'}
    found, done = measured(copied("farm.toml", tmp_path, ONE_ROUND | few | {r"block = \[65536, ": "block = ["}))
    for nodes in (1, 2):
        of = {
            case.case.settings["buffers"]: case
            for case in found.cases.values()
            if case.case.settings["nodes"] == nodes and case.case.settings["levels"] == "three"
        }
        assert of["dual"].values("compression ratio")[1] >= of["on demand"].values("compression ratio")[1]
        assert of["dual"].values("writes")[1] == nodes
        assert of["on demand"].values("writes")[1] == 7
    assert "What one machine cannot show" in done.out
    assert cluster_names() == []


full = pytest.mark.skipif(not FULL, reason="minutes each: make verify")


@pytest.mark.verify
@full
@pytest.mark.parametrize(
    "name",
    [
        "ranks-threads",
        "storage",
        "throughput",
        "interconnect",
        "placement",
        "collectives",
        "shared-memory",
        "cluster-throughput",
        "mix",
        "reactive-profile",
        "reactive-interconnect",
        "ocean-grids",
        "decimated-steps",
        "tecplot",
        "plasma",
        "farm",
    ],
)
def test_whole(tmp_path, name):
    if name.startswith("reactive"):
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    if name in ("throughput", "mix") and shutil.which("flow") is None:
        pytest.skip("no program flow on PATH: libopm-simulators-bin")
    if name == "farm" and shutil.which("blastp") is None:
        pytest.skip("no blastp on PATH (package ncbi-blast+)")
    if name == "tecplot":
        try:
            require_gluster(user_namespace=os.geteuid() != 0)
        except InputError as error:
            pytest.skip(str(error))
    # An hour on two cores: a tenth of the steps here.
    fewer = {r"steps = \[100\]": "steps = [10]", r"\[1, 10, 100\]": "[1, 10]"} if name == "decimated-steps" else {}
    found, done = measured(copied(f"{name}.toml", tmp_path, fewer))
    assert found.rounds() >= 1
    assert (tmp_path / f"{name}.study" / "study.html").stat().st_size > 0
    print(done.out)


@pytest.mark.verify
@full
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="half of the cpus is what makes it slower")
def test_a_build_that_uses_half_of_the_cpus_is_found(tmp_path):
    """The gate on what was really measured: what stands for the faster, earlier build runs on all cpus."""
    path = copied("regression.toml", tmp_path, {r'baseline = "fathometer"': f'baseline = "{fathometer()}"'})
    slow = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    command = [*slow, sys.executable, "-m", "fathometer", "study", "run", path]
    done = subprocess.run(command, check=False, timeout=2 * PATIENCE)
    if done.returncode == 4 and any(
        cell.why for cell in compare_builds(read_results(path.with_suffix(".study"))).cells
    ):
        pytest.skip("others used the cpus all the time, which hides what is to be found")
    assert done.returncode == 3


def fathometer():
    """This program on all cpus, whatever it is started by."""
    return f"taskset -c {','.join(map(str, os.sched_getaffinity(0)))} {sys.executable} -m fathometer"


def test_every_example_is_here_and_in_the_chapter():
    names = {path.name for path in STUDIES.glob("*.toml")}
    on_this_host = {
        "ranks-threads",
        "storage",
        "throughput",
        "regression",
        "shared-memory",
        "decimated-steps",
        "atmosphere",
    }
    on_a_cluster = {"interconnect", "placement", "collectives", "cluster-throughput", "mix"}
    on_a_cluster |= {"reactive-profile", "reactive-interconnect", "ocean-grids", "tecplot", "plasma", "farm"}
    assert names == {f"{name}.toml" for name in on_this_host | on_a_cluster}
    text = (ROOT / "docs" / "guide" / "studies.md").read_text(encoding="utf-8")
    assert names <= set(re.findall(r"^\| `([\w-]+\.toml)` \|", text, re.MULTILINE))
    for path in names:
        first = (STUDIES / path).read_text(encoding="utf-8")
        assert f"fathometer study run {Path('examples', 'studies', path)}" in first


needs_mpicc = pytest.mark.skipif(shutil.which("mpicc") is None, reason="no mpicc on PATH: libopenmpi-dev")


@needs_mpicc
def test_placement_over_nodes(tmp_path):
    """Bytes between nodes are those that follow from the planes, the parts and where ranks are."""
    require_clusters()
    path = copied("placement.toml", tmp_path, {r"repetitions = 4 +": "repetitions = 1 "})
    found, _ = measured(path)
    plane, part, steps = 64 * 64 * 8, 64 * 64 // 4 * 16 * 8, 20
    borders = {(2, "block"): 1, (2, "cyclic"): 3, (4, "block"): 3, (4, "cyclic"): 3}  # between ranks on two nodes
    for case in found.cases.values():
        kernel, nodes, how = (case.case.settings[name] for name in ("kernel", "nodes", "distribution"))
        messages = 2 * borders[nodes, how] if kernel == "halo" else 4 * (2 if nodes == 2 else 3)
        figures = case.runs[0].figures
        assert figures["messages between nodes"] == steps * messages
        assert figures["bytes between nodes"] == steps * messages * (plane if kernel == "halo" else part)


@needs_mpicc
@pytest.mark.trials
@pytest.mark.parametrize("name", ["interconnect", "collectives", "shared-memory", "cluster-throughput", "mix"])
def test_studies_of_nodes(tmp_path, name):
    """Each runs a round of few cases."""
    require_clusters()
    if name == "mix" and shutil.which("flow") is None:
        pytest.skip("no program flow on PATH: libopm-simulators-bin")
    few = {
        "interconnect": {r'"migration", "cg"': '"migration"', r'"10gbit", ': "", r"rails = \[1, 2\]": "rails = [2]"},
        "collectives": {r"algorithm = \[.*\]": "algorithm = [1, 3]"},
        "shared-memory": {r"cells = \[16, 64\]": "cells = [16]"},
        "cluster-throughput": {r"jobs = \[1, 2, 4\]": "jobs = [1, 2]"},
        "mix": {
            r'"36"': '"6"',
            r"flows = \[0.*\] ": "flows = [1] ",
            r"migrations = \[0.*": "migrations = [1]",
            r"flows \+ 2 \* migrations <= 4": "flows + 2 * migrations <= 3",
        },
    }
    rounds = {r"repetitions = \d+": "repetitions = 1", r"warm_up = 1": "warm_up = 0"}
    found, _ = measured(copied(f"{name}.toml", tmp_path, rounds | few[name]))
    if name == "mix":
        mixes = [case for case in found.cases.values() if ALONE not in case.case.settings]
        assert {case.case.settings["spread"] for case in mixes} == {"compact", "distributed"}
        for figures in (case.runs[0].figures for case in mixes):
            parts = [figures[f"{job} {THROUGHPUT}"] for job in ("flow", "migration")]
            assert figures[THROUGHPUT] == pytest.approx(sum(parts))
            assert figures["migration samples summed"] > 0
    clusters = found.machine.get("clusters", [])
    assert len(clusters) == {"interconnect": 2, "shared-memory": 0}.get(name, 1)
    assert cluster_names() == []
