"""Text on terminals that do not know all of its characters: what they lack is spelt out, nothing ends a run.

`µm²` becomes `um^2`; a byte of a name that is not UTF-8 becomes an escape, as JSON writes it.
"""

from __future__ import annotations

import codecs
import sys
import unicodedata
from contextlib import suppress

HANDLER = "fathometer.legible"  # name for `errors=`
_SPELT = {"µ": "u", "×": "x", "·": "*", "°": "deg", "½": "1/2", "η": "eta", "π": "pi", "φ": "phi", "Ω": "Omega"}
_SPELT |= dict.fromkeys("−–—─━┄", "-") | dict.fromkeys("“”„", '"') | dict.fromkeys("‘’", "'") | {"│": "|", "┃": "|"}
_SPELT |= {"≈": "~", "≠": "!=", "≤": "<=", "≥": ">=", "→": "->", "←": "<-", "↑": "^", "█": "#", "●": "*", "√": "sqrt"}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))


def legible(text: str) -> str:
    """The text in ASCII.

    >>> legible("5 µs × 10⁻¹² m²…")
    '5 us x 10^-12 m^2...'
    """
    spelt, raised = [], False
    for letter in text:
        if letter in _RAISED:
            spelt.append(_RAISED[letter] if raised else f"^{_RAISED[letter]}")
        else:
            spelt.append(_of(letter))
        raised = letter in _RAISED
    return "".join(spelt)


def legible_output() -> None:
    """From here on standard output and standard error spell out what they cannot show."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # closed by whoever started us, or replaced
            stream.reconfigure(errors=HANDLER)  # type: ignore[union-attr]


def _of(letter: str) -> str:
    if letter.isascii():
        return letter
    if letter in _SPELT:
        return _SPELT[letter]
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return plain or letter.encode("ascii", "backslashreplace").decode()


def _handler(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return legible(error.object[error.start : error.end]), error.end


codecs.register_error(HANDLER, _handler)
