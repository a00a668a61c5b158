"""The matrix of messages against Open MPI's own monitoring, which counts elsewhere: below the calls."""

import json

from profile_support import cli, compiled, counted, launcher

from fathometer.lab.profile.results import results_of


def pairs(matrix):
    return sorted(zip(matrix["rank"], matrix["peer"], matrix["messages"], matrix["bytes"], strict=True))


def test_messages_and_bytes_are_those_of_the_monitoring(tmp_path):
    program = compiled(tmp_path, "cg.c")
    words = [program, 500, 40]
    (job,) = counted(tmp_path / "ours", words, ranks=3)
    done = cli(tmp_path, "--profiler", "ompi", "--keep", "--", *launcher("openmpi", 3), *words)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "profile" / "profile.json").read_text())
    assert pairs(record["results"]["matrix"]["messages"]) == pairs(results_of(job)["matrix"]["messages"])
    assert record["results"]["size"] == 3
    assert "Bytes between ranks" in (tmp_path / "profile" / "profile.html").read_text()


def test_bytes_of_one_sided_communication_are_those_of_the_monitoring(tmp_path):
    program = compiled(tmp_path, "counted.c")
    (job,) = counted(tmp_path / "ours", [program])
    done = cli(tmp_path, "--profiler", "ompi", "--quiet", "--", *launcher("openmpi", 2), program)
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "profile" / "profile.json").read_text())["results"]["matrix"]
    ours = results_of(job)["matrix"]
    for kind in ("puts", "gets"):
        assert theirs[kind]["bytes"] == ours[kind]["bytes"]
    # Messages of requests that are started again are not in the monitoring of Open MPI 4.
    restarted = [5 * 24, 5 * 24]
    assert [a - b for a, b in zip(ours["messages"]["bytes"], theirs["messages"]["bytes"], strict=True)] in (
        restarted,
        [0, 0],
    )
