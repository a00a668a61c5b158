"""Which rank computes which column of air: each column once, ranks of a team alike, day and night shared out."""

from collections import Counter

import numpy as np
import pytest
from atmosphere_support import grid_of

from fathometer.apps.atmosphere.solver.columns import BALANCES, LAYOUTS, blocks_of, homes, owners, partner_of
from fathometer.apps.atmosphere.solver.physics import sun

DAY, NIGHT = 2.0, 1.0  # what a column costs by day and by night


def owner_of(layout, balance, ranks, truncation=21, nodes=2):
    grid = grid_of(truncation)
    return owners(layout, balance, grid.pairs, grid.longitudes, [rank * nodes // ranks for rank in range(ranks)])


def imbalance(owner, truncation, declination, ranks):
    """Largest over mean of the work of ranks, the worst of a day's hours."""
    grid = grid_of(truncation)
    sines = np.stack([grid.sines, -grid.sines], axis=1)[..., None]
    found = []
    for hour in range(24):
        lit = sun(sines, grid.longitude, np.radians(declination), hour * 3600.0) > 0
        work = np.bincount(owner, np.where(lit, DAY, NIGHT).reshape(-1), ranks)
        found.append(work.max() / work.mean())
    return max(found)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("balance", BALANCES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 6, 7, 12, 16])
def test_ranks_of_a_team_compute_as_many_columns(layout, balance, ranks):
    owner = owner_of(layout, balance, ranks)
    grid = grid_of(21)
    assert len(owner) == grid.latitudes * grid.longitudes
    counts = Counter(owner.tolist())
    assert sorted(counts) == list(range(ranks))
    home = Counter(homes(layout, grid.pairs, grid.longitudes, ranks).tolist())
    teams = {
        "none": [[rank] for rank in range(ranks)],
        "node": [[rank for rank in range(ranks) if rank * 2 // ranks == node] for node in range(2)],
        "all": [list(range(ranks))],
        "partner": [sorted({rank, partner_of(layout, ranks, rank)}) for rank in range(ranks)],
    }[balance]
    for team in filter(None, teams):
        shares = [counts[rank] for rank in team]
        assert sum(shares) == sum(home[rank] for rank in team)
        assert max(shares) - min(shares) <= (0 if balance == "none" else 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("ranks", range(1, 40))
def test_partners_are_partners_of_each_other(layout, ranks):
    assert [partner_of(layout, ranks, partner_of(layout, ranks, rank)) for rank in range(ranks)] == list(range(ranks))


def test_blocks_are_blocks():
    grid = grid_of(21)
    home = homes("blocks", grid.pairs, grid.longitudes, 6).reshape(grid.pairs, 2, grid.longitudes)
    northward = np.concatenate([home[:, 1], home[::-1, 0]])
    along, across = blocks_of(6)
    assert (along, across) == (2, 3)
    # Two of 16 latitudes, three of 21 or 22 longitudes.
    assert np.all(np.diff(northward, axis=1) >= 0)
    for number in range(6):
        latitudes, longitudes = (np.unique(found) for found in np.nonzero(northward == number))
        assert latitudes.tolist() == list(range(16 * (number // 3), 16 * (number // 3 + 1)))
        assert len(longitudes) in (21, 22)
        assert np.count_nonzero(northward == number) == 16 * len(longitudes)


@pytest.mark.parametrize("declination", [0.0, 23.45])
@pytest.mark.parametrize("truncation", [42, 85])
def test_day_and_night_are_shared_out_on_32_ranks(truncation, declination):
    """Blocks that lie in daylight have a third more than the mean; dealt out, at most a twentieth more."""
    worst = {
        (layout, balance): imbalance(owner_of(layout, balance, 32, truncation, 4), truncation, declination, 32)
        for layout in LAYOUTS
        for balance in BALANCES
    }
    assert worst["blocks", "none"] == pytest.approx(4 / 3, rel=0.01)
    assert worst["pairs", "none"] <= 1.01
    for layout in LAYOUTS:
        assert worst[layout, "all"] <= 1.05
        assert worst[layout, "partner"] <= 1.05
    # The eight ranks of a node have all longitudes of some latitudes: only the season is left.
    assert worst["blocks", "node"] <= (1.05 if declination == 0 else 1.3)


def test_dealt_columns_are_even_where_ranks_divide_a_ring():
    """As many ranks as longitudes: not one longitude each."""
    owner = owner_of("pairs", "all", 32, 21)
    assert imbalance(owner, 21, 0.0, 32) <= 1.05
    grid = grid_of(21)
    owner = owners("pairs", "all", 64, grid.longitudes, [0] * grid.longitudes)
    places = [np.unique(np.flatnonzero(owner == rank) % grid.longitudes).size for rank in range(grid.longitudes)]
    assert min(places) > grid.longitudes / 2
