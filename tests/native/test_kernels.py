"""How the kernels' files hang together."""

import re

import pytest
from paths import ROOT

NATIVE = ROOT / "src/fathometer/native"
PHYSICS = sorted(path.name for path in NATIVE.iterdir() if path.is_dir() and path.name != "core")


@pytest.mark.parametrize("room", ["core", *PHYSICS])
def test_rooms_include_themselves_and_core(room):
    """What no equation has for itself knows none of them, and no physics knows another."""
    sources = [path for path in (NATIVE / room).rglob("*") if path.suffix in (".cpp", ".hpp", ".cu")]
    assert sources
    for path in sources:
        for name in re.findall(r'#include "(.*)"', path.read_text()):
            beside = (path.parent / name).is_file()
            beside = beside or name.endswith(".inc")  # made by the room's generate.py
            assert beside or (name.startswith("core/") and (NATIVE / name).is_file()), f"{path} includes {name}"
            assert ".." not in name
