"""Progress against a clock that the test turns: which lines a log gets, and that a terminal gets a bar."""

import io

import pytest

from fathometer.base.formatting import duration
from fathometer.base.progress import Progress, on_terminal


class Clock:
    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


class Terminal(io.StringIO):
    def isatty(self):
        return True


def survey(stream, shots, steps, seconds_a_step, environ=None, **options):
    """A survey of `shots` shots of `steps` steps each, whose every step takes `seconds_a_step`."""
    clock = Clock()
    options = {"label": "migrate", "stream": stream, "environ": environ or {}} | options
    with Progress(shots, now=clock, task="shot", **options) as progress:
        for shot in range(shots):
            progress.start_task(shot, steps)
            for _ in range(steps):
                clock.time += seconds_a_step
                progress.advance(1)
            progress.finish_task()
    return stream.getvalue()


def test_a_log_gets_a_line_each_tenth():
    log = survey(io.StringIO(), shots=10, steps=20, seconds_a_step=1.0).splitlines()
    assert log[0] == "migrate: shot 1 of 10, 10 %, 1 steps/s, 3 min 00 s left"
    assert log[4] == "migrate: shot 5 of 10, 50 %, 1 steps/s, 1 min 40 s left"
    assert log[-1] == "migrate: 10 of 10 shots done in 3 min 20 s, 1 steps/s"
    assert len(log) == 11


def test_a_fast_survey_gets_lines_ten_seconds_apart():
    log = survey(io.StringIO(), shots=10, steps=20, seconds_a_step=0.125).splitlines()
    assert [line.split(",")[0] for line in log[:-1]] == ["migrate: shot 4 of 10", "migrate: shot 8 of 10"]
    assert log[-1] == "migrate: 10 of 10 shots done in 25 s, 8 steps/s"


def test_lines_come_more_often_where_somebody_waits_for_them():
    environ = {"FATHOMETER_LINE_SECONDS": "1"}
    log = survey(io.StringIO(), shots=10, steps=20, seconds_a_step=0.125, environ=environ).splitlines()
    assert [line.split(",")[1] for line in log[:-1]] == [f" {tenth}0 %" for tenth in range(1, 11)]
    assert len(survey(io.StringIO(), 10, 20, 0.125, environ={"FATHOMETER_LINE_SECONDS": "x"}).splitlines()) == 3


def test_a_short_survey_gets_one_line():
    assert survey(io.StringIO(), 2, 5, 0.5) == "migrate: 2 of 2 shots done in 5 s, 2 steps/s\n"


def test_a_slow_survey_gets_a_line_after_a_minute_and_then_every_ten_minutes():
    """Of a run whose time steps are too short by mistake the first line is what somebody looks at."""
    log = survey(io.StringIO(), shots=1, steps=1200, seconds_a_step=60.0).splitlines()
    assert log[0] == "migrate: shot 1 of 1, 0 %, 0.01667 steps/s, 19 h 59 min left"
    assert [line.rsplit(", ", 1)[1] for line in log[1:5]] == [
        f"{hours} h {minutes:02} min left" for hours, minutes in ((19, 57), (19, 53), (19, 45), (19, 35))
    ]
    assert len(log) == 3 + 120 + 1


@pytest.mark.parametrize("options", [{"quiet": True}, {"rank": 1}])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_silence(options, stream):
    assert survey(stream(), 4, 20, 1.0, **options) == ""


def test_a_run_that_fails_says_nothing_of_being_done():
    log = io.StringIO()
    progress = Progress(2, now=Clock(), task="shot", stream=log, environ={})
    with pytest.raises(KeyError), progress:
        raise KeyError
    assert log.getvalue() == ""


@pytest.mark.parametrize(
    ("stream", "environ"),
    [(Terminal(), {"COLUMNS": "90"}), (io.StringIO(), {"COLUMNS": "90", "FATHOMETER_TTY": "1"})],
)
def test_a_terminal_gets_a_bar(stream, environ):
    shown = survey(stream, 4, 20, 1.0, environ)
    assert "\r" in shown  # drawn over itself …
    assert shown.count("\n") == 1  # … and left on one line
    assert "shot 2 of 4  1 steps/s  40 s left" in shown
    assert "100 %  shot 4 of 4  1 steps/s  1 min 20 s" in shown.split("\n")[0]
    assert shown.endswith("\x1b[?25h")  # the cursor is back


def test_the_bar_is_drawn_four_times_a_second_at_most():
    shown = survey(Terminal(), 1, 1000, 1 / 1024, {"COLUMNS": "90"})
    assert shown.count("\r") < 8


@pytest.mark.parametrize(
    ("stream", "environ", "expected"),
    [
        (io.StringIO(), {}, False),
        (io.StringIO(), {"FATHOMETER_TTY": "1"}, True),
        (Terminal(), {}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"FATHOMETER_TTY": "1", "TERM": "dumb"}, False),
    ],
)
def test_on_terminal(stream, environ, expected):
    assert on_terminal(stream, environ) is expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (3599.7, "1 h 00 min"),
        (7620, "2 h 07 min"),
    ],
)
def test_duration(seconds, expected):
    assert duration(seconds) == expected
