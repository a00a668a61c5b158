"""Removals of folders: random ones with links, marks and foreign files, and removals that are killed.

New seeds each time, printed.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fathometer.base.errors import FathometerError
from fathometer.base.removal import Mark, remove_tree

pytestmark = pytest.mark.trials
MARK = Mark("made.json", b'{"made": ')
TREES, KILLS = 300, 20
REMOVES = """
import sys
from pathlib import Path
from fathometer.base.removal import Mark, remove_tree
remove_tree(Path(sys.argv[1]), Path(sys.argv[1]).parent, Mark("made.json", b'{"made": '))
"""


def tree(folder, chance, links, depth=0):
    """A random folder, with links to others."""
    folder.mkdir()
    for number in range(chance.randrange(4)):
        path = folder / f"entry-{number}"
        kind = chance.choice(["file", "folder", "link", "mark", "empty"])
        if kind == "folder" and depth < 3:
            tree(path, chance, links, depth + 1)
        elif kind == "link":
            path.symlink_to(chance.choice(links))
        elif kind == "empty":
            path.mkdir()
        elif kind == "mark":
            content = chance.choice([MARK.begins + b"1}", b"", b'{"other": 1}', None])
            if content is None:
                (folder / MARK.name).unlink(missing_ok=True)
                (folder / MARK.name).symlink_to(chance.choice(links))
            elif not (folder / MARK.name).is_symlink():
                (folder / MARK.name).write_bytes(content)
        else:
            path.write_text("data")


def state(folder):
    """All below a folder: files with their contents, links with their targets."""
    found = {}
    for here, folders, files in os.walk(folder):
        for path in (Path(here, name) for name in (*folders, *files)):
            found[path] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def marked(folder):
    path = folder / MARK.name
    return not path.is_symlink() and path.is_file() and path.read_bytes().startswith(MARK.begins)


def test_only_what_is_marked_and_lies_in_the_root_goes(tmp_path):
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    chance, removed = random.Random(seed), 0
    for number in range(TREES):
        world = tmp_path / str(number)
        world.mkdir()
        links = [world / "beside", world / "root", Path("nowhere"), world / "root" / "entry-0", Path("..")]
        for name in ("root", "beside"):
            tree(world / name, chance, links)
        folders = [Path(here) for here, _, _ in os.walk(world / "root", followlinks=False)]
        root, place = chance.choice([*folders, world / "beside"]), chance.choice(folders)
        before = state(world)
        between = [one for one in (place, *place.parents) if one == root or root in one.parents]
        allowed = root in place.parents and (any(map(marked, between)) or not any(place.iterdir()))
        try:
            remove_tree(place, root, MARK)
        except FathometerError:
            assert not allowed, (seed, number, place, root)
            assert state(world) == before
        else:
            removed += 1
            assert allowed, (seed, number, place, root)
            gone = {path for path in before if path == place or place in path.parents}
            assert state(world) == {path: content for path, content in before.items() if path not in gone}
    assert removed > TREES / 50


def test_a_removal_that_is_killed_is_taken_up_again(tmp_path):
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    chance, halves = random.Random(seed), 0
    for number in range(KILLS):
        own = tmp_path / str(number) / "own"
        own.mkdir(parents=True)
        (own / MARK.name).write_bytes(MARK.begins + b"1}")
        for one in range(20):
            (own / f"a{one}").mkdir()
            for other in range(50):
                (own / f"a{one}" / f"{other}").touch()
        process = subprocess.Popen([sys.executable, "-c", REMOVES, own])
        last = own / f"a{chance.randrange(20)}" / f"{chance.randrange(50)}"
        while last.exists() and process.poll() is None:
            pass
        process.kill()
        process.wait()
        if own.exists():
            halves += 0 < len(list(own.glob("*/*"))) < 1000
            assert MARK.on(own) or not any(own.iterdir()), (seed, number)
        remove_tree(own, own.parent, MARK)
        assert not own.exists()
    assert halves
    print(f"{halves} of {KILLS} were killed in the middle")
