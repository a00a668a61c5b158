"""Wrong plasma files and ranks: one line each that names the key, what was found and what is allowed."""

import pytest
from cli_support import run
from input_values import text_of
from plasma_inputs import IONS, box_values, linear_values
from restartable_runs import problem

from fathometer.apps.plasma.application import APPLICATION
from fathometer.apps.plasma.case import case_of, ranks_of
from fathometer.base.errors import InputError

ELECTRONS = {"name": "electrons", "charge": -1.0, "mass": 0.01}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (box_values(velocities__energies=1), "energies: found 1; allowed: an integer from 2 to 64"),
        (linear_values(fields={"beta": 0.01}), "adiabatic electrons, which carry no current"),
        (linear_values(fields={"adiabatic_electrons": False}), "a charge of 1 in all; needed: 0"),
        (linear_values(species=[IONS, ELECTRONS]), "beside the species electrons of negative charge"),
        (linear_values(species=[IONS, IONS]), "allowed: each once"),
        (linear_values(species=[IONS | {"charge": 2.0}]), "a charge of 2 in all, over that of electrons; needed: 1"),
        (
            linear_values(species=[IONS, ELECTRONS], fields={"adiabatic_electrons": False}),
            "density_gradient: found 2.22 of the charge in all; needed: 0",
        ),
        (
            linear_values(
                species=[IONS | {"density": 2.0}, ELECTRONS | {"density": 2.0}], fields={"adiabatic_electrons": False}
            ),
            "density: found 2 of electrons; needed: 1",
        ),
        (box_values(modes__twist=None, modes__kx_least=0.3), "leads 3.2923891 kx further; needed: a whole number"),
        (box_values(modes__twist=None), "twist: missing; needed: that, or kx_least"),
        (box_values(modes__kx_least=0.4938583, modes__twist=3), "a whole number, that of twist"),
        (box_values(modes__kx_number=8), "kx_number: found 8; allowed: odd numbers"),
        (box_values(modes__ky=[0.1]), 'ky: found with kind = "box"; allowed: left out'),
        (box_values(geometry={"shear": 0.0}), "a field without shear has none; needed: kx_least alone"),
        (box_values(geometry={"kind": "slab"}), 'found "slab" with epsilon, shear or alpha'),
        (linear_values(modes__ky=None), 'ky: missing; needed with kind = "chain"'),
        (linear_values(modes__turns=4), "turns: found 4; allowed: odd numbers"),
        (linear_values(geometry={"shear": 0.0}), 'found "chain" without shear; needed: "joined"'),
        (linear_values(numerics={"nonlinear": True}), 'nonlinear: found true with [modes] kind = "chain"'),
        (linear_values(modes__theta=6), "theta: found 6; allowed: an integer from 7"),
        (box_values(initial__kind="bell"), 'found "bell"; allowed: with [modes] kind = "chain"'),
        (box_values(time__tolerance=0.1), "tolerance: found 0.1; allowed: of linear runs"),
        (box_values(output__every=1e-6), "every: found 1e-06; allowed: from 0.0001 R/v_i on"),
        (linear_values(species=[IONS | {"charge": 0.0}]), "charge: found 0; allowed: all but that"),
    ],
)
def test_wrong_files(values, words, tmp_path):
    assert words in problem(APPLICATION, tmp_path / "run.toml", values)


@pytest.mark.parametrize(
    ("values", "ranks", "words"),
    [
        (box_values(parallel={"mode_ranks": 2}), 3, "found 2 with 3 ranks; needed: a divisor of the ranks"),
        (box_values(parallel={"mode_ranks": 3}), 3, "found 3 with 4 ky; needed: a divisor of the ky"),
        (linear_values(), 97, "found 97 ranks, 1 of them for ky and 97 for velocities; allowed: up to 12"),
    ],
)
def test_wrong_ranks(values, ranks, words, tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(text_of(values))
    case = case_of(APPLICATION.load(path))
    with pytest.raises(InputError, match=words):
        ranks_of(case.file, case.plasma, ranks)


def test_ranks_are_shared_well(tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(text_of(box_values()))
    case = case_of(APPLICATION.load(path))
    assert [ranks_of(case.file, case.plasma, n) for n in (1, 2, 3, 4, 6, 8)] == [
        (1, 1), (1, 2), (3, 1), (1, 4), (3, 2), (2, 4),
    ]  # fmt: skip


def test_a_step_that_is_too_long(tmp_path, capsys):
    path = tmp_path / "box.toml"
    path.write_text(text_of(box_values(time__step=0.5)))
    done = run(capsys, "plasma", path, "--quiet")
    assert done.code == 2
    assert "[time] step: found 0.5 R/v; allowed: up to 0.0" in done.err
    assert not (tmp_path / "out/run.json").exists()


def test_a_flow_that_grows_too_fast_for_a_step(tmp_path, capsys):
    path = tmp_path / "box.toml"
    path.write_text(text_of(box_values(time__step=0.02, initial__amplitude=1e4)))
    done = run(capsys, "plasma", path, "--quiet")
    assert done.code == 2
    assert "flow across the field" in done.err


@pytest.mark.parametrize(("words", "found"), [(("--demo",), "together with --demo"), (("--resume",), "--resume")])
def test_writing_a_case_and_running(words, found, tmp_path, capsys):
    done = run(
        capsys, "plasma", *(() if "--demo" in words else (tmp_path / "a.toml",)), "--write-case", "zonal", *words
    )
    assert done.code == 2
    assert found in done.err
    assert not (tmp_path / "a.toml").exists()
