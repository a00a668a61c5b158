"""Searches by blastp: merged, they are what one blastp over all queries writes."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from cli_support import run
from farm_support import farm, record, results

from fathometer.apps.farm import blast_xml, demo
from fathometer.apps.farm.samples import size_of_tasks

pytestmark = pytest.mark.skipif(shutil.which("blastp") is None, reason="no blastp on PATH (package ncbi-blast+)")


@pytest.fixture(scope="module")
def proteins(tmp_path_factory):
    """Queries and a database, and what one blastp says of all."""
    folder = tmp_path_factory.mktemp("blast")
    queries, database = demo.sequences(24, 200, seed=7)
    queries = queries.replace(">query5 ", '>q<5>&" ')
    (folder / "queries.fasta").write_text(queries)
    demo.make_database(folder / "database", database)
    words = ["blastp", "-query", "queries.fasta", "-db", "database/proteins", "-outfmt", "5"]
    whole = subprocess.run(words, cwd=folder, capture_output=True, check=True).stdout
    assert whole.count(b"<Hit>") > 20
    return folder, whole


TASKS = {"kind": "fasta", "file": "queries.fasta", "database": "database/proteins", "name": "search"}


@pytest.mark.parametrize(("queries", "workers"), [(1, 3), (5, 2), (24, 1)])
def test_all_as_one_document(proteins, capsys, queries, workers):
    folder, whole = proteins
    name = f"{queries}"
    path = farm(folder, TASKS | {"queries": queries}, farm={"workers": workers}, output={"directory": name})
    done = run(capsys, "farm", path)
    assert done.code == 0, done.err
    done = run(capsys, "farm", "extract", folder / name, "-o", folder / "all.xml")
    assert done.code == 0, done.err
    assert (folder / "all.xml").read_bytes() == whole
    assert len(ElementTree.parse(folder / "all.xml").findall(".//Iteration")) == 24


def test_one_query_as_a_document(proteins, capsys):
    folder, whole = proteins
    path = farm(folder, TASKS | {"queries": 7}, output={"directory": "one"})
    assert run(capsys, "farm", path).code == 0
    alone = ElementTree.fromstring(whole)
    for name in ("query1", 'q<5>&"', "query24"):
        done = run(capsys, "farm", "extract", folder / "one", "--query", name, "-o", folder / "one.xml")
        assert done.code == 0, done.err
        [found] = ElementTree.parse(folder / "one.xml").findall(".//Iteration")
        wanted = next(one for one in alone.iter("Iteration") if one.findtext("Iteration_query-def").split()[0] == name)
        for part in ("Iteration_query-def", "Iteration_query-len"):
            assert found.findtext(part) == wanted.findtext(part)
        hits = [[ElementTree.tostring(hit) for hit in one.iter("Hit")] for one in (found, wanted)]
        assert hits[0] == hits[1]


def test_the_number_of_queries_is_measured_once(proteins, capsys):
    folder, _ = proteins
    path = farm(folder, TASKS, farm={"workers": 1}, output={"directory": "measured"})
    assert run(capsys, "farm", path).code == 0
    told = record(folder / "measured")
    [(name, found)] = told["measured_queries"].items()
    assert name == "search"
    assert [size for size, _ in found] == [1, 3]  # of 24, so that one worker has eight tasks
    queries = told["groups"][0]["queries"]
    assert queries == size_of_tasks([(size, size * each) for size, each in found], 3)
    assert run(capsys, "farm", path, "--resume").code == 0  # as measured before, whatever would be now
    assert record(folder / "measured")["tasks"]["done_now"] == 0
    assert len(results(folder / "measured")) == -(-24 // queries)


def test_a_changed_database_is_noticed(proteins, capsys, tmp_path):
    shutil.copytree(proteins[0] / "database", tmp_path / "database")
    shutil.copy(proteins[0] / "queries.fasta", tmp_path)
    path = farm(tmp_path, TASKS | {"queries": 12})
    assert run(capsys, "farm", path).code == 0
    demo.make_database(tmp_path / "database", demo.sequences(24, 201, seed=7)[1])
    done = run(capsys, "farm", path, "--resume")
    assert done.code == 2
    assert "tasks.search.read.database/proteins.p" in done.err


def test_the_demo(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "farm", "--demo", "--quick")
    assert done.code == 0, done.err
    assert record(tmp_path / "farm-demo")["tasks"]["done"] > 0
    assert all(blast_xml.is_document(one) for one in results(tmp_path / "farm-demo").values())
    again = run(capsys, "farm", "--demo", "--quick")
    assert again.code == 0, again.err
    # Where BLAST+ is missing, built-in tasks are done.
    monkeypatch.setattr(demo.shutil, "which", lambda name: None)
    done = run(capsys, "farm", "--demo", "--quick")
    assert done.code == 0, done.err
    assert "package ncbi-blast+" in done.err
    assert record(tmp_path / "farm-demo")["groups"][0]["kind"] == "built-in"
