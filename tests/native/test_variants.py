"""The variants of the kernels: which one is taken, and that those of a portable wheel compute the same bytes."""

import ast
import os
import platform
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT
from support import FULL

from fathometer import _native
from fathometer._native import variants
from fathometer.base.errors import FathometerError, InputError
from fathometer.record import machine

PORTABLE = ["baseline", "avx2", "avx512"]
V2 = "fpu sse2 cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2"  # a processor of 2008
V3 = f"{V2} abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"  # 2013
KNIGHTS = f"{V3} avx512f avx512cd avx512er avx512pf"  # has AVX-512, but not all that the variant needs
V4 = f"{V3} avx512bw avx512cd avx512dq avx512f avx512vl"


@pytest.mark.parametrize(
    ("built", "flags", "wanted", "expected"),
    [
        (["native"], "", None, "native"),
        (["native"], V4, "native", "native"),
        (PORTABLE, "", None, "baseline"),
        (PORTABLE, V2, None, "baseline"),
        (PORTABLE, V3, None, "avx2"),
        (PORTABLE, V3.replace(" fma", ""), None, "baseline"),
        (PORTABLE, V3.replace(" popcnt", ""), None, "baseline"),
        (PORTABLE, KNIGHTS, None, "avx2"),
        (PORTABLE, V4, None, "avx512"),
        (PORTABLE, V4, "", "avx512"),
        (PORTABLE, V4, "avx2", "avx2"),
        (PORTABLE, V4, "baseline", "baseline"),
        (["baseline"], V4, None, "baseline"),
    ],
)
def test_choice(built, flags, wanted, expected):
    assert variants.choose(built, flags.split(), wanted) == expected


@pytest.mark.parametrize(
    ("built", "flags", "wanted", "error", "words"),
    [
        (["native"], V4, "avx2", InputError, "FATHOMETER_VARIANT=avx2: no such variant of the kernels; built: native"),
        (PORTABLE, V4, "sse", InputError, "=sse: no such variant of the kernels; built: baseline, avx2, avx512"),
        (PORTABLE, KNIGHTS, "avx512", InputError, "it lacks avx512bw, avx512dq, avx512vl; allowed: avx2, baseline"),
        (PORTABLE, "", "avx2", InputError, "this processor cannot run it, it lacks abm, avx, avx2, "),
        (["avx2"], V2, None, FathometerError, "no kernels for this processor; built: avx2"),
        ([], V4, None, FathometerError, "no kernels for this processor; built: none"),
    ],
)
def test_choice_refused(built, flags, wanted, error, words):
    with pytest.raises(error, match=re.escape(words)) as caught:
        variants.choose(built, flags.split(), wanted)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        (
            "processor\t: 0\nvmx flags\t: x\nflags\t\t: fpu avx2 fma\nbugs\t\t: y\n\nflags\t: z\n",
            {"fpu", "avx2", "fma"},
        ),
        ("processor\t: 0\nFeatures\t: fp asimd\n", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_flags_are_read(tmp_path, cpuinfo, expected):
    path = tmp_path / "cpuinfo"
    if cpuinfo is not None:
        path.write_text(cpuinfo)
    assert variants.processor_flags(path) == expected


def test_the_package_is_its_variant():
    module = sys.modules[f"fathometer._native.{_native.variant}"]
    assert _native.variant in variants.built()
    assert _native.WavefieldFloat32 is module.WavefieldFloat32
    assert _native.triad is module.triad
    assert machine.machine()["kernels"] == _native.variant


def test_the_build_writes_the_types_of_all_names():
    types = ast.parse((ROOT / "src/fathometer/_native/__init__.pyi").read_text(encoding="utf-8"))
    named = {node.name for node in types.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    named |= {node.target.id for node in types.body if isinstance(node, ast.AnnAssign)}
    module = vars(import_module(f"fathometer._native.{_native.variant}"))
    assert named == {name for name in module if not name.startswith("_")}


def test_a_variant_that_is_not_there_is_one_line(tmp_path):
    command = [sys.executable, "-m", "fathometer", "demo", "--quick", "--output", tmp_path / "demo"]
    done = subprocess.run(
        command, env=os.environ | {"FATHOMETER_VARIANT": "sse"}, capture_output=True, text=True, check=False
    )
    built = ", ".join(variants.built())
    line = f"fathometer: error: FATHOMETER_VARIANT=sse: no such variant of the kernels; built: {built}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert not (tmp_path / "demo").exists()


@pytest.fixture(scope="module")
def portable(tmp_path_factory):
    """The folder that a portable wheel, built anew, was installed into."""
    folder = tmp_path_factory.mktemp("portable")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    options = ["-C", "cmake.define.FATHOMETER_NATIVE=OFF", "-C", f"build-dir={folder / 'build'}"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, *options, ROOT]
    subprocess.run(build, check=True)
    [wheel] = folder.glob("fathometer-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "installed", wheel], check=True)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        stub = archive.read("fathometer/_native/__init__.pyi")
    assert "fathometer/_native/__init__.py" in names
    assert stub == (ROOT / "src/fathometer/_native/__init__.pyi").read_bytes().replace(b"'native'", b"'baseline'")
    assert not [name for name in names if name.endswith(("pp", ".h", ".o", ".a"))]
    return folder / "installed"


def with_portable(portable, words, variant=None):
    """Run Python on the installed wheel: -S, since the editable installation would take its place."""
    path = [portable, ROOT / "tests", sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    environ.pop("FATHOMETER_VARIANT", None)
    if variant:
        environ["FATHOMETER_VARIANT"] = variant
    done = subprocess.run(
        [sys.executable, "-S", *map(str, words)], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def propagated(portable, tmp_path_factory):
    """(variant) -> all results of ranks_program.py on one rank; skips what this processor cannot run."""
    folder = tmp_path_factory.mktemp("propagated")

    def run(variant):
        lacking = variants.NEEDS[variant] - variants.processor_flags()
        if lacking:
            pytest.skip(f"this processor cannot run {variant}: it lacks {', '.join(sorted(lacking))}")
        out = folder / f"{variant}.npz"
        if not out.exists():
            with_portable(portable, [ROOT / "tests" / "ranks_program.py", out, 1], variant)
        with np.load(out) as results:
            return dict(results)

    return run


full = pytest.mark.skipif(not FULL, reason="compiles the kernels three times: make verify")


@pytest.mark.verify
@full
def test_the_wheel_takes_the_best_variant(portable):
    code = "from fathometer import _native as n; print(n.variant, n.__file__, *n.variants.built())"
    taken, file, *built = with_portable(portable, ["-c", code])
    assert Path(file).is_relative_to(portable)
    assert taken == variants.choose(built, variants.processor_flags())
    if platform.machine() == "x86_64":
        assert set(built) == set(PORTABLE)


@pytest.mark.verify
@full
def test_variants_with_fused_multiply_adds_are_bitwise_equal(propagated):
    narrow, wide = propagated("avx2"), propagated("avx512")
    assert narrow.keys() == wide.keys()
    for key, values in narrow.items():
        assert np.abs(values).max() > 0
        assert values.tobytes() == wide[key].tobytes(), key


@pytest.mark.verify
@full
def test_the_baseline_differs_by_rounding_only(propagated):
    fused, twice = propagated("avx2"), propagated("baseline")
    for key, values in fused.items():
        eps = np.finfo(values.dtype).eps
        assert np.abs(twice[key] - values).max() < 300 * eps * np.abs(values).max(), key
