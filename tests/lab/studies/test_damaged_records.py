"""Records of studies are checked when they are read: what is missing or of another type is one line with its place."""

import json
from functools import reduce

import pytest
from study_support import MACHINE, keep, study

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.cluster.state import of_json
from fathometer.lab.studies import clock
from fathometer.lab.studies.cluster_runner import clusters_in
from fathometer.lab.studies.processes import Ended
from fathometer.lab.studies.single_run import RESULT, SPEC, Outcome, SingleRun, outcome_in, read_spec, write_outcome
from fathometer.lab.studies.store import CASES, CLUSTERS, STUDY, read_results
from fathometer.record.cluster import MARKER, STATE, own_cluster

RUN = ("runs", 1)
CASE = {
    "a figure that is a text": ((*RUN, "figures", "total"), "2.5", "runs.1.figures.total: found '2.5'"),
    "a figure that is true": ((*RUN, "figures", "total"), True, "runs.1.figures.total: found True"),
    "figures that are a list": ((*RUN, "figures"), [1.0], "runs.1.figures: found [1.0]"),
    "a begin that is a text": ((*RUN, "begin"), "now", "runs.1.begin: found 'now'"),
    "a begin of another age": ((*RUN, "begin"), 1e300, "runs.1.begin: found 1e+300"),
    "seconds that are missing": ((*RUN, "seconds"), None, "runs.1.seconds: found None"),
    "seconds below 0": ((*RUN, "seconds"), -1.0, "runs.1.seconds: found -1.0"),
    "marks that are a text": ((*RUN, "marks"), "shared", "runs.1.marks: found 'shared'"),
    "a mark that is a number": ((*RUN, "marks"), [1], "runs.1.marks.0: found 1"),
    "an unknown kind": ((*RUN, "kind"), "rounds", "runs.1.kind: found 'rounds'"),
    "a number of no round": ((*RUN, "number"), 0, "runs.1.number: found 0"),
    "runs that are an object": (("runs",), {}, "runs: found {}"),
    "a run that is null": (RUN, None, "runs.1: found None"),
    "settings that are a list": (("settings",), [], "settings: found []"),
}
HEADER = {
    "settings of a case": (("settings", None, "ranks"), [1], "settings."),
    "settings of another case": (("settings", None, "ranks"), 2, "of another case"),
    "settings without a factor": (("settings", None), {}, "no values of the factors"),
    "a design": (("designs", "all"), ["nowhere"], "designs.all: nowhere is no case"),
    "a direction": (("figures", "total", "direction"), "up", "figures.total.direction: found 'up'"),
    "a figure's name": (("figures", "total", "name"), "other", "figures.total: of another name"),
    "the definition": (("definition", "runs", "repetitions"), "x", "definition: [runs] repetitions"),
    "the machine": (("machine", "memory_bytes"), "8 GB", "machine.memory_bytes: '8 GB' is not of type"),
    "a network": (("machine", "networks"), [{"name": "a", "bits_per_second": "1"}], "machine.networks"),
    "a baseline": (("baselines",), {"nowhere": {"a": "b"}}, "baselines.nowhere: nowhere is no case"),
    "the words": (("command",), "fathometer study run", "command: found 'fathometer study run'"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return keep(study({"ranks": [1, 2]}, rounds=2), tmp_path_factory.mktemp("damaged") / "study")


def changed(path, place, value):
    """The JSON of a file with one value replaced; None in the place: the first key."""
    whole = json.loads(path.read_text())
    *parents, last = place
    inner = reduce(lambda node, key: node[next(iter(node)) if key is None else key], parents, whole)
    inner[next(iter(inner)) if last is None else last] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("where", "what"), [*(("case", name) for name in CASE), *(("header", name) for name in HEADER)]
)
def test_a_value_of_another_type_is_one_line(written, where, what):
    place, value, told = (CASE if where == "case" else HEADER)[what]
    path = min((written / CASES).glob("*.json")) if where == "case" else written / STUDY
    good = path.read_text()
    try:
        path.write_text(changed(path, place, value))
        with pytest.raises(InputError) as raised:
            read_results(written)
    finally:
        path.write_text(good)
    assert str(raised.value).startswith(f"{path}: damaged: ")
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_outcome_of_other_types_is_none(tmp_path):
    done = Outcome([Ended(1.0, 2.0, 0, False, 0.5)], ("shared",), "host", "cpu")
    write_outcome(tmp_path, done)
    assert outcome_in(tmp_path) == done
    for place, value in ((("ended", 0, "code"), "0"), (("ended",), {}), (("marks",), "shared"), (("ended", 0), None)):
        good = (tmp_path / RESULT).read_text()
        (tmp_path / RESULT).write_text(changed(tmp_path / RESULT, place, value))
        assert outcome_in(tmp_path) is None
        (tmp_path / RESULT).write_text(good)


def test_a_spec_of_other_types_is_refused(tmp_path):
    path = tmp_path / SPEC
    path.write_bytes(SingleRun(tmp_path, (), 2.5).as_json())
    assert read_spec(path) == SingleRun(tmp_path, [], 2.5, inputs=[])
    path.write_text(changed(path, ("time_limit",), "2.5"))
    with pytest.raises(FathometerError, match=r"spec.json: cannot be read: time_limit: found '2.5'"):
        read_spec(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"cpu0": {"scaling_min_freq": "1"}}', '{"cpu0": 1}'])
def test_a_damaged_state_of_the_clock_is_named(tmp_path, text):
    path = tmp_path / clock.STATE
    path.write_text(text)
    with pytest.raises(InputError, match=r"clock\.json: damaged"):
        clock.restore(path)
    assert path.exists()


CLUSTER = {
    "schema_version": 1,
    "name": "a",
    "spec": {"nodes": 1, "link": "1gbit", "rails": 1, "slurm": False, "network_folder": False},
    "boot": "x",
    "user_namespace": False,
    "head": {"pid": 5, "start": 7},
    "nodes": [{"name": "node1", "process": {"pid": 6, "start": 8}, "cores": [0]}],
    "owner": None,
    "links": [],
    "ready": True,
    "link_bytes_per_second": 1.25e8,
}


def test_a_damaged_state_of_a_cluster_is_none(tmp_path):
    assert of_json(CLUSTER, tmp_path).nodes[0].process.pid == 6
    (tmp_path / STATE).write_text(json.dumps(CLUSTER))
    assert own_cluster({MARKER: str(tmp_path)})["rails"] == 1
    for place, value in ((("head", "pid"), "5"), (("nodes", 0, "cores"), 3), (("spec", "link"), 1)):
        (tmp_path / "damaged.json").write_text(changed(tmp_path / STATE, place, value))
        with pytest.raises((ValueError, InputError)):
            of_json(json.loads((tmp_path / "damaged.json").read_text()), tmp_path)
    (tmp_path / STATE).write_text(json.dumps(CLUSTER | {"link_bytes_per_second": "fast"}))
    assert own_cluster({MARKER: str(tmp_path)}) is None
    (tmp_path / CLUSTERS).mkdir()
    (tmp_path / CLUSTERS / "a.json").write_text("[1]")
    assert clusters_in(tmp_path) == []


def test_the_machine_of_these_tests_is_one(written):
    assert read_results(written).machine == MACHINE


def test_a_folder_without_a_study_has_none(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="no study; allowed: a folder that `fathometer study run` has written"):
            read_results(folder)
