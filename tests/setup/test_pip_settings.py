"""tools/pip_settings.py: the settings of the caller's pip, for a bare root."""

import os
import subprocess
import sys
from configparser import RawConfigParser

from paths import ROOT

FILE = """
[global]
index-url = https://example.org/simple
cache-dir = /var/cache/pip
require-virtualenv = true
[install]
user = true
prefix = /usr/local
pre = true
"""


def test_settings_that_have_a_meaning_in_the_root(tmp_path):
    certificates = tmp_path / "of a company" / "all.pem"
    certificates.parent.mkdir()
    certificates.touch()
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "pip.conf").write_text(FILE, encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environ |= {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}
    environ |= {"PIP_CERT": str(certificates), "PIP_EXTRA_INDEX_URL": f"file://{tmp_path}/pip/simple"}
    environ |= {"PIP_LOG": "/var/log/pip", "PIP_TARGET": "/srv/packages", "PIP_CACHE_DIR": "/var/cache/pip"}
    written = tmp_path / "written"
    words = [sys.executable, ROOT / "tools/pip_settings.py", written]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
    assert {str(certificates), str(tmp_path / "pip")} <= set(done.stdout.splitlines())
    settings = RawConfigParser()
    settings.read(written)
    kept = {"index-url": "https://example.org/simple", "extra-index-url": f"file://{tmp_path}/pip/simple"}
    assert kept.items() <= dict(settings.items("global")).items()
    assert not {"log", "target", "cache-dir", "require-virtualenv"} & set(settings.options("global"))
    assert settings.options("install") == ["pre"]
