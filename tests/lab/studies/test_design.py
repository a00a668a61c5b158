"""The cases of a study, against their definitions."""

import itertools
from collections import Counter

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.recipes import expression
from fathometer.lab.studies import design
from fathometer.lab.studies.design import Case, Design, cases_of, text_of

FACTORS = {"ranks": (1, 2, 4), "threads": (1, 2), "history": ("memory", "disk")}


def settings(designs=(), keep=(), factors=FACTORS, **known):
    kept = [expression.read(text) for text in keep]
    found = cases_of(factors, list(designs), kept, known)
    return {name: [tuple(case.settings.values()) for case in cases] for name, cases in found.items()}


def test_the_product_in_order():
    assert settings() == {"all": list(itertools.product(*FACTORS.values()))}


def test_constraints_keep_what_they_are_true_for():
    kept = settings(keep=["ranks * threads <= cores", "history == 'memory' or ranks > 1"], cores=4)["all"]
    assert kept == [
        p for p in itertools.product(*FACTORS.values()) if p[0] * p[1] <= 4 and (p[2] == "memory" or p[0] > 1)
    ]


def test_one_factor_at_a_time():
    design = Design("star", "one-at-a-time", base={"ranks": 2, "history": "disk"})
    assert settings([design])["star"] == [
        (2, 1, "disk"), (1, 1, "disk"), (4, 1, "disk"), (2, 2, "disk"), (2, 1, "memory"),
    ]  # fmt: skip


def test_a_product_of_some_factors_with_the_others_at_their_base():
    design = Design("scaling", factors=("ranks",), base={"threads": 2})
    assert settings([design])["scaling"] == [(1, 2, "memory"), (2, 2, "memory"), (4, 2, "memory")]


def test_pairs():
    design = Design("square", "paired", lists={"ranks": (4, 2), "threads": (1, 2)})
    assert settings([design])["square"] == [(4, 1, "memory"), (2, 2, "memory")]


def test_random_cases_are_of_the_product_each_once_and_follow_the_seed():
    big = {name: tuple(range(50)) for name in "abcd"}
    one, again, other = (
        settings([Design("r", "random", samples=200, seed=seed)], factors=big)["r"] for seed in (1, 1, 2)
    )
    assert one == again != other
    assert len(set(one)) == 200
    assert all(0 <= value < 50 for point in one for value in point)
    whole = settings([Design("r", "random", samples=999)])["r"]
    assert sorted(whole, key=str) == sorted(itertools.product(*FACTORS.values()), key=str)


def test_random_cases_are_as_many_as_asked_beside_constraints():
    big = {name: tuple(range(50)) for name in "ab"}
    kept = settings([Design("r", "random", samples=30)], ["a + b < 20"], big)["r"]
    assert len(kept) == 30
    assert all(a + b < 20 for a, b in kept)


def test_random_cases_are_spread_evenly():
    big = {"a": tuple(range(10)), "b": tuple(range(10)), "c": tuple(range(10))}
    points = settings([Design("r", "random", samples=500, seed=7)], factors=big)["r"]
    for axis in range(3):
        counts = Counter(point[axis] for point in points)
        assert min(counts.values()) > 25  # 50 wanted, spread of 5
        assert max(counts.values()) < 75


@pytest.mark.parametrize("samples", [3, 12, 13])
def test_a_latin_hypercube_has_each_value_equally_often(samples):
    factors = {"a": (1, 2, 3), "b": tuple("wxyz"), "c": tuple(range(12))}
    kept = cases_of(factors, [Design("l", "latin-hypercube", samples=samples)], [], {})["l"]
    assert len(kept) <= samples
    for name, values in factors.items():
        counts = Counter(case.settings[name] for case in kept)
        assert max(counts.values()) <= -(-samples // len(values))


def test_a_case_of_two_designs_is_one_case():
    found = cases_of(FACTORS, [Design("a", factors=("ranks",)), Design("b", factors=("threads",))], [], {})
    [shared] = {case.name for case in found["a"]} & {case.name for case in found["b"]}
    assert shared == Case({"ranks": 1, "threads": 1, "history": "memory"}).name


def test_names_of_cases_depend_on_settings_alone():
    assert Case({"a": 1, "b": 2}).name == Case({"b": 2, "a": 1}).name != Case({"a": 1, "b": "2"}).name


def test_a_study_without_factors_has_one_case():
    assert settings(factors={}) == {"all": [()]}


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (Design(factors=("rank",)), "factors: unknown factor rank; known: ranks, threads, history"),
        (Design(base={"threads": 3}), "base.threads: found 3; allowed: a value of the factor: 1, 2"),
        (Design(kind="paired"), 'lists: found none with kind = "paired"'),
        (Design(lists={"ranks": (1,)}), 'lists: found ranks with kind = "product"'),
        (Design(kind="paired", lists={"ranks": (1, 2), "threads": (1,)}), "lists: found ranks of 2, threads of 1"),
        (Design(kind="paired", lists={"ranks": (3,)}), "lists.ranks: found 3; allowed"),
        (Design(kind="random"), 'samples: found 0 with kind = "random"'),
        (Design(samples=3), 'samples: found 3 with kind = "product"'),
    ],
)
def test_designs_that_do_not_fit(design, words):
    with pytest.raises(InputError, match=words):
        design.check(FACTORS)


def test_constraints_that_leave_nothing():
    with pytest.raises(InputError, match="design all: no case is left"):
        settings(keep=["ranks > 99"])


def test_too_many_cases():
    with pytest.raises(InputError, match=r"design all: found more than 100,000 cases"):
        settings(factors={name: tuple(range(20)) for name in "abcd"})
    with pytest.raises(InputError, match="combinations; allowed"):
        settings(factors={name: tuple(range(100)) for name in "abcd"}, keep=["a == b"])


def test_the_cases_of_all_designs_are_too_many_together(monkeypatch):
    monkeypatch.setattr(design, "MOST_CASES", 24)
    settings([Design("one"), Design("two")])  # twelve each
    with pytest.raises(InputError, match="design three: found more than 24 cases"):
        settings([Design("one"), Design("two"), Design("three")])


def test_a_sample_may_be_one_point():
    drawn = Design("one", "random", samples=1)
    drawn.check(FACTORS)
    [point] = settings([drawn])["one"]
    assert point in list(itertools.product(*FACTORS.values()))


def test_cases_are_named_by_their_settings():
    assert str(Case({"ranks": 2, "pinned": True})) == "ranks = 2, pinned = true"
    assert str(Case({})) == "the only case"


def test_different_values_look_different():
    assert [text_of(value) for value in (0.1, 2.0, 1e-9, 0.12345678, 0.12345679)] == [
        "0.1", "2", "1e-09", "0.12345678", "0.12345679",
    ]  # fmt: skip
