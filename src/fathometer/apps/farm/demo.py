"""The built-in farm: synthetic proteins, some of them with relatives in a database, searched by blastp."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from fathometer.base.errors import FathometerError
from fathometer.record.envelope import PAGE, RECORD, UNFINISHED
from fathometer.runs.application import Demo
from fathometer.runs.foreign import require_own_demo
from fathometer.runs.restart_hint import DEMO
from fathometer.storage import atomic

HEAD = "# Proteins are searched in a database. Made by `fathometer farm --demo`.\n"
BLAST = """
[[tasks]]
name = "search"
kind = "fasta"
file = "queries.fasta"
database = "database/proteins"

[output]
directory = "."
"""
BUILT_IN = """
[[tasks]]
name = "built-in"
kind = "built-in"
count = {count}
seconds = 0.01
bytes = 20000
spread = "heavy-tailed"

[output]
directory = "."
"""
SEED = 20111
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
FREQUENCIES = (8.3, 1.4, 5.5, 6.8, 3.9, 7.1, 2.3, 5.9, 5.8, 9.7, 2.4, 4.1, 4.7, 3.9, 5.5, 6.6, 5.3, 6.9, 1.1, 2.9)  # %
QUERIES = {False: 400, True: 100}  # quick
DATABASE = {False: 3000, True: 1500}
RELATIVES, FAMILIES = 6, 4  # of a query that has some; of so many queries one has
NAMES = ("queries.fasta", "database")


def write_demo(demo: Demo, say: Callable[[str], None]) -> None:
    """Write the demo's input file, and where BLAST+ is there its sequences and database.

    Raises InputError where the folder holds files of its names that are none of a demo's, FathometerError where the
    database cannot be made.
    """
    require_own_demo(demo.folder, HEAD, (*NAMES, "results", PAGE, RECORD, UNFINISHED))
    if shutil.which("blastp") is None or shutil.which("makeblastdb") is None:
        say("note: no blastp and makeblastdb on PATH (package ncbi-blast+): built-in tasks are done in their place")
        atomic.write(demo.folder / DEMO, (HEAD + BUILT_IN.format(count=500 if demo.quick else 2000)).encode())
        return
    atomic.write(demo.folder / DEMO, (HEAD + BLAST).encode())
    queries, database = sequences(QUERIES[demo.quick], DATABASE[demo.quick])
    atomic.write(demo.folder / "queries.fasta", queries.encode())
    make_database(demo.folder / "database", database)


def make_database(folder: Path, fasta: str) -> None:
    """Make a database "proteins" of BLAST+ in a folder. Raises FathometerError."""
    with atomic.writing(folder):
        folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathometer-farm-") as place:
        path = Path(place, "proteins.fasta")
        path.write_text(fasta)
        words = ["makeblastdb", "-in", str(path), "-dbtype", "prot", "-title", "proteins", "-out", f"{place}/proteins"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise FathometerError(f"makeblastdb: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
        for path in sorted(Path(place).glob("proteins.p*")):
            atomic.write(folder / path.name, path.read_bytes())


def sequences(queries: int, others: int, seed: int = SEED) -> tuple[str, str]:
    """Queries and a database as FASTA: random proteins with the frequencies of amino acids of Swiss-Prot; every fourth
    query has relatives in the database, in which up to half of the letters are others and some are missing."""
    chance = random.Random(seed)

    def protein(length: int) -> str:
        return "".join(chance.choices(LETTERS, FREQUENCIES, k=length))

    def relative(of: str) -> str:
        changed = chance.uniform(0.1, 0.5)
        letters = [chance.choice(LETTERS) if chance.random() < changed else letter for letter in of]
        place = chance.randrange(len(letters))
        del letters[place : place + chance.randrange(12)]
        return "".join(letters)

    asked = [protein(chance.randint(80, 500)) for _ in range(queries)]
    known = [relative(one) for one in asked[::FAMILIES] for _ in range(RELATIVES)]
    known += [protein(chance.randint(80, 500)) for _ in range(max(0, others - len(known)))]
    chance.shuffle(known)
    return _fasta("query", asked), _fasta("protein", known)


def _fasta(name: str, proteins: list[str]) -> str:
    found = []
    for number, letters in enumerate(proteins, 1):
        found.append(f">{name}{number} synthetic")
        found += [letters[n : n + 60] for n in range(0, len(letters), 60)]
    return "\n".join(found) + "\n"
