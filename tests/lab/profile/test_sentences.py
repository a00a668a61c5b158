"""What a profile says, against the tables beneath it: records with known answers, and drawn ones."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profile_support import compiled, counted

from fathometer.base import formatting
from fathometer.lab.profile.account import account_of, account_without_times
from fathometer.lab.profile.advice import findings
from fathometer.lab.profile.functions import OUTSIDE, functions
from fathometer.lab.profile.headline import headline
from fathometer.lab.profile.jobs import Job
from fathometer.lab.profile.monitoring import _results as monitored
from fathometer.lab.profile.panels import heading, panels
from fathometer.lab.profile.profile import doubts
from fathometer.lab.profile.rank_file import _USAGE, Calls, RankProfile, Windows
from fathometer.lab.profile.results import results_of
from fathometer.lab.profile.shares import figures
from fathometer.lab.profile.terminal import text_of_profile
from fathometer.report.verdict import verdict

NUMBERS = {function.name: number for number, function in enumerate(functions())}
COLUMNS = ("calls", "seconds", "waiting", "bytes_out", "bytes_in")


def calls_of(rows):
    """rows: function, calls, seconds, waiting, bytes out, bytes in, and whether of the first thread."""
    number = np.array([NUMBERS[row[0]] for row in rows], int)
    values = {name: np.array([row[1 + n] for row in rows]) for n, name in enumerate(COLUMNS)}
    each = [max(row[4] // row[1], row[5] // row[1]) if row[4] else row[5] // row[1] for row in rows]
    return Calls(
        function=number,
        bin=np.array([int(size).bit_length() for size in each], int),
        communicator=np.zeros(len(rows), int),
        site=np.zeros(len(rows), int),
        main=np.array([row[6] for row in rows], bool),
        longest=values["seconds"],
        **values,
    )


def rank(number, rows, size=2, wall=10.0, peers=(), end="finalized", options=(), threads=1):
    """A rank that called some functions. peers: world rank, kind, messages, bytes."""
    full = [(*row, *(0, 0.0, 0.0, 0, 0, True)[len(row) - 1 :]) for row in rows]
    return RankProfile(
        path=Path("rank"),
        rank=number,
        size=size,
        pid=number,
        host="host",
        job="job",
        program="program",
        library="MPI",
        begin=0.0,
        wall_seconds=wall,
        init_seconds=0.1,
        end=end,
        code=0,
        inside="" if end == "finalized" else "MPI_Recv",
        threads=threads,
        thread_level="single",
        options=tuple(options),
        dropped=0,
        newer_calls=False,
        by_counter=True,
        calls=calls_of(full),
        communicators=[],
        files=[],
        sites=[],
        peers=np.array(peers, np.int64).reshape(-1, 4),
        windows=[Windows(0.0, 1.0, *np.ones((4, 8)))],
        usage={name: 1.0 for name in _USAGE.names} | {"io_known": 1.0},
        counter_error=0,
    )


def results_from(*ranks, size=None):
    return results_of(Job(tuple(ranks), size or ranks[0].size))


def read(text):
    return text.replace(formatting.THIN, " ")


def said(results):
    return read(headline(results))


def whats(results):
    return [read(finding.what) for finding in findings(results)]


def record_of(results, account=None, reasons=()):
    results = {**results, "headline": headline(results), "findings": [vars(each) for each in findings(results)]}
    return {
        "application": "profile",
        "input": {"command": ["mpirun", "./program"]},
        "results": results,
        "ledger": account,
        "figures": [vars(figure) for figure in figures(results)],
        "validity": {"valid": not reasons, "finished": True, "reasons": list(reasons), "times": []},
    }


LATE = [rank(0, [("MPI_Barrier", 1, 0.001)]), rank(1, [("MPI_Barrier", 1, 9.99)])]
KNOWN = {
    "one waits for the other": (
        results_from(*LATE),
        "50 % of the ranks' time is in MPI (MPI_Barrier 50 %); rank 1 was in MPI longest, 9.99 s, 100 % of its time, "
        "rank 0 shortest, 0.00100 s",
    ),
    "one rank": (
        results_from(rank(0, [("MPI_Allreduce", 5, 0.5, 0.0, 40, 40)], size=1)),
        "5.0 % of the rank's time is in MPI (MPI_Allreduce 5.0 %)",
    ),
    "no call": (
        results_from(rank(0, []), rank(1, [])),
        "0 % of the ranks' time is in MPI; each of the 2 ranks was in MPI for 0 s",
    ),
    "a tiny share": (
        results_from(rank(0, [("MPI_Send", 1, 1e-6)]), rank(1, [])),
        "< 0.1 % of the ranks' time is in MPI (MPI_Send < 0.1 %); rank 0 was in MPI longest, < 0.0001 s, < 0.1 % of "
        "its time, rank 1 shortest, 0 s",
    ),
    "all of it": (
        results_from(rank(0, [("MPI_Recv", 1, 10.0)]), rank(1, [("MPI_Recv", 1, 10.0)])),
        "100 % of the ranks' time is in MPI (MPI_Recv 100 %); each of the 2 ranks was in MPI for 10.0 s",
    ),
    "some alike": (
        results_from(*(rank(n, [("MPI_Wait", 1, 4.0 if n else 1.0)], size=3) for n in range(3))),
        "30 % of the ranks' time is in MPI (MPI_Wait 30 %); ranks 1, 2 were in MPI longest, 4.00 s, rank 0 shortest, "
        "1.00 s",
    ),
    "a rank is missing": (
        results_from(rank(0, [("MPI_Wait", 1, 1.0)], size=3), rank(2, [("MPI_Wait", 1, 3.0)], size=3)),
        "20 % of the ranks' time is in MPI (MPI_Wait 20 %); rank 2 was in MPI longest, 3.00 s, 30 % of its time, "
        "rank 0 shortest, 1.00 s; rank 1 is not in these numbers",
    ),
    "no time": (
        results_from(rank(0, [], wall=0.0, peers=[(1, 1, 3, 24)]), rank(1, [], wall=0.0)),
        "the ranks sent 3 messages of 24.0 B together; rank 0 sent most, 24.0 B",
    ),
    "other threads": (  # their time is none of the ranks'
        results_from(
            rank(0, [("MPI_Send", 2, 1.0), ("MPI_Send", 9, 90.0, 0.0, 0, 0, False)], size=1, threads=10),
        ),
        "10 % of the rank's time is in MPI (MPI_Send 10 %)",
    ),
    "a rank ended early": (
        results_from(rank(0, [("MPI_Recv", 1, 1.0)], wall=2.0, end="ended suddenly"), rank(1, [("MPI_Recv", 1, 1.5)])),
        "21 % of the ranks' time is in MPI (MPI_Recv 21 %); rank 1 was in MPI longest, 1.50 s, 15 % of its time, "
        "rank 0 shortest, 1.00 s",
    ),
    "waiting was told from transfer": (
        results_from(
            rank(0, [("MPI_Allreduce", 1, 2.0, 0.5)], options=["wait"]),
            rank(1, [("MPI_Allreduce", 1, 4.0, 3.0)], options=["wait"]),
        ),
        "30 % of the ranks' time is in MPI (MPI_Allreduce 30 %); rank 1 was in MPI longest, 4.00 s, 40 % of its time, "
        "rank 0 shortest, 2.00 s; before collective calls rank 1 waited longest, 3.00 s",
    ),
}


@pytest.mark.parametrize("case", KNOWN)
def test_the_headline_of_a_known_record(case):
    results, sentence = KNOWN[case]
    assert said(results) == sentence
    assert verdict(record_of(results)) == headline(results)


def test_the_account_knows_who_waited_in_a_barrier():
    """A record of before, which has no headline of its own, and one of which no waiting is known."""
    ledger = account_of(Job(tuple(LATE), 2))
    record = record_of(results_from(*LATE), ledger)
    del record["results"]["headline"]
    assert "rank 1 waited longest, 100 %" in read(verdict(record))
    record["ledger"] = account_of(Job((rank(0, [("MPI_Recv", 1, 9.0)]), rank(1, [])), 2))
    assert "waited" not in verdict(record)
    alone = account_of(Job((rank(0, [("MPI_Barrier", 1, 9.0)], size=1),), 1))
    assert alone["categories"]["idle"]["max"] == 0


def test_a_real_rank_that_waits_is_named(tmp_path):
    (job,) = counted(tmp_path / "profile", [compiled(tmp_path, "late.c"), 300])
    results = results_of(job)
    longest = results["ranks"][1]
    assert longest["mpi_seconds"] > 0.2
    assert f"rank 1 was in MPI longest, {formatting.seconds(longest['mpi_seconds'])}" in headline(results)
    ranks = account_of(job)["ranks"]
    assert ranks[1]["categories"]["idle"] > 0.2
    assert ranks[0]["categories"]["idle"] < 0.1


def test_findings_of_known_records():
    assert whats(results_from(*LATE))[0] == "MPI_Barrier: 50 % of the ranks' time, 2 calls, on the mean 5.00 s"
    few = results_from(*(rank(n, [("MPI_Send", 4, 1e-4, 0.0, 400, 0)]) for n in range(2)))
    assert whats(few) == ["100 % of the point-to-point calls with bytes have less than 4 KiB"]
    quiet = results_from(rank(0, [("MPI_Wait", 1, 1e-6)]), rank(1, []))
    (finding,) = findings(quiet)
    assert read(finding.what) == "all calls of MPI together take < 0.1 % of the ranks' time"
    assert finding.means == "communication is no bottleneck at this size"
    # Little on the mean of thirty ranks, but all that one of them does.
    one = [rank(n, [("MPI_Wait", 1, 9.0)] if n == 7 else [], size=30) for n in range(30)]
    (finding, _) = (
        findings(results_from(*one)) if len(findings(results_from(*one))) > 1 else (*findings(results_from(*one)), 0)
    )
    assert read(finding.means) == "little on the mean of the ranks, but rank 7 spends 90 % of its time there"
    # None takes much, all together do.
    names = ("MPI_Wait", "MPI_Recv", "MPI_Bcast", "MPI_Reduce", "MPI_Gather")
    many = results_from(*(rank(n, [(name, 1, 0.4) for name in names]) for n in range(2)))
    assert whats(many) == ["no function of MPI takes 5.0 % of the ranks' time, all of them together take 20 %"]
    assert findings(results_from(rank(0, [], wall=0.0), rank(1, [], wall=0.0))) == []


def test_what_calls_mean_depends_on_what_is_known():
    def means(name, options=(), size=2, waiting=0.0, moved=8):
        rows = [(name, 10, 5.0, waiting, 10 * moved, 10 * moved)]
        return findings(results_from(*(rank(n, rows, size=size, options=options) for n in range(size))))[0].means

    assert means("MPI_Allreduce") == (
        "so few bytes take as long as none: what is paid is the number of calls, and waiting for other ranks (--wait "
        "tells them apart)"
    )
    assert "calls, less than half of it is waiting" in means("MPI_Allreduce", ["wait"], waiting=1.0)
    assert "at different times" in means("MPI_Allreduce", ["wait"], waiting=4.0)
    assert means("MPI_Barrier") == "ranks wait for the slowest"
    assert "nobody else has to be waited for" in means("MPI_Barrier", size=1)
    assert "should only begin" in means("MPI_Ibarrier")
    assert "should only begin" in means("MPI_Isend", moved=10**6)
    for name in ("MPI_Recv", "MPI_Waitall", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Recv_c"):
        assert "waited for" in means(name), name
    assert "again and again" in means("MPI_Iprobe")
    assert "made and freed" in means("MPI_Win_create")
    assert "copied in memory" in means("MPI_Unpack")


def test_imbalance_names_all_that_are_alike_and_claims_no_waiting_that_is_not_there():
    def balance(*ranks):
        return next(finding for finding in findings(results_from(*ranks)) if "outside of MPI" in finding.what)

    two = [rank(n, [("MPI_Wait", 1, 1.0 if n < 2 else 9.0)], size=3) for n in range(3)]
    found = balance(*two)
    assert read(found.what) == "ranks 0, 1 are 9.00 s outside of MPI, the mean is 6.33 s: 1.42 times as much"
    assert found.means == "the others wait for them inside MPI, in whatever call comes next"
    found = balance(rank(0, []), rank(1, [("MPI_Wait", 1, 0.1)], wall=1.0))
    assert read(found.means).startswith(
        "the others do not wait for it inside MPI, where ranks spend 0.0500 s on the mean"
    )


def test_messages_to_other_worlds_are_told_beside_the_matrix():
    results = results_from(rank(0, [], peers=[(1, 1, 2, 16), (-1, 1, 3, 3000), (1, 3, 1, 8)]), rank(1, []))
    captions = {panel["name"]: panel["caption"] for panel in panels(record_of(results), Path()) if "name" in panel}
    assert "Not in it: 3 of 3.00 kB with ranks outside" in read(captions["matrix-messages"])
    assert "Counted by the rank that gets them" in captions["matrix-gets"]


def test_without_times_the_sentence_tells_messages():
    rows = {0: [("E", 0, 1, 4000, 4, [0, 4])], 1: [("E", 1, 0, 2000, 1, [0, 1])]}
    results = monitored(rows, 2, 5.0)
    assert said(results) == "the ranks sent 5 messages of 6.00 kB together; rank 0 sent most, 4.00 kB"
    record = record_of(results, account_without_times(results))
    assert read(verdict(record)) == said(results)
    assert not [name for name, _ in heading(record).facts if name in ("In MPI", "Load imbalance")]


def test_a_table_of_the_terminal_says_how_many_of_its_rows_it_shows():
    names = [name for name in NUMBERS if name not in OUTSIDE][:30]
    results = results_from(*(rank(n, [(name, 1, 0.01) for name in names]) for n in range(2)))
    text = text_of_profile(record_of(results))
    assert "Functions of MPI, by the time of all ranks: the first 12 of 30\n" in text
    assert sum(name in text for name in names) == 12


# --- drawn records ---------------------------------------------------------------------------------------------------

UNITS = {"%": 0.01, "ns": 1e-9, "µs": 1e-6, "s": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
NUMBER = r"(< )?(\d[\d \N{NARROW NO-BREAK SPACE}]*(?:\.\d+)?(?:e[+-]\d+)?)"
QUANTITY = rf"{NUMBER}[ \N{{NARROW NO-BREAK SPACE}}]?({'|'.join(UNITS)})?(?![\w])"


def agrees(text, value):
    """Whether a printed number is this value, to its own digits."""
    below, digits, unit = re.fullmatch(QUANTITY, text).groups()
    digits, factor = re.sub(r"\s", "", digits), UNITS[unit] if unit else 1.0
    mantissa, _, exponent = digits.partition("e")
    last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) * factor
    shown = float(digits) * factor
    if below:
        return 0 < value < shown
    return (value == 0) == (shown == 0) and abs(value - shown) <= 0.5001 * last + 1e-12 * abs(value)


def test_numbers_are_read_as_they_are_printed():
    assert agrees("50 %", 0.4996)
    assert not agrees("50 %", 0.51)
    assert not agrees("0 %", 1e-6)
    assert agrees("< 0.1 %", 1e-6)
    assert agrees(f"1{formatting.THIN}234", 1234.4)
    assert not agrees(f"1.23{formatting.THIN}kB", 1240)


@st.composite
def drawn(draw):
    """The job of some ranks, of which some may be missing, have ended early, have done nothing, or be alike."""
    size = draw(st.integers(1, 5))
    there = sorted(draw(st.sets(st.integers(0, size - 1), min_size=1)))
    names = draw(st.lists(st.sampled_from(sorted(NUMBERS)), min_size=1, max_size=8, unique=True))
    options = draw(st.sampled_from([(), ("wait",)]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    alike = draw(st.booleans())
    wall = draw(st.sampled_from([0.0, 1e-5, 3.7, 4000.0]))
    share = draw(st.sampled_from([0.0, 1e-7, 1e-3, 0.3, 1.0]))
    return Job(tuple(_drawn_rank(random, n, size, names, options, wall, share, alike) for n in there), size)


def _drawn_rank(random, number, size, names, options, wall, share, alike):
    random = np.random.default_rng(1) if alike else random
    own = wall if alike else wall * random.uniform(0.1, 1.0)
    parts = random.dirichlet(np.full(len(names), 0.3)) * own * share * (1.0 if alike else random.uniform())
    rows = []
    for name, seconds in zip(names, parts, strict=True):
        calls = int(random.integers(1, 10 ** random.integers(1, 7)))
        collective = functions()[NUMBERS[name]].kind == "collective"
        waiting = seconds * random.uniform() if options and collective else 0.0
        sizes = [int(calls * 2 ** random.integers(0, 24) * random.integers(0, 2)) for _ in range(2)]
        moved = [size if named else 0 for size, named in zip(sizes, _directions(name), strict=True)]
        rows.append((name, calls, seconds, waiting, *moved))
        if random.uniform() < 0.3:
            rows.append((name, calls, seconds * 5, 0.0, 0, 0, False))
    peers = [(peer, 1, int(random.integers(1, 1000)), int(random.integers(0, 10**9))) for peer in range(-1, size)]
    end = "finalized" if random.uniform() < 0.8 else "ended suddenly"
    return rank(number, rows, size, float(own), peers[: random.integers(0, size + 2)], end, options, threads=2)


def _directions(name):
    function = functions()[NUMBERS[name]]
    return function.sends, function.takes


def table(shown, title):
    """The rows of a table as dictionaries, by the keys of its columns; of those that are not cut."""
    for panel in shown:
        if panel["kind"] == "table" and panel["title"].startswith(title):
            keys = [key for key, _, _ in panel["columns"]]
            return [dict(zip(keys, row, strict=True)) for row in panel["rows"]]
    return []


def numbers_of(text):
    """The ranks of "rank 1" or "ranks 1, 2, …"."""
    return [int(word) for word in re.findall(r"\d+", text)]


@settings(max_examples=60, deadline=None)
@given(drawn())
def test_no_number_of_a_sentence_contradicts_the_table_beneath_it(job):
    results = results_of(job)
    record = record_of(results, account_of(job), doubts(job))
    shown = panels(record, Path())
    ranks = {row["rank"]: row for row in table(shown, "Ranks")}
    rows = {row["name"]: row for row in table(shown, "Functions")}
    wall = sum(row["wall_seconds"] for row in ranks.values())
    inside = sum(row["mpi_seconds"] for row in ranks.values())
    facts = dict(heading(record).facts)

    sentence = headline(results)
    assert f"{sentence}.".split() == text_of_profile(record).split()[: len(sentence.split())]
    checked = _headline(sentence, results, ranks, rows, inside, wall)
    # Every number of the sentence was looked at.
    assert checked == len(re.findall(rf"(?<![\w_]){QUANTITY}", re.sub(r"MPI_\w+", "", sentence))), sentence

    if wall:
        share, each = re.match(rf"({QUANTITY}) of the ranks' time, ({QUANTITY}) a rank", facts["In MPI"]).group(1, 5)
        assert agrees(share, inside / wall)
        assert agrees(each, inside / len(ranks))
        assert sentence.startswith(share)
        user = [row["user_seconds"] for row in ranks.values()]
        ratio = re.search(rf"MPI over user time ({QUANTITY})", facts["In MPI"])
        assert (ratio is None) == (sum(user) == 0)
        assert ratio is None or agrees(ratio[1], inside / sum(user))
        if sum(user):
            assert agrees(facts["Load imbalance"].split(",")[0], max(user) * len(user) / sum(user))
    moved = sum(row["bytes_out"] for row in ranks.values())
    whole, each = re.match(rf"({QUANTITY}) handed over, ({QUANTITY}) a rank", facts["Data"]).group(1, 5)
    assert agrees(whole, moved)
    assert agrees(each, moved / len(ranks))

    for finding in findings(results):
        _finding(finding, ranks, rows, inside, wall, results)


def _headline(sentence, results, ranks, rows, inside, wall):
    """Checks the sentence part by part; how many numbers were checked."""
    checked = 0

    def check(text, value):
        nonlocal checked
        checked += 1
        assert agrees(text, value), (sentence, text, value)

    def check_ranks(words, key, pick, text):
        nonlocal checked
        named, best = numbers_of(words), pick(row[key] for row in ranks.values())
        checked += len(named)
        assert {formatting.seconds(ranks[each][key]) for each in named} == {text}
        assert named == [n for n, row in ranks.items() if formatting.seconds(row[key]) == formatting.seconds(best)]
        check(text, best)

    for part in sentence.split("; "):
        if found := re.match(rf"({QUANTITY}) of the rank", part):
            check(found[1], inside / wall)
            for name, share in re.findall(r"(MPI_\w+) (<?[^,()]+)", part):
                check(share, rows[name]["share"])
        elif found := re.match(
            rf"(.*?) (?:was|were) in MPI longest, ({QUANTITY})(?:, ({QUANTITY}) of its time)?", part
        ):
            check_ranks(found[1], "mpi_seconds", max, found[2])
            if found[6]:
                (one,) = numbers_of(found[1])
                check(found[6], ranks[one]["mpi_seconds"] / ranks[one]["wall_seconds"])
            least = re.search(rf", (ranks? [\d, …]+) shortest, ({QUANTITY})$", part)
            check_ranks(least[1], "mpi_seconds", min, least[2])
        elif found := re.match(rf"each of the (\d+) ranks was in MPI for ({QUANTITY})$", part):
            check(found[1], len(ranks))
            for row in ranks.values():
                assert formatting.seconds(row["mpi_seconds"]) == found[2]
            checked += 1
        elif found := re.search(rf"waited(?: longest,)? ({QUANTITY})", part):
            waited = {rank["rank"]: rank["waiting_seconds"] for rank in results["ranks"]}
            check(found[1], max(waited.values()))
            named = numbers_of(part[: found.start()])
            checked += len(named)
            assert {formatting.seconds(waited[n]) for n in named or waited} == {found[1]}
        elif part.endswith("not in these numbers"):
            named = numbers_of(part)
            checked += len(named)
            assert named == [n for n in range(results["size"]) if n not in ranks]
        elif found := re.match(rf"the ranks sent ({NUMBER}) messages of ({QUANTITY}) together$", part):
            check(found[1], sum(row["messages"] for row in ranks.values()))
            check(found[4], sum(row["message_bytes"] for row in ranks.values()))
        else:
            found = re.fullmatch(rf"(ranks? [\d, …]+) sent most, ({QUANTITY})", part)
            most = max(row["message_bytes"] for row in ranks.values())
            checked += len(numbers_of(found[1]))
            check(found[2], most)
    return checked


def _finding(finding, ranks, rows, inside, wall, results):
    what = finding.what
    if found := re.match(rf"(MPI_\w+): ({QUANTITY}) of the ranks' time, ({QUANTITY}) calls?, on the mean (.*)", what):
        row = rows[found[1]]
        assert agrees(found[2], row["share"])
        assert agrees(found[6], row["calls"])
        means = found[10].split(", ")[0].split(" and ")
        assert agrees(means[-1], row["seconds"] / row["calls"])
        assert (len(means) == 1) == (row["size"] == 0)
        assert len(means) == 1 or agrees(means[0], row["size"])
        waiting = re.search(rf", ({QUANTITY}) of it waiting", what)
        assert (waiting is None) == (not row.get("waiting_seconds"))
        assert waiting is None or agrees(waiting[1], row["waiting_seconds"] / row["seconds"])
        assert len(ranks) > 1 or results["size"] > 1 or "ranks wait" not in finding.means
    elif found := re.match(
        rf"(ranks? .*?) (?:is|are) ({QUANTITY}) outside of MPI, the mean is ({QUANTITY}): (.*) times", what
    ):
        user = {number: row["user_seconds"] for number, row in ranks.items()}
        mean = sum(user.values()) / len(user)
        assert {formatting.seconds(user[n]) for n in numbers_of(found[1])} == {found[2]}
        assert agrees(found[2], max(user.values()))
        assert agrees(found[6], mean)
        assert agrees(found[10], max(user.values()) / mean)
    elif found := re.match(rf"all calls of MPI together take ({QUANTITY})", what):
        assert agrees(found[1], inside / wall)
        if named := re.search(rf"but (ranks? [\d, …]+) spends? ({QUANTITY}) of", finding.means):
            most = max(row["mpi_seconds"] / row["wall_seconds"] for row in ranks.values())
            assert agrees(named[2], most)
        else:
            assert all(row["mpi_seconds"] < 0.0500001 * row["wall_seconds"] for row in ranks.values())
    elif found := re.match(
        rf"no function of MPI takes 5.0.% of the ranks' time, all of them together take ({QUANTITY})", what
    ):
        assert agrees(found[1], inside / wall)
        assert all(row["share"] is None or row["share"] < 0.05 for row in rows.values())
    elif found := re.match(rf"({QUANTITY}) of the point-to-point calls with bytes", what):
        sizes = [row for row in results["sizes"] if row["kind"] == "point-to-point"]
        small = sum(row["calls"] for row in sizes if row["least_bytes"] < 4096)
        assert agrees(found[1], small / sum(row["calls"] for row in sizes))
    else:
        name, calls, each, of = re.match(
            rf"(MPI_\w+): ({QUANTITY}) calls, on the mean ({QUANTITY}) on each of (\d+)", what
        ).group(1, 2, 6, 10)
        assert agrees(calls, rows[name]["calls"])
        assert agrees(each, rows[name]["calls"] / int(of))
    assert math.isfinite(inside)
