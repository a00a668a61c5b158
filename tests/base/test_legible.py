"""What a terminal lacks is spelt out."""

import io

import pytest

from fathometer.base.legible import HANDLER, legible


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("5 µs, 3 m²/s, 10⁻¹² m, 2 × 3", "5 us, 3 m^2/s, 10^-12 m, 2 x 3"),
        ("1 234 … – − “a” ≤ 7 °C", '1 234 ... - - "a" <= 7 degC'),
        ("Pålsson, CO₂, ▲", "Palsson, CO2, \\u25b2"),
        ("na\udcfe.rsf", "na\\udcfe.rsf"),
        ("plain", "plain"),
    ],
)
def test_in_ascii(text, told):
    assert legible(text) == told
    assert text.encode("ascii", HANDLER).decode() == told


def test_only_what_an_encoding_lacks():
    assert "5 µs² ≥ 3 \udcfe".encode("latin-1", HANDLER) == "5 µs² >= 3 \\udcfe".encode("latin-1")
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", HANDLER)
    out.write("µ \udcfe")
    out.flush()
    assert out.buffer.getvalue() == b"\xc2\xb5 \\udcfe"
