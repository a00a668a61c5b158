"""Fathometer: real parallel applications, from files to results, that account for every second and byte; and the
instruments to measure any other program and machine with the same rigour."""

TYPE_CHECKING = False  # as typing's, which takes longer to import than all else here: a signal may come meanwhile

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """`__version__`, read from the installed package when asked for: importlib.metadata takes long to load."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version("fathometer")
