"""Fixtures shared by the tests."""

import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fathometer.launch.mpirun import SPIN_COUNT

os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # as the program itself does before the kernels are loaded
CACHE = tempfile.TemporaryDirectory(prefix="fathometer-test-cache-")  # never the user's own tunings
os.environ["XDG_CACHE_HOME"] = CACHE.name

# Machines are slow at times, and the same examples each time tell a change of the program from bad luck.
settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Says which kernels of a graphics card surveys find that leave the choice."""
    from card_support import settle

    settle()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests are to use a card and none is there, all are skipped."""
    from card_support import missing

    if reason := missing():
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
    """The card, in a line behind all others but the count of tests."""
    from card_support import summary

    yield
    if line := summary():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def card_library_path() -> Path:
    """The kernels of a graphics card to test with; the test is skipped where there are none."""
    from card_support import NoLibraryError, library_for_tests

    try:
        return library_for_tests()
    except NoLibraryError as error:
        pytest.skip(str(error))


@pytest.fixture
def card(card_library_path: Path) -> Iterator[Path]:
    """The same, used by this process and those that it starts."""
    from card_support import used

    with used(card_library_path):
        yield card_library_path


@pytest.fixture
def emulated() -> Iterator[Path]:
    """What stands for a card, whether or not there is one: a card whose driver and memory a test chooses."""
    from card_support import NoLibraryError, emulated_card, used

    try:
        path = emulated_card()
    except NoLibraryError as error:
        pytest.skip(str(error))
    with used(path):
        yield path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs; the test is skipped where it is absent."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("FATHOMETER_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real inputs at {folder} (FATHOMETER_DATA)")
    return folder


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[tuple[int, int]], Path]:
    """The folder of a 2D VTI migration on ranks that share each shot, by their numbers along x and z: survey.toml,
    out/ and trace.json. Made once for all tests, which change nothing in it."""
    from cli_support import MIGRATE, call, inputs, survey  # by now the environment is set

    made: dict[tuple[int, int], Path] = {}

    def on_ranks(cut: tuple[int, int]) -> Path:
        if cut not in made:
            folder = tmp_path_factory.mktemp("migrated")
            inputs(folder)
            path = survey(folder, MIGRATE | {"parallel.decomposition": list(cut), "model.epsilon": 0.1})
            done = call("migrate", path, "--quiet", "--ranks", cut[0] * cut[1], "--trace", folder / "trace.json")
            assert done.code == 0, done.err
            made[cut] = folder
        return made[cut]

    return on_ranks


@pytest.fixture(scope="module")
def browser():
    """Chromium without a screen; the test is skipped where there is none."""
    from tests.support.browser_support import opened_browser

    with opened_browser() as opened:
        yield opened
