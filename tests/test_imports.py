"""Imports run downward only, also those inside functions, and no modules import each other in a circle.

LAYERS holds, for a package, its members from top to bottom; members on one line do not import each other. EXCEPTIONS
are imports that go upward nevertheless: the list is to stay empty.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

LAYERS = {
    "fathometer": """
        __main__
        python
        cli
        lab seismic apps
        shown
        report pictures
        runs
        plan record
        grid
        storage
        parallel
        config
        _native
        launch
        base
    """,
    "fathometer.cli": """
        main
        parser profiled
        commands
        restartable_command
        application_run
        benchmark pages
        argument_groups command error_lines output registry
    """,
    "fathometer.lab": """
        calibrate forms
        measuring
        studies
        io messages stencil
        landscape
        printed_arithmetic
        profile recipes cluster roofline_picture
        statistics turns
        stencil_options
    """,
    "fathometer.lab.studies": """
        course forecast
        report study
        launch_choice
        batch_runner execution
        batch_script
        cluster_runner comparison job preparation selection
        predictions
        asked store
        mixes
        cluster_launcher parts
        study_cluster
        free_cpus program query
        builds cpu_order export launching levels placement_check published rounds runner
        placement results single_run study_file
        clock design order page_cache processes watch
    """,
    "fathometer.lab.studies.report": """
        files
        table_files
        markdown page terminal
        further
        compared functions plots practices
        answer remarks samples tables
        cells colours crossing description needed profiles progress
    """,
    "fathometer.lab.messages": """
        picture
        panels
        benchmark tables
        rows
        options sampling
        algorithms machine_entries pair_matrix probes synchronisation
        cases fits halo_table library places
    """,
    "fathometer.lab.io": """
        rates_picture
        benchmark panels
        suites
        ranking steps
        device options trial
        cases folder page_cache pattern
    """,
    "fathometer.lab.profile": """
        study_figures
        profile
        account monitoring results terminal
        jobs panels
        advice headline launching rank_file uncounted
        functions options own_account programs shares symbols
    """,
    "fathometer.lab.recipes": """
        recipe
        figures validity
        keys
        line_search run_folder
        csv_column expression json_path taking template times units
    """,
    "fathometer.lab.cluster": """
        running
        making
        calibration gluster links_record scripts slurm table
        launching marks namespaces
        network state
        spec
        link link_probe processes
    """,
    "fathometer.lab.statistics": """
        told
        differences drift signed_ranks winners
        ratios scaling stopping
        interval variance_levels
        dependence modes outliers
    """,
    "fathometer.apps": """
        atmosphere farm flow ocean plasma reactive
    """,
    "fathometer.apps.farm": """
        draft
        application
        plan run
        application_master demo extract node_master page
        samples writer
        worker
        hand_out inputs links measures sources task_process
        children farm_file framing journal
        blast_xml blocks built_in forms use_of_workers
    """,
    "fathometer.apps.flow.solver": """
        model
        poisson sides
    """,
    "fathometer.apps.atmosphere.solver": """
        physics starts sums tracers
        model
        columns equations transform
    """,
    "fathometer.apps.plasma.solver": """
        stepping
        model
        bracket fields layout
        geometry velocity
    """,
    "fathometer.apps.ocean": """
        draft
        application measure
        page probes simulation
        cost shown
        case
        initial
        bathymetry fields forcing iterations share stability
        ocean_file solver streamfunction
        barotropic
        basins continents degrees field_kinds grid_keys volume_files
        cases field_maps grid keys page_tables random_numbers value_units
    """,
    "fathometer.apps.ocean.solver": """
        model
        watch
        baroclinic problem
        memory physics state
    """,
    "fathometer.apps.ocean.barotropic": """
        solver
        conjugate_gradients
        system
        halo
        block_layout
        curve
    """,
    "fathometer.apps.reactive": """
        draft
        application
        cost page simulation
        case shown
        fields probes regions
        flow_file solver
        chemistry demo page_tables sections
    """,
    "fathometer.apps.reactive.solver": """
        stepping
        problem
        equations
        faces
        darcy memory
        distributed_grid sides
        flow kernel petsc
    """,
    "fathometer.apps.reactive.chemistry": """
        assembly
        data_file description speciation
        basis mass_action
        activity constraint_checks reaction
        constraints formula keys system
    """,
    "fathometer.report": """
        page
        charts panels_beside
        figures
        scale missing parts
        configuration records tables verdict
        decimation template
    """,
    "fathometer.runs": """
        time_application
        task_run time_run
        restartable_run task_loop
        lifecycle tasks
        foreign
        folder_lock summation
        contributions finished_run held_sums journal_folder simulation
        application given_files journal state_arrays
        context field_series restart_folder restartable_job small_runs sum_file
        checksum claims exact_sum fingerprint options probes restart_hint results_lock run_input seal
        state_clock told value_range
    """,
    "fathometer.seismic": """
        draft
        application
        job probes
        physics
        demo acoustic
        rtm kirchhoff elastic
        modelling signature
        cut_work plan_table
        plan
        cost
        setup
        page
        history
        waves
        shots
        model
        traces
        survey
    """,
    "fathometer.storage": """
        describe sections xarray_engine xarray_gathers
        contents lazy_arrays named_coordinates
        index
        datasets tecplot
        volumes
        traces
        scratch
        hashing
        fingerprint folder number_table shared_writer
        atomic lock json_text probe
        reading
    """,
}
EXCEPTIONS: set[tuple[str, str]] = set()


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in (SOURCE / "fathometer").rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The package's modules that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{name}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known or node.module in known:
                    yield inner if inner in known else node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
            yield node.value  # for import_module


@cache
def graph() -> dict[str, set[str]]:
    """What each module of the package imports of it."""
    known = modules()
    return {name: set(imports(name, path, known)) - {name} for name, path in known.items()}


def layer(package: str, member: str) -> int:
    """How far from the top a member of a package stands."""
    for number, line in enumerate(LAYERS[package].strip().splitlines()):
        if member in line.split():
            return number
    raise AssertionError(f"{package}.{member} stands in no layer: give it one in LAYERS")


def upward(importer: str, imported: str) -> bool:
    """Whether an import runs upward, where the paths of the two part."""
    a, b = importer.split("."), imported.split(".")
    same = next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    package = ".".join(a[:same])
    if package not in LAYERS or len(b) == same:
        return False
    return len(a) > same and layer(package, a[same]) >= layer(package, b[same])


def test_imports_run_downward():
    wrong = {(name, other) for name, others in graph().items() for other in others if upward(name, other)}
    assert wrong - EXCEPTIONS == set(), "imports that run upward"
    assert EXCEPTIONS - wrong == set(), "exceptions that are no longer needed"


def test_no_modules_import_each_other_in_a_circle():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of imports: {' -> '.join(error.args[1])}") from None


def test_every_module_has_a_docstring_and_a_layer():
    known = modules()
    for name, path in known.items():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{name} has no docstring"
        package, _, member = name.rpartition(".")
        if package in LAYERS:
            layer(package, member)


def test_the_layers_hold_members_that_are_there():
    known = modules()
    gone = {f"{package}.{member}" for package, plan in LAYERS.items() for member in plan.split()} - set(known)
    assert gone == set()


@pytest.mark.parametrize("package", [package for package, plan in LAYERS.items() if len(plan.split("\n")) > 3])
def test_an_import_that_runs_upward_within_a_package_is_seen(tmp_path, package):
    lines = [line.split() for line in LAYERS[package].strip().splitlines()]
    (top, *_), (bottom, *beside) = lines[0], lines[-1]
    module = tmp_path / "module.py"
    for wrong in (top, *beside):
        module.write_text(f"def work():\n    from {package} import {wrong}\n    return {wrong}\n", encoding="utf-8")
        (found,) = set(imports(f"{package}.{bottom}", module, modules()))
        assert upward(f"{package}.{bottom}", found)
        assert not upward(f"{package}.{top}", f"{package}.{bottom}")


def test_a_violation_is_seen():
    assert upward("fathometer.base.ledger", "fathometer.parallel.halo")
    assert upward("fathometer.lab.stencil", "fathometer.seismic.waves.propagator")
    assert upward("fathometer.seismic.history.store", "fathometer.seismic.rtm.shot")
    assert not upward("fathometer.seismic.rtm.shot", "fathometer.seismic.history.store")
    assert not upward("fathometer.seismic.rtm.shot", "fathometer.base.ledger")
