"""The programs of the collection, each really run once at a small size; skipped where it is not installed.

LAMMPS and HPCC are run by `make verify`, which installs them (packages-verify.txt)."""

import json
import random
import shutil
import subprocess
import sys

import pytest
from cli_support import MIGRATE, MODEL, inputs, survey
from paths import ROOT
from recipe_support import run_recipe

from fathometer.lab.io.page_cache import drop

INPUTS = ROOT / "examples" / "studies" / "inputs"


def positive(figures, *names):
    assert all(figures[name] > 0 for name in names), figures


def test_migrate(tmp_path):
    inputs(tmp_path)
    survey(tmp_path, MIGRATE)
    settings = {"history.store": "disk", "propagation.order": 4}
    figures, problems = run_recipe("fathometer-migrate", {"survey": "survey.toml"}, tmp_path / "run", settings=settings)
    assert problems == []
    positive(figures, "total", "kernel", "grid point updates", "shots", "peak memory")
    assert figures["kernel"] < figures["total"]
    assert not (tmp_path / "out").exists()


def test_model_and_a_wrong_setting(tmp_path):
    inputs(tmp_path)
    survey(tmp_path, MODEL)
    recipe = "fathometer-model"
    figures, problems = run_recipe(recipe, {"survey": "survey.toml"}, tmp_path / "run")
    assert problems == []
    positive(figures, "total", "kernel", "shots")
    figures, problems = run_recipe(recipe, {"survey": "survey.toml"}, tmp_path / "bad", settings={"a.b": 1})
    assert figures == {}
    assert "total: no file out/run.json" in problems
    assert "ended with exit code 2; allowed: exit code 0" in problems
    assert "[a]: unknown section" in (tmp_path / "bad" / "stderr").read_text()


def test_stencil(tmp_path):
    given = {"grid": "40,36,44", "steps": 3, "repeat": 1, "time_depth": 1}
    figures, problems = run_recipe("fathometer-stencil", given, tmp_path / "run")
    assert problems == []
    positive(figures, "grid point updates", "triad")


def test_io(tmp_path):
    given = {"directory": str(tmp_path), "grid": "24,20,16", "repeat": 3}
    figures, problems = run_recipe("fathometer-io", given, tmp_path / "run")
    assert problems == []
    positive(figures, "best write", "raw write")
    (tmp_path / "probe").write_bytes(b"0" * 65536)
    if drop(tmp_path / "probe") == 0:  # else files are in memory there, and no read is said to be of a disk
        positive(figures, "best read")
    seconds = {
        row["operation"]: row["all_seconds"]
        for row in json.loads((tmp_path / "run" / "io.json").read_text())["results"]["rows"]
    }
    for operation, times in seconds.items():
        assert len(times) == 3
        rates = [figures[f"{word} {operation} rate"] for word in ("least", "mean", "most")]
        assert rates == pytest.approx([4 * 24 * 20 * 16 / s for s in (max(times), sum(times) / 3, min(times))])


def test_opm_flow(tmp_path):
    recipe, deck = "opm-flow", tmp_path / "WATERFLOOD.DATA"
    subprocess.run([sys.executable, INPUTS / "waterflood.py", deck], check=True)
    given = {"deck": str(deck)}
    figures, problems = run_recipe(recipe, given, tmp_path / "run", 2, {"linear-solver-reduction": 0.001})
    assert problems == []
    positive(figures, "total", "newton iterations", "seconds per newton iteration")
    assert figures["linear iterations"] > figures["newton iterations"]
    (tmp_path / "wrong.DATA").write_text("RUNSPEC\nNOSUCHKEYWORD\n")
    figures, problems = run_recipe(recipe, {"deck": "wrong.DATA"}, tmp_path / "bad")
    assert "total" not in figures
    assert "'End of simulation' is missing in stdout" in problems


def test_blast(tmp_path):
    source = random.Random(3)
    letters = "ACDEFGHIKLMNPQRSTVWY"
    proteins = ["".join(source.choices(letters, k=source.randint(80, 300))) for _ in range(200)]
    fasta = "".join(f">p{place}\n{protein}\n" for place, protein in enumerate(proteins))
    (tmp_path / "proteins.fasta").write_text(fasta)
    queries = ["".join(a if source.random() > 0.1 else source.choice(letters) for a in proteins[n]) for n in range(5)]
    (tmp_path / "queries.fasta").write_text("".join(f">q{place}\n{query}\n" for place, query in enumerate(queries)))
    if shutil.which("makeblastdb") is None:
        pytest.skip("no program makeblastdb on PATH; needed: the Debian package ncbi-blast+")
    words = ("makeblastdb", "-in", "proteins.fasta", "-dbtype", "prot", "-out", "made/database")
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    given = {"query": "queries.fasta", "database": "made"}
    figures, problems = run_recipe("blast", given, tmp_path / "run", settings={"evalue": 0.001})
    assert problems == []
    assert (figures["searched"], figures["hits"]) == (5, 5)
    assert figures["queries"] == pytest.approx(5 / figures["total"])


def test_netpipe(tmp_path):
    figures, problems = run_recipe(
        "netpipe",
        {"largest": 4096, "bandwidth_size": 2048, "options": ["-n", "20", "-p", "0"]},
        tmp_path / "run",
        2,
    )
    assert problems == []
    words = [line.split() for line in (tmp_path / "run" / "np.out").read_text().splitlines()]
    rows = [[float(word) for word in line] for line in words]
    printed = 10.0 ** -len(words[0][2].partition(".")[2])  # s: the last digit
    times = {int(size): seconds for size, _, seconds in rows}
    assert figures["latency of 8 bytes"] == pytest.approx(times[8], abs=0.51 * printed)
    for name, size in (
        ("bandwidth of 2048 bytes", 2048),
        ("highest bandwidth", int(max(rows, key=lambda row: row[1])[0])),
    ):
        assert figures[name] == pytest.approx(size / times[size], rel=0.51 * printed / times[size] + 1e-6)


@pytest.mark.verify
def test_lammps(tmp_path):
    figures, problems = run_recipe("lammps", {}, tmp_path / "run", 2, {"n": 5, "steps": 40})
    assert problems == []
    assert (figures["atoms"], figures["steps"]) == (500, 40)
    assert figures["time steps"] == pytest.approx(40 / figures["total"], rel=1e-3)
    assert figures["atom steps"] == pytest.approx(500 * 40 / figures["total"])
    positive(figures, "pair", "neighbours", "communication")


@pytest.mark.verify
def test_hpcc(tmp_path):
    given = {"n": 200, "block": 40, "columns": 2}
    figures, problems = run_recipe("hpcc", given, tmp_path / "run", 2)
    assert problems == []
    positive(figures, "linpack", "dgemm star", "random access", "ring latency", "ring bandwidth", "fft")
    assert figures["linpack"] == pytest.approx((2 / 3 * 200**3 + 1.5 * 200**2) / figures["linpack time"], rel=0.02)
