"""Quantities as text, on pages and on terminals."""

import math

import pytest

from fathometer.base import formatting
from fathometer.base.formatting import THIN


@pytest.mark.parametrize(
    ("value", "number", "expected"),
    [
        (0, 3, "0 B"),
        (512, 3, "512 B"),
        (36_864_000, 3, "36.9 MB"),
        (999_600_000, 3, "1000 MB"),  # no exponent where three digits round up
        (4e12, 3, "4 TB"),
        (4.5e15, 3, "4.5 PB"),
        (12_345_678_901, 4, "12.35 GB"),
    ],
)
def test_bytes_have_the_unit_that_fits(value, number, expected):
    assert formatting.bytes_in_words(value, number) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0123, "0.0123 s"), (999.6, "1000 s"), (9999, "9999 s"), (10_800, "3 h"), (3600 * 1234.5, "1234 h")],
)
def test_a_phase_takes_seconds_or_hours(value, expected):
    assert formatting.seconds_in_words(value) == expected


def test_messages():
    times = [0.0, 2e-9, 4.52e-6, 0.0123, 3.0]
    assert [formatting.time_in_words(time) for time in times] == ["0 ns", "2 ns", "4.52 µs", "12.3 ms", "3 s"]
    lengths = [8, 4096, 3 << 19, 1 << 31]
    assert [formatting.length_in_words(size) for size in lengths] == ["8 B", "4 KiB", "1.5 MiB", "2 GiB"]
    assert [formatting.rate_in_words(rate) for rate in (1.234e7, 1.6e9)] == ["12.3 MB/s", "1600 MB/s"]


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (1.5e9, "samples_per_second", f"1.50{THIN}Gsamples/s"),
        (2.5e6, "cells_per_second", f"2.50{THIN}Mcells/s"),
        (1.2e15, "flops_per_second", f"1.20{THIN}Pflop/s"),
        (1625.0, "shots_per_hour", f"1{THIN}625{THIN}shots/h"),
        (12.0, "count", "12.0"),
        (3.0, "square_metres_per_long_day", f"3.00{THIN}square metres/long day"),
        (math.nan, "bytes", f"nan{THIN}B"),
    ],
)
def test_a_figure_reads_the_same_on_the_page_of_a_run_and_of_a_study(value, unit, expected):
    assert formatting.quantity(value, unit) == formatting.value_text(value, unit) == expected


def test_counts():
    assert [formatting.number_of(number, "rank") for number in (0, 1, 1024)] == ["0 ranks", "1 rank", "1024 ranks"]
    assert formatting.counted(1024, "rank") == f"1{THIN}024 ranks"
    assert formatting.extent_in_words(-0.5, 1e6) == "-0.5 to 1000000 m"
    assert formatting.extent_in_words(2.0, 2.0) == "2 m"


def test_times_of_runs_and_studies():
    """A run's page has all times in seconds; a study's values have units of their own."""
    assert formatting.quantity(0.0045, "seconds") == f"0.00450{THIN}s"
    assert formatting.value_text(0.0045, "seconds") == f"4.50{THIN}ms"
    assert formatting.quantity(None, "seconds") == formatting.NONE
