"""check.txt names the tests of `make check`: they exist, and each folder of the tests has some."""

from paths import ROOT

LINES = (ROOT / "tests" / "check.txt").read_text().splitlines()


def test_every_line_names_a_test_that_exists():
    for line in LINES:
        name, _, test = line.partition("::")
        path = ROOT / name
        assert path.is_file(), line
        assert not test or f"\ndef {test.partition('[')[0]}(" in path.read_text(encoding="utf-8"), line


def test_every_folder_is_looked_at():
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    folders.discard("tests/trials")  # which take minutes
    assert folders == {line.partition("::")[0].rpartition("/")[0] for line in LINES}
