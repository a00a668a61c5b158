"""Imports run downward only, also those inside functions, and no modules import each other in a circle.

FLOORS holds, for a package, its members from top to bottom; members on one line do not import each other. EXCEPTIONS
are imports that go upward nevertheless: the list is to stay empty.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"

FLOORS = {
    "fathometer": """
        __main__
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
    "fathometer.seismic": """
        application
        job probes
        physics
        demo acoustic
        rtm kirchhoff elastic
        modelling signature
        plan_table
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
        describe sections
        contents
        index
        datasets
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


def floor(package: str, member: str) -> int:
    """How far from the top a member of a package stands."""
    for number, line in enumerate(FLOORS[package].strip().splitlines()):
        if member in line.split():
            return number
    raise AssertionError(f"{package}.{member} stands on no floor: give it one in FLOORS")


def upward(importer: str, imported: str) -> bool:
    """Whether an import breaks the floor plan where the paths of the two part."""
    a, b = importer.split("."), imported.split(".")
    same = next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    package = ".".join(a[:same])
    if package not in FLOORS or len(b) == same:
        return False
    return len(a) > same and floor(package, a[same]) >= floor(package, b[same])


def test_imports_run_downward():
    known = modules()
    wrong = {
        (name, other) for name, path in known.items() for other in imports(name, path, known) if upward(name, other)
    }
    assert wrong - EXCEPTIONS == set(), "imports that run upward"
    assert EXCEPTIONS - wrong == set(), "exceptions that are no longer needed"


def test_no_modules_import_each_other_in_a_circle():
    known = modules()
    graph = {name: set(imports(name, path, known)) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of imports: {' -> '.join(error.args[1])}") from None


def test_every_room_has_a_docstring_and_a_floor():
    known = modules()
    for name, path in known.items():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{name} has no docstring"
        package, _, member = name.rpartition(".")
        if package in FLOORS:
            floor(package, member)


def test_a_violation_is_seen():
    assert upward("fathometer.base.ledger", "fathometer.parallel.halo")
    assert upward("fathometer.lab.stencil", "fathometer.seismic.waves.propagator")
    assert upward("fathometer.seismic.history.store", "fathometer.seismic.rtm.shot")
    assert not upward("fathometer.seismic.rtm.shot", "fathometer.seismic.history.store")
    assert not upward("fathometer.seismic.rtm.shot", "fathometer.base.ledger")
