"""Names that are not UTF-8 in every command's arguments and files, and terminals that know ASCII alone."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, clean_environment, here, inputs, survey
from input_values import text_of
from ocean_inputs import ocean_values
from patience import PATIENCE

BYTE = "\udcfe"  # as Python has it: a byte that is not UTF-8
FOLDER = f"d{BYTE}"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / FOLDER
    folder.mkdir()
    inputs(folder)
    (folder / "vp.npy").rename(folder / f"v{BYTE}.npy")
    (folder / "recorded.segy").rename(folder / f"r{BYTE}.segy")
    monkeypatch.chdir(folder)
    return folder


def sets(**keys):
    return [word for key, value in keys.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


@pytest.mark.parametrize("suffix", [".rsf", ".npy", ".segy", ".nc", ".h5", ".zarr", ".blocks"])
def test_a_volume_is_written_and_read(folder, suffix):
    name = f"p{BYTE}{suffix}"
    done = here("prepare", f"v{BYTE}.npy", "-o", name, "--input-spacing", "10,10")
    if done.code == 2 and "needs" in done.err:
        pytest.skip(done.err)
    assert done.code == 0, done.err
    done = here("info", name, "--json")
    assert done.code == 0, done.err
    [told] = json.loads(done.out)
    assert told["shape"] == [40, 30]
    assert "\\udcfe" in done.out


def test_a_run_its_record_and_its_page(folder):
    path = survey(folder, MIGRATE, f"s{BYTE}.toml")
    names = sets(
        model__vp=f"v{BYTE}.npy", acquisition__gathers=f"r{BYTE}.segy", output__directory=f"o{BYTE}",
        output__image=f"i{BYTE}.rsf",
    )  # fmt: skip
    done = here("migrate", path.name, "--quiet", "--share", f"n{BYTE}", *names)
    assert done.code == 0, done.err
    record = json.loads((folder / f"o{BYTE}" / "run.json").read_text())
    assert record["results"]["files"]["image"].endswith(f"i{BYTE}.rsf")
    assert (folder / f"o{BYTE}" / "image.png").exists()
    done = here("report", f"o{BYTE}", "-o", f"p{BYTE}.html", "--markdown", f"t{BYTE}.md")
    assert done.code == 0, done.err
    assert f"i\\{ascii(BYTE)[2:-1]}.rsf" in (folder / f"p{BYTE}.html").read_text()


def test_fields_of_an_ocean(folder):
    (folder / f"o{BYTE}.toml").write_text(text_of(ocean_values(time__steps=2)))
    done = here("ocean", f"o{BYTE}.toml", "--quiet", *sets(output__directory=f"f{BYTE}"))
    assert done.code == 0, done.err
    assert list((folder / f"f{BYTE}").rglob("*.nc"))


def test_an_index_of_traces(folder):
    (folder / "more").mkdir()
    names = [f"r{BYTE}.segy", "more/r.segy"]
    (folder / names[1]).write_bytes((folder / names[0]).read_bytes())
    done = here("survey", "build", *names, "-o", f"i{BYTE}.parquet")
    assert done.code == 0, done.err
    assert f'left out: survey build: found "r\\{ascii(BYTE)[2:-1]}.segy"; allowed: a name in UTF-8' in done.err
    survey(folder, MIGRATE, "s.toml")
    plain = here("migrate", "s.toml", "--quiet", *sets(model__vp=f"v{BYTE}.npy", acquisition__gathers=names[0]))
    assert plain.code == 0, plain.err
    done = here(
        "migrate", "s.toml", "--quiet",
        *sets(model__vp=f"v{BYTE}.npy", acquisition__gathers=f"i{BYTE}.parquet", output__directory="indexed"),
    )  # fmt: skip
    assert done.code == 0, done.err
    images = [np.fromfile(folder / name / "image.rsf@", np.float32) for name in ("out", "indexed")]
    assert np.any(images[0])
    assert done.err == ""


def test_what_is_refused_is_one_line(folder):
    for words in (
        ("migrate", f"no{BYTE}.toml"),
        ("migrate", survey(folder, MODEL, f"s{BYTE}.toml").name, "--set", f"mo{BYTE}.vp=3"),
        ("info", f"no{BYTE}.segy"),
        ("info", f"v{BYTE}.npy:key{BYTE}"),
        ("report", f"no{BYTE}"),
        ("submit", f"s{BYTE}.toml", "--time", "8h"),
        ("plan", f"s{BYTE}.toml", "--on", f"no{BYTE}.json"),
        ("study", "show", f"no{BYTE}.study"),
        ("profile", "-o", f"p{BYTE}", "--", f"no{BYTE}"),
        (f"no{BYTE}",),
    ):
        done = here(*words)
        assert done.code == 2, (words, done.err)
        assert "defect" not in done.err
        assert "Traceback" not in done.err


def said(*words, **more):
    done = subprocess.run(
        [sys.executable, "-P", "-m", "fathometer", *map(os.fspath, words)],
        env={**clean_environment(), **ASCII, **more},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_terminal_that_knows_ascii_alone(folder):
    """A plan and its help hold what ASCII has not; JSON stays what it is."""
    code, out, err = said("info", "--formats")
    assert (code, err) == (0, b"")
    for command in ("ocean", "study"):
        code, out, err = said(command, "--help")
        assert (code, err) == (0, b"")
        assert out.isascii()
    survey(folder, MIGRATE | {"wavelet.peak_frequency": "µ"}, "s.toml")
    code, out, err = said("migrate", "s.toml")
    assert code == 2
    assert b'[wavelet] peak_frequency: found "u"' in err
    code, out, err = said("info", f"v{BYTE}.npy", "--json")
    assert code == 0, err
    [told] = json.loads(out)
    assert told["shape"] == [40, 30]


@pytest.mark.parametrize("text", ["m²/s µ “…” −5 ≤ x"])
def test_json_is_json_on_any_terminal(text):
    program = "import sys\nfrom fathometer.cli.output import print_json\nprint_json({'unit': sys.argv[1]})\n"
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, text],
            env={**clean_environment(), "PYTHONIOENCODING": encoding},
            capture_output=True, check=True, timeout=PATIENCE,
        )  # fmt: skip
        assert json.loads(done.stdout.decode(encoding)) == {"unit": text}
