"""The documentation holds together: its links and the paths that it names exist, every page of the guide is in the
index."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from paths import ROOT

import fathometer
from fathometer.cli.parser import parser
from fathometer.config.reference import BEGIN_MARKER, END_MARKER

DOCS = ROOT / "docs"
GUIDE = DOCS / "guide"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]

FENCE = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|\b(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
OUTSIDE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")  # of another place than this repository
REPOSITORY_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/|[\w.-]+(?:/[\w.-]+)+\.(?:py|hpp|cpp|md|toml))`")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links(text: str) -> list[str]:
    """The targets of a page's links and pictures, those in code left out."""
    return [a or b for a, b in LINK.findall(CODE.sub("", FENCE.sub("", text)))]


def slug(heading: str) -> str:
    """GitHub's anchor of a heading: its text in lower case, without punctuation, with hyphens for spaces."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings; of equal headings the second gets -1, the third -2."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere, each with the reason."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        if OUTSIDE.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            found.append(f"{link}: no such file in the repository")
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text(encoding="utf-8"))):
            found.append(f"{link}: no such heading")
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert broken(page) == []


def test_links_that_lead_nowhere_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# A page, `code` and *more*: x_y\n## Twice\n## Twice\n```\n# no heading\n[no](link)\n```\n`[no](link)`\n"
        "[a](#a-page-code-and-more-x_y) [b](#twice-1) [c](page.md#twice) [d](https://example.org/x#y) ![e](gone.png)\n"
        "[f](#twice-2) [over two\nlines](gone.md#x) [g](#no-heading) [h](../outside.md)\n"
    )
    (tmp_path.parent / "outside.md").write_text("# Outside\n")
    assert broken(page) == [
        "gone.png: no such file in the repository",
        "#twice-2: no such heading",
        "gone.md#x: no such file in the repository",
        "#no-heading: no such heading",
        "../outside.md: no such file in the repository",
    ]


def test_the_index_of_the_guide_names_every_page_once() -> None:
    named = Counter(link for link in links((GUIDE / "README.md").read_text(encoding="utf-8")) if "/" not in link)
    assert named == Counter(page.name for page in GUIDE.glob("*.md") if page.name != "README.md")


def test_each_reference_of_an_input_file_is_on_one_page() -> None:
    holding = [
        page.name for page in GUIDE.glob("*.md") if {BEGIN_MARKER, END_MARKER} & set(page.read_text().splitlines())
    ]
    assert sorted(holding) == [
        "atmosphere-file.md",
        "farm-file.md",
        "flow-file.md",
        "incompressible-file.md",
        "ocean-file.md",
        "plasma-file.md",
        "reactive-chemistry.md",
        "recipes.md",
        "study-file.md",
        "survey-file.md",
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """Files on every page but the changelog, which may name what is gone; folders in the developer guide."""
    paths = set(REPOSITORY_PATH.findall(FENCE.sub("", page.read_text(encoding="utf-8"))))
    if page.name == "developer-guide.md":
        paths -= set((ROOT / ".gitignore").read_text().split())  # folders that commands make, such as dist/
        assert len(paths) > 10
    else:
        paths = {path for path in paths if not path.endswith("/")}
    bases = (ROOT, ROOT / "src" / "fathometer")
    assert [path for path in sorted(paths) if not any((base / path).exists() for base in bases)] == []


def test_the_application_that_a_page_builds_is_the_one_that_tests_run():
    page = (DOCS / "adding-an-application.md").read_text(encoding="utf-8")
    code = (ROOT / "tests" / "support" / "tides.py").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 6
    whole = _lines(code)
    for block in blocks:
        # Methods stand without their class, and so without its indentation.
        wanted = [[f"{indent}{line}" for line in _lines(block)] for indent in ("", "    ")]
        assert any(lines == whole[n : n + len(lines)] for lines in wanted for n in range(len(whole))), block


def _lines(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip()]


def test_the_same_is_said_everywhere_of_what_it_is():
    parts = (
        "eal parallel applications, from files to results, that account for every second and byte",
        "nstruments to measure any other program and machine with the same rigour",
    )
    told = {path: (ROOT / path).read_text(encoding="utf-8") for path in ("README.md", "pyproject.toml", "CITATION.cff")}
    told |= {"guide": (GUIDE / "README.md").read_text(encoding="utf-8"), "package": str(fathometer.__doc__)}
    told["--help"] = parser().format_help()
    for place, text in told.items():
        words = re.sub(
            r" \([^()]*\)|: seismic imaging and modelling, ocean circulation, reactive flow", "", " ".join(text.split())
        )
        for part in parts:
            assert part in words, place
