"""`fathometer stencil`: what it prints, writes and refuses."""

import json

import jsonschema
import pytest
from cli_support import call, run

from fathometer.record.schema import SCHEMA
from fathometer.seismic.waves.physics import PHYSICS

SMALL = ("stencil", "--grid", "40,36,44", "--steps", "3", "--repeat", "6")


def test_table_record_and_picture(capsys, tmp_path):
    out, picture = tmp_path / "stencil.json", tmp_path / "roofline.png"
    done = run(capsys, *SMALL, "--json", out, "--picture", picture, "--scaling", "--threads", 2)
    assert done.code == 0
    record = json.loads(out.read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    results = record["results"]
    assert (results["bytes_per_point"], results["flops_per_point"]) == (36, 52)
    low, high = results["points_per_second_interval"]
    assert 0 < low <= results["points_per_second"] <= high
    assert results["interval_coverage"] >= 0.95
    limit = results["triad_bytes_per_second"] / 36
    assert results["streaming_limit_points_per_second"] == pytest.approx(limit)
    assert results["ratio_to_streaming_limit"] == pytest.approx(results["points_per_second"] / limit)
    assert results["peak_memory_bytes"] > 3 * 4 * 2**25  # the triad's arrays at least
    assert [(m["ranks"], m["threads"]) for m in [results, *results["scaling"]]] == [(1, 2), (1, 1)]
    assert f"{results['points_per_second'] / 1e9:.3f}" in done.out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_quiet_benchmark_prints_nothing(capsys, tmp_path):
    out = tmp_path / "stencil.json"
    done = run(capsys, *SMALL, "--repeat", 1, "--json", out, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.stat().st_size > 1000


def test_ranks_share_the_grid():
    done = call(*SMALL, "--ranks", 2, "--threads", 1, "--scaling", "--time-depth", 2)
    assert done.code == 0, done.err
    assert "    2 x 1 " in done.out
    assert "    1 x 1 " in done.out
    assert "tuning: 2 time steps a sweep" in done.out


def test_two_dimensions_and_plain_sweeps(capsys):
    done = run(capsys, "stencil", "--grid", "60,50", "--physics", "isotropic", "--time-depth", 1, "--repeat", 1)
    assert done.code == 0
    assert "60 x 50 cells" in done.out
    assert "tuning: 1 time steps a sweep" in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--grid", "40"), "found 40; allowed: NX,NY,NZ"),
        (("--grid", "40,36,0"), "found 0; allowed: a whole number of at least 1"),
        (("--grid", "40,15,44"), "--grid: 15 cells along y; allowed: 16 or more at order 8"),
        (("--time-depth", "13"), "--time-depth 13: allowed: auto, or 1 to 12"),
        (("--time-depth", "none"), "found none; allowed: a whole number"),
        (("--order", "7"), "argument --order: invalid choice: "),
        (("--repeat", "0"), "found 0; allowed: a whole number of at least 1"),
        (("--picture", "roofline.jpg"), "--picture roofline.jpg: allowed: the name of a .png, .pdf or .svg file"),
    ],
)
def test_wrong_words_are_one_error(words, told, capsys):
    done = run(capsys, "stencil", *words)
    assert done.code == 2
    assert done.err.startswith("fathometer: error: ")
    assert told in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("order", "physics", "flat", "flops"),
    [(8, "vti", False, 52), (8, "vti", True, 38), (8, "isotropic", False, 45), (16, "vti", False, 88)],
)
def test_flops_by_hand(order, physics, flat, flops):
    """Order 8: a derivative is a product, four sums and four multiply-adds, 13 flops."""
    assert PHYSICS[physics].flops_per_point(order, flat) == flops
