"""`python -m fathometer` and the command `fathometer`: signals are taken before anything else is imported."""

from fathometer.base import early_signals

early_signals.begin()


def main() -> int:
    """The command line; after it a signal ends the process at once, also where it waits in MPI for other ranks."""
    from fathometer.cli.main import main as run

    try:
        return run()
    finally:
        early_signals.end()


if __name__ == "__main__":
    import sys

    sys.exit(main())
