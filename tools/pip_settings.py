"""For tools/bare.sh: writes the settings of the caller's pip into one file, and prints the files and folders of this
machine that they name, a line each. Settings about the caller's own folders and environments are left out.

Usage: python tools/pip_settings.py FILE
"""

import configparser
import os
import sys
from pathlib import Path

LEFT_OUT = ("cache-dir", "log", "prefix", "require-virtualenv", "root", "target", "user")

home = Path.home()
settings = configparser.RawConfigParser()
site = [Path(folder) / "pip" for folder in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
own = [home / ".pip", Path(os.environ.get("XDG_CONFIG_HOME", home / ".config")) / "pip"]
files = [folder / "pip.conf" for folder in [*site, Path("/etc"), *own]]
settings.read([*files, os.environ.get("PIP_CONFIG_FILE", os.devnull)], encoding="utf-8")  # the last one decides
if not settings.has_section("global"):
    settings.add_section("global")
for name, value in os.environ.items():
    if name.startswith("PIP_") and name != "PIP_CONFIG_FILE":
        settings.set("global", name.removeprefix("PIP_").lower().replace("_", "-"), value)

paths = set()
for section in settings.sections():
    for name, value in settings.items(section):
        if name.removeprefix("--").replace("_", "-") in LEFT_OUT:
            settings.remove_option(section, name)
            continue
        found = [word.removeprefix("file://") for word in (value, *value.split())]
        # The files of an index lie beside its pages.
        paths |= {os.path.dirname(path.rstrip("/")) if name.endswith("index-url") else path for path in found}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    settings.write(file)
print("\n".join(sorted(path for path in paths if path.startswith("/") and os.path.exists(path))))
