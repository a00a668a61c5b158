"""Records of a journal that were changed: a line counts as not written, a head or a survey.json is refused by name."""

import json

import numpy as np
import pytest
from mpi4py import MPI
from test_partial import NAMES, SHAPE, contributions

from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.journal import Journal, read_fingerprint, read_journal
from fathometer.runs.journal_folder import open_journal, write_fingerprint
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.run_input import RunInput
from fathometer.runs.seal import sealed, unsealed, with_seal, without_seal
from fathometer.runs.summation import Terms, fold, total

ENTRIES = {"shot": 3, "text": 'ü \udce9 " \\ , "checksum": "', "numbers": [1.5, -0.0, 1e-300, 2**70], "none": None}


def test_what_is_sealed_is_read():
    assert unsealed(sealed(ENTRIES)) == ENTRIES
    assert without_seal(json.loads(json.dumps(with_seal(ENTRIES), indent=2))) == ENTRIES


def test_no_byte_of_a_line_may_change():
    line = sealed({"shot": 3, "peak": 1.5})
    for place in range(len(line)):
        for other in {line[:place] + line[place + 1 :], line[:place] + " " + line[place:], line[: place + 1] * 2} | {
            line[:place] + chr(ord(line[place]) ^ 1 << bit) + line[place + 1 :] for bit in range(7)
        }:
            with pytest.raises(ValueError):
                unsealed(other)


def test_no_field_of_a_record_may_change():
    record = with_seal({"version": "1", "survey": {"a": {"b": [1, 2.5]}, "c": None}, "shots": "3 shots"})
    text = json.dumps(record)
    changes = 0
    for old, new in [("1", "2"), ("2.5", "2.75"), ("null", "0"), ('"b"', '"d"'), ("3 shots", "4 shots"), ("[1, ", "[")]:
        start = -1
        while (start := text.find(old, start + 1)) >= 0:
            with pytest.raises(ValueError):
                without_seal(json.loads(text[:start] + new + text[start + len(old) :]))
            changes += 1
    assert changes > 6
    for key in record:
        with pytest.raises(ValueError):
            without_seal({name: value for name, value in record.items() if name != key})
    for other in ({}, [], None, 1, "text", {"journal": None}):
        with pytest.raises(ValueError):
            without_seal(other)


def refusal(call, *words) -> str:
    """The error of a call; "" where there is none."""
    try:
        call(*words)
    except FathometerError as error:
        return str(error)
    return ""


def whole(journal: Journal) -> bytes:
    """The sum of all that the journal holds."""
    terms = Terms(journal, tuple(journal.sums), tuple(journal.loose))
    return total(terms, "image", ((0, 0, 0), SHAPE), np.dtype(np.float64), MPI.COMM_SELF).tobytes()


def small(folder) -> Journal:
    """A journal of three done tasks, of which two are in a sum, and one that was set aside."""
    journal, _ = contributions(folder, 3)
    journal.flushed(0)
    journal.set_aside(0, 3, "its traces cannot be read", "a5")
    some = Terms(journal, (), (journal.done[0], journal.done[2]))
    fold(some, NAMES, SHAPE, journal.folder / "run-0000-1.sum", MPI.COMM_SELF)
    return read_journal(journal.folder)


def test_a_changed_byte_of_a_line_is_never_used(tmp_path):
    """Every third byte of all lines in turn: what is left are the tasks whose lines are intact, or whose sum is."""
    before = small(tmp_path)
    (path,) = before.folder.glob("*.jsonl")
    raw, rng = path.read_bytes(), np.random.default_rng(1)
    starts = [n + 1 for n, byte in enumerate(raw[:-1]) if byte == 10]
    used = 0
    for place in range(0, len(raw), 3):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 1 << int(rng.integers(0, 8))]) + raw[place + 1 :])
        now = read_journal(before.folder)
        assert now.damaged, place
        assert {0, 2} <= set(now.done) <= {0, 1, 2}
        assert all(now.done[task] == before.done[task] for task in now.done if now.done[task].parts)
        assert now.inputs.items() <= before.inputs.items()
        assert now.failed.items() <= before.failed.items()
        used += 1 in now.done
    assert 0 < used < len(raw)
    path.write_bytes(raw[: starts[1]] + raw[starts[2] :])  # without the line of a task that is in the sum
    assert whole(read_journal(before.folder)) == whole(before)
    path.write_bytes(raw)


def test_a_changed_byte_of_a_sum_is_never_used(tmp_path):
    """Of its head, padding included, and of some of its numbers."""
    before = small(tmp_path)
    wanted, path = whole(before), before.sums[0].path
    raw = path.read_bytes()
    ends = raw.index(b"\n") + 1
    for place in [*range(0, ends, 3), ends + 5, *range(before.sums[0].data, len(raw), 397)]:
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 4]) + raw[place + 1 :])
        said = refusal(lambda: whole(read_journal(before.folder)))
        if not said:
            assert whole(read_journal(before.folder)) == wanted
            assert ends < place < before.sums[0].data or place > len(raw) // 2  # spaces, the other volume
        assert not said or (path.name in said and "\n" not in said)
    path.write_bytes(raw)


def test_a_changed_byte_of_the_fingerprint_is_refused(tmp_path):
    """In one line that names the file; spaces between its entries do not matter."""
    journal, _ = contributions(tmp_path, 1)
    given = RunInput({"version": "0", "survey": {"imaging": {"every": 4.5}}, "shots": "1 shots"}, {"whole": [{"a": 1}]})
    write_fingerprint(journal.folder, given, RunKind())
    path = journal.folder / "survey.json"
    raw, refused = path.read_bytes(), 0
    options = RunOptions(resume=True)
    for place in range(0, len(raw), 3):
        for bit in (0, 5):
            path.write_bytes(raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :])
            said = refusal(open_journal, tmp_path, given, "new", options, RunKind())
            assert chr(raw[place]).isspace() if not said else said.startswith(f"{path}: ")
            assert not said or "--overwrite begins anew" in said
            refused += bool(said)
    assert refused > len(raw) // 4


def test_a_journal_of_an_earlier_version_is_refused(tmp_path):
    (tmp_path / "survey.json").write_text('{\n  "journal": 1,\n  "version": "0.1.0",\n  "model": "4 bytes"\n}\n')
    with pytest.raises(InputError, match=r"survey\.json: was written by another version .*\(journal 1, here 2"):
        read_fingerprint(tmp_path)


def test_a_part_that_is_missing_is_told(tmp_path):
    """Intact lines of a run that knew other volumes."""
    before = small(tmp_path)
    for name in ("offset-0-1", "other"):
        terms = Terms(before, (), (before.done[1],))
        with pytest.raises(FathometerError, match=rf"000001-{name}\.npy: the journal tells of no such part"):
            total(terms, name, ((0, 0, 0), SHAPE), np.dtype(np.float64), MPI.COMM_SELF)
        terms = Terms(before, tuple(before.sums), ())
        with pytest.raises(FathometerError, match=rf"run-0000-1\.sum: has no sum of the {name}"):
            total(terms, name, ((0, 0, 0), SHAPE), np.dtype(np.float64), MPI.COMM_SELF)
