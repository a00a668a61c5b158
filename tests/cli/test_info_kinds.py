"""`fathometer info` names every kind of file that it can read, in its help and where it cannot read one."""

import pytest
from cli_support import here

from fathometer.cli.commands.info import DESCRIPTION, KINDS
from fathometer.seismic.survey.time_migration import PICKS_SUFFIXES
from fathometer.storage.index import INDEX_SUFFIX
from fathometer.storage.traces.detect import SU_SUFFIX
from fathometer.storage.volumes.registry import BY_SUFFIX

READ = {*BY_SUFFIX, SU_SUFFIX, INDEX_SUFFIX, *PICKS_SUFFIXES}


def test_all_kinds_are_named(tmp_path):
    named = {suffix.partition(":")[0] for _, suffixes in KINDS for suffix in suffixes.split()}
    assert named == READ
    (tmp_path / "notes.xyz").write_text("hello")
    told = here("info", tmp_path / "notes.xyz").err
    for kind, suffixes in KINDS:
        assert f"{kind} {suffixes}" in told
        assert suffixes in DESCRIPTION


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("survey.toml", "it is an input file; `fathometer plan`"),
        ("run.json", "`fathometer report` makes the page"),
        ("image.png", "it is a picture"),
        ("vp.bin", "vp.rsf: n1=… n2=…"),
        ("vp.segyy", "did you mean .segy?"),
    ],
)
def test_what_to_do_with_others(tmp_path, name, told):
    (tmp_path / name).write_text("0")
    done = here("info", tmp_path / name)
    assert done.code == 2
    assert told in done.err
