"""Writes the settings of this caller's pip as one file, and prints the files and folders of this machine that they
name, a line each.

Usage: python tools/pip_settings.py FILE
"""

import configparser
import os
import sys
from pathlib import Path

home = Path.home()
settings = configparser.RawConfigParser()
site = [Path(folder) / "pip" for folder in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
own = [home / ".pip", Path(os.environ.get("XDG_CONFIG_HOME", home / ".config")) / "pip"]
files = [folder / "pip.conf" for folder in [*site, Path("/etc"), *own]]
settings.read([*files, os.environ.get("PIP_CONFIG_FILE", os.devnull)], encoding="utf-8")  # the later, the stronger
if not settings.has_section("global"):
    settings.add_section("global")
for name, value in os.environ.items():
    if name.startswith("PIP_") and name not in ("PIP_CONFIG_FILE", "PIP_CACHE_DIR"):
        settings.set("global", name.removeprefix("PIP_").lower().replace("_", "-"), value)

with open(sys.argv[1], "w", encoding="utf-8") as file:
    settings.write(file)
paths = set()
for section in settings.sections():
    for name, value in settings.items(section):
        found = [word.removeprefix("file://") for word in value.split()]
        # The files of an index lie beside its pages.
        paths |= {os.path.dirname(path.rstrip("/")) if name.endswith("index-url") else path for path in found}
print("\n".join(sorted(path for path in paths if path.startswith("/") and os.path.exists(path))))
