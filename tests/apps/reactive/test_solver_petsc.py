"""PETSc's start and its options."""

import sys

import pytest
from mpi4py import MPI
from solver_support import flow_of, start

from fathometer.apps.reactive.solver.petsc import options_of, require_petsc
from fathometer.apps.reactive.solver.problem import ReactiveSolver
from fathometer.base.errors import InputError


def test_words_become_names_and_values():
    assert options_of("  -ksp_type bcgs -ksp_monitor -ksp_rtol 1e-9 -pc_asm_overlap '2' ") == (
        ("ksp_type", "bcgs"),
        ("ksp_monitor", None),
        ("ksp_rtol", "1e-9"),
        ("pc_asm_overlap", "2"),
    )
    assert options_of("-ksp_gmres_haptol -1") == (("ksp_gmres_haptol", "-1"),)
    assert options_of({"-ksp_type": "bcgs", "ksp_rtol": 0.5, "ksp_monitor": True}) == (
        ("ksp_type", "bcgs"),
        ("ksp_rtol", "0.5"),
        ("ksp_monitor", None),
    )
    assert options_of("") == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("ksp_type bcgs", 'found "ksp_type"; allowed'),
        ("-ksp_type bcgs asm", 'found "asm"; allowed'),
        ("-ksp_type 'bcgs", "no closing quotation"),
        ("--ksp_type bcgs", 'found "--ksp_type"'),
        ("-options_file other", "found -options_file, which has no place here: it is of the whole program"),
        ("-log_view", "of the whole program"),
        ("-malloc_debug", "of the whole program"),
        ("-on_error_attach_debugger", "of the whole program"),
        ("-snes_max_it 3", r"the keys of \[newton\]"),
        ("-snes_fd", "the derivatives are exact"),
        ("-snes_type ksponly", "newtonls"),
        ("-ksp_error_if_not_converged", "is cut"),
        ("-heads_ksp_error_if_not_converged", "is cut"),
        ("-ksp_view ascii:out.txt", "write no files"),
        ("-ksp_monitor :out.txt", "write no files"),
        ({"": 3}, "names of PETSc's options"),
    ],
)
def test_what_is_no_option_or_has_no_place_is_refused(options, message):
    with pytest.raises(InputError, match=message) as error:
        options_of(options)
    assert str(error.value).startswith("[petsc] options: ")


def test_a_missing_petsc_is_said_with_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    with pytest.raises(InputError, match=r"libpetsc-real-dev and tools/petsc.sh .* pip install '.\[reactive\]'"):
        require_petsc()


class TestWithPetsc:
    """What needs it."""

    @pytest.fixture(autouse=True)
    def petsc(self, one_thread):
        return pytest.importorskip("petsc4py", reason="PETSc is not installed (tools/petsc.sh)")

    @pytest.mark.parametrize("options", ["-ksp_type nonsense", "-ksp_rtol many", "-sub_pc_type nonsense"])
    def test_values_that_petsc_does_not_take_are_the_inputs_fault(self, options):
        with pytest.raises(InputError, match=r"\[petsc\] options: .*(nonsense|many)"):
            tried(options)

    def test_options_reach_the_solvers_and_those_that_do_not_are_told(self):
        solver = tried("-ksp_type bcgs -pc_type asm -sub_pc_type lu -pc_gamg_agg_nsmooths 1 -ksp_tipe gmres")
        linear = solver._snes.getKSP()
        assert linear.getType() == "bcgs"
        assert linear.getPC().getType() == "asm"
        assert solver.unused_options() == ["-pc_gamg_agg_nsmooths", "-ksp_tipe"]
        assert tried("").unused_options() == []
        assert tried("")._snes.getKSP().getType() == "gmres"  # nothing is left of the first one's options


def tried(options):
    """A solver after a step with some options."""
    sides = {"x-": {"kind": 1, "water": 1}, "x+": {"kind": 2}}
    flow = flow_of((20, 1, 1), sides=sides, flux=(1e-6, 0, 0))
    solver = ReactiveSolver(flow, MPI.COMM_SELF, options_of(options))
    start(solver, flow.waters[0])
    assert solver.step(1e5).converged
    return solver
