"""Batch scripts word by word; then jobs of a real Slurm, where there is one."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import MIGRATE, MODEL, inputs, program, run, survey
from kill_support import SLOW, record, runs_told, same_image, shots_told, survey_into
from patience import PATIENCE
from slurm_support import Unavailable, cluster

from fathometer.base.errors import InputError
from fathometer.launch.slurm import Job, batch_script, sbatch_options, slurm_time, srun_command

JOB = Job(
    ("python3", "-m", "fathometer", "migrate", "/data/north sea.toml", "--resume"),
    Path("/data/out"),
    Path("/data/out/journal"),
    "fathometer-north-sea",
    8 * 3600.0,
    nodes=4,
    task="shot",
)
LARGER = Job(JOB.command, Path("/d/100%"), Path("/d/100%/journal"), "x", 90.0, 2, 2, 32, "long", "geo", 16)

SCRIPT = """\
#!/bin/bash
# Written by `fathometer submit`. Exit code 75 means: interrupted, go on later with --resume.
#SBATCH --job-name=fathometer-north-sea
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=0-08:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@60
#SBATCH --output=/data/out/slurm-%j.out

job="$SLURM_JOB_ID"
journal=/data/out/journal
fruitless=/data/out/.slurm-$job.fruitless
finished() { cat "$journal"/*.jsonl 2>/dev/null | wc -l; }

# Who tells this script to end means its ranks; srun would kill them.
trap 'scancel --signal=TERM "$job"' TERM

before=$(finished)
srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=none python3 -m fathometer migrate '/data/north sea.toml' --resume &
ranks=$!
while kill -0 "$ranks" 2>/dev/null; do wait "$ranks"; done
wait "$ranks"; code=$?

# 143: told before they could listen.
if [ "$code" -ne 75 ] && [ "$code" -ne 143 ]; then
    rm -f "$fruitless"
    exit "$code"
fi
trap '' TERM
if [ "$(squeue --noheader --jobs="$job" --format=%T)" != RUNNING ]; then
    exit 75 # cancelled, or queued again by Slurm itself
fi
runs=0
if [ "$(finished)" -le "$before" ]; then
    runs=$(($(cat "$fruitless" 2>/dev/null || echo 0) + 1))
fi
if [ "$runs" -ge 3 ]; then
    echo "fathometer: no shot was finished in $runs runs: the job is not queued again" >&2
    rm -f "$fruitless"
    exit 75
fi
echo "$runs" > "$fruitless"
scontrol requeue "$job" || echo "fathometer: job $job is not queued again, or was already" >&2
exit 75
"""


def test_the_script():
    assert batch_script(JOB) == SCRIPT


def test_sbatch_options():
    assert sbatch_options(LARGER) == [
        "--job-name=x",
        "--nodes=2",
        "--ntasks-per-node=2",
        "--cpus-per-task=32",
        "--time=0-00:02:00",
        "--requeue",
        "--open-mode=append",
        "--signal=TERM@60",
        "--output=/d/100%%/slurm-%A_%a.out",
        "--partition=long",
        "--account=geo",
        "--array=0-15",
    ]


def test_the_job_of_a_time_migration(tmp_path, capsys):
    """Its own command, journal and log, in the folder of its results."""
    path = survey_with_gathers(tmp_path)
    done = run(capsys, "submit", path, "--time", "1h", "--migrate-time", "--print")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert f"journal={tmp_path}/out/time/journal" in lines
    assert "#SBATCH --job-name=fathometer-survey-time" in lines
    assert f"#SBATCH --output={tmp_path}/out/time/slurm-%j.out" in lines
    assert any(f"migrate-time {path} --resume" in line for line in lines)
    assert "no block was finished" in done.out
    usual = run(capsys, "submit", path, "--time", "1h", "--print").out
    assert f"fathometer migrate {path} --resume" in usual
    assert f"journal={tmp_path}/out/journal" in usual


def survey_with_gathers(folder):
    inputs(folder)
    return survey(folder, MIGRATE)


def test_a_job_of_an_array_shares_the_shots():
    srun = "srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=32 python3 -m fathometer migrate"
    assert srun_command(LARGER) == [*srun.split(), "/data/north sea.toml", "--resume", "--threads", "32"]
    lines = batch_script(LARGER).splitlines()
    assert 'job="${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' in lines
    share = '--share "array job $SLURM_ARRAY_JOB_ID" &'
    assert f"{srun} '/data/north sea.toml' --resume --threads 32 {share}" in lines


@pytest.mark.parametrize(
    ("seconds", "text"), [(60, "0-00:01:00"), (61, "0-00:02:00"), (8 * 3600, "0-08:00:00"), (90000, "1-01:00:00")]
)
def test_times(seconds, text):
    assert slurm_time(seconds) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [("30m", "0-00:30:00"), ("2d", "2-00:00:00"), ("08:00:00", "0-08:00:00"), ("1-12:00:00", "1-12:00:00")],
)
def test_time_option(text, printed, folder, capsys):
    done = run(capsys, "submit", folder / "survey.toml", "--time", text, "--print")
    assert (done.code, done.err) == (0, "")
    assert f"#SBATCH --time={printed}" in done.out
    assert f"#SBATCH --output={folder}/out/slurm-%j.out" in done.out
    assert f"{sys.executable} -P -m fathometer migrate {folder}/survey.toml --resume &" in done.out
    assert not (folder / "out").exists()


@pytest.fixture
def folder(tmp_path):
    """A survey of recorded shots, and one of a geometry."""
    inputs(tmp_path)
    survey_into(tmp_path, tmp_path / "out").rename(tmp_path / "survey.toml")
    survey(tmp_path, MODEL, "model.toml")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["survey.toml"], "the following arguments are required: --time"),
        (["survey.toml", "--time", "480"], "--time: found 480; allowed: a time such as 30m, 8h, 2d, 08:00:00"),
        (["survey.toml", "--time", "8h", "--nodes", "0"], "--nodes: found 0; allowed: a whole number of at least 1"),
        (["survey.toml", "--time", "8h", "--name", "a b"], "--name: found 'a b'; allowed: letters, digits"),
        (["none.toml", "--time", "8h"], "none.toml"),
        (["model.toml", "--time", "8h"], "[acquisition] gathers: missing; `submit` migrates recorded shots (SEG-Y)"),
        (["survey.toml", "--time", "8h"], "submit: no sbatch found on the path; allowed: a host that submits to Slurm"),
        (["memory.toml", "--time", "8h", "--nodes", "2"], "lies in the memory of this host (tmpfs); allowed: a file"),
    ],
)
def test_wrong_input_is_one_line(words, told, folder, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    text = (folder / "survey.toml").read_text()
    (folder / "memory.toml").write_text(text.replace('"out"', '"/dev/shm/fathometer"'))
    if "memory.toml" in words and not Path("/dev/shm").is_mount():
        pytest.skip("no file system in memory")
    done = run(capsys, "submit", folder / words[0], *words[1:])
    assert done.code == 2
    [line] = done.err.splitlines()
    assert told in line


HOSTILE = [
    "line\n touch pwned #",
    "return\r touch",
    "escape\x1b]0;x\x07",
    "next\x85x",
    "u\u2028x",
    "u\u2029x",
    "nul\0x",
]
STUB = """\
#!/bin/bash
printf '%s\\0' "$@" > "$RECORD"
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_control_character_never_reaches_the_script(name, folder, capsys):
    for change in ({"output": Path("/d") / name}, {"journal": Path("/d") / name}, {"name": name},
                   {"command": ("python3", name)}, {"partition": name}, {"account": name}):  # fmt: skip
        with pytest.raises(InputError, match=r"control character U\+"):
            batch_script(replace(JOB, **change))
    path = folder / "survey.toml"
    text = path.read_text()
    path.write_text(text.replace('"out"', json.dumps(name)))
    assert path.read_text() != text
    done = run(capsys, "submit", path, "--time", "8h", "--print")
    assert (done.code, done.out) == (2, "")
    [line] = done.err.splitlines()
    assert "[output] directory: found " in line
    assert line.isprintable()


@pytest.mark.parametrize(
    "name",
    ["$(touch pwned)", "`touch pwned`", "a'b; touch pwned; '", 'a"; touch pwned; "', "a\\", "*", "&& touch x"],
)
def test_any_other_name_is_one_word_of_the_script(name, folder, tmp_path):
    """Under bash, with a stub for srun: it is given the words as they are, and nothing else is run."""
    stubs, output = tmp_path / "stubs", tmp_path / name
    for where in (stubs, output / "journal"):
        where.mkdir(parents=True)
    (stubs / "srun").write_text(STUB)
    (stubs / "srun").chmod(0o755)
    job = replace(JOB, command=("migrate", str(tmp_path / name), name), output=output, journal=output / "journal")
    before = sorted(tmp_path.rglob("*"))
    environment = {"PATH": f"{stubs}:/usr/bin:/bin", "RECORD": str(stubs / "words"), "SLURM_JOB_ID": "7"}
    done = subprocess.run(
        ["bash", "-s"], input=batch_script(job), env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (stubs / "words").read_text().split("\0")[:-1] == srun_command(job)[1:]
    assert sorted(tmp_path.rglob("*")) == sorted([*before, stubs / "words"])


@pytest.fixture(scope="module")
def slurm():
    """A Slurm of this machine; the tests are skipped where there is none."""
    try:
        with cluster() as found:
            found.environment |= SLOW
            yield found
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("slurm"))


def submitted(slurm, recorded, output, *words, tasks=1):
    """Submit a migration and wait until some shots are done, by each of its `tasks` jobs; the job's number."""
    path = survey_into(recorded, output)
    done = slurm.call(*program(), "submit", path, "--time", "10m", "--threads", 1, *words)
    assert done.code == 0, done.err
    deadline = time.monotonic() + PATIENCE
    while shots_told(output) < 3 or runs_told(output) < tasks:
        assert time.monotonic() < deadline, log_of(output)
        time.sleep(0.05)
    return done.out.strip()


def log_of(output):
    """The output of the jobs."""
    return "\n".join(path.read_text() for path in sorted(output.glob("slurm-*.out")))


def test_jobs_that_are_signalled_or_preempted_are_requeued_and_resume(slurm, recorded, tmp_path):
    """A job on two ranks; while it waits in the queue an array, one of whose two jobs is pre-empted."""
    single, array = tmp_path / "one", tmp_path / "array"
    job = submitted(slurm, recorded, single, "--ranks-per-node", 2)
    assert slurm.call("scancel", "--signal=TERM", "--batch", job).code == 0
    tasks = submitted(slurm, recorded, array, "--array", 2, tasks=2)
    assert slurm.call("scontrol", "requeue", f"{tasks}_1").code == 0

    assert slurm.wait(job) == ["COMPLETED"], log_of(single)
    assert "Restarts=1" in slurm.call("scontrol", "show", "job", job).out
    assert "fathometer: interrupted; --resume goes on" in log_of(single)
    assert "resumed: " in log_of(single)
    assert same_image(recorded, single)
    assert list(single.glob(".slurm-*")) == []

    assert slurm.wait(tasks) == ["COMPLETED", "COMPLETED"], log_of(array)
    assert "Restarts=1" in slurm.call("scontrol", "show", "job", tasks).out
    assert log_of(array).count("report.html") == 1  # whichever was the last has made the image; the other says so
    assert log_of(array).count("others are at work on") + log_of(array).count("this migration is finished") == 1
    assert same_image(recorded, array)


def test_a_cancelled_job_stays_cancelled(slurm, recorded, tmp_path):
    job = submitted(slurm, recorded, tmp_path / "out", "--ranks-per-node", 2)
    assert slurm.call("scancel", job).code == 0
    assert slurm.wait(job) == ["CANCELLED"], log_of(tmp_path / "out")
    assert "Restarts=0" in slurm.call("scontrol", "show", "job", job).out
    assert not (tmp_path / "out" / "image.rsf").exists()
