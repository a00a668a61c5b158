"""The notebooks in examples/notebooks run from the first cell to the last and draw; what they say of their results is
true. They are kept without outputs."""

import json
import os

import pytest
from paths import ROOT

NOTEBOOKS = ROOT / "examples" / "notebooks"

# Run after the last cell: (pictures, what the text says of the results).
CLAIMS = {
    "first-survey": (
        4,
        """
depths = {}
for title, run in runs.items():
    sections = [image.sel(x=middle).load() for name, image in run.volumes.items() if "offset" in name]
    sharp = [-one.differentiate("z").differentiate("z").sel(z=slice(500, 700)) for one in sections]
    depths[title] = [float(one.z[one.argmax("z")]) for one in sharp]
right, wrong = depths.values()
assert np.ptp(right) <= 20, depths  # the same from near and from afar
assert wrong[0] - wrong[-1] >= 40, depths  # too shallow from afar
""",
    ),
    "field-data": (
        4,
        """
for interface, least, most in zip(interfaces, (-20, -20, -30, -70), (20, 20, 20, -20), strict=True):
    lit = [(at, depth) for at, depth in zip(x, interface, strict=True) if 1500 < at < 2500]
    near = [section.sel(x=at).sel(z=slice(depth - 70, depth + 70)) for at, depth in lit]
    off = [float(one.z[one.argmax("z")]) - depth for one, (at, depth) in zip(near, lit, strict=True)]
    assert least <= np.median(off) <= most, (np.median(off), interface[0])
""",
    ),
    "what-it-cost": (
        3,
        """
for record in runs.values():
    wall = record.figures["total"].value
    assert abs(float(record.seconds.sum(("phase", "category")).max()) - wall) < 0.02 * wall
apart, together = (runs[name].seconds for name in ("2 ranks, a shot each", "2 ranks, one grid"))
assert "halo exchange" in together.phase and "halo exchange" not in apart.phase
table = pd.DataFrame(runs["1 rank, disk"].transfers)
assert table.loc[table.bytes.idxmax(), "kind"] == "history"
""",
    ),
    "ocean-month": (
        3,
        """
inner = along.sel(x_u=slice(1200, 2800))
theory = sverdrup.sel(x_u=slice(1200, 2800))
assert abs(inner.sel(time=slice(20, 30)).mean("time") / theory - 1).max() < 0.15
passed = (3600 - inner.x_u) * 1e3 / speed / DAY  # days until the wave has come
for at, day in zip(inner.x_u, passed, strict=True):
    assert inner.sel(x_u=at, time=0.5 * day, method="nearest") < 0.75 * theory.sel(x_u=at)
    assert inner.sel(x_u=at, time=2 * day, method="nearest") > 0.8 * theory.sel(x_u=at)
""",
    ),
}


def test_every_notebook_is_here_and_without_outputs():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(CLAIMS)
    for name in CLAIMS:
        text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
        assert len(text) < 20_000
        cells = json.loads(text)["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), name


@pytest.mark.parametrize("name", CLAIMS)
def test_a_notebook_runs_and_what_it_says_is_true(name, tmp_path, monkeypatch):
    for package in ("nbclient", "ipykernel", "xarray", "netCDF4"):
        pytest.importorskip(package, reason=f"{package}, with which notebooks are run, is not installed")
    import nbformat
    from nbclient import NotebookClient

    pictures, claims = CLAIMS[name]
    # Neither a kernel of somebody's own nor their settings: that of this Python, with folders of the test's.
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", os.fspath(tmp_path / "runtime"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", os.fspath(tmp_path / "settings"))
    monkeypatch.setenv("IPYTHONDIR", os.fspath(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4)
    notebook.cells.append(nbformat.v4.new_code_cell(claims))
    work = {"metadata": {"path": os.fspath(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=work).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == pictures
    said = "".join(output.get("text", "") for output in outputs)
    assert "Warning" not in said, said
    assert "fathometer: error" not in said, said
