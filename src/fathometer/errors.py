"""The two ways in which a run ends early, and their exit codes."""


class FathometerError(Exception):
    """The run failed although its input was fine: one line that names the thing and its place (exit code 1)."""

    exit_code = 1


class InputError(FathometerError):
    """The input is at fault: one line that names the thing, its place, what was found and what is allowed (exit code 2)."""

    exit_code = 2
