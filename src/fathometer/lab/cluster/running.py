"""A command on a cluster: this process becomes it, so that exit code, signals and terminal are its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.meant import did_you_mean
from fathometer.base.own_program import with_own_program
from fathometer.lab.cluster.launching import entered, mpirun_words, ranks_of_nodes
from fathometer.lab.cluster.making import require_outside
from fathometer.lab.cluster.marks import marks_of
from fathometer.lab.cluster.namespaces import show_folders
from fathometer.lab.cluster.scripts import environment
from fathometer.lab.cluster.slurm import as_slurm_user
from fathometer.lab.cluster.state import Cluster, existing
from fathometer.launch.mpirun import find_mpirun


@dataclass(frozen=True)
class Request:
    """What is to be run.

    Attributes:
        words: the command. node: on which it, or its mpirun, runs. ranks: None: no mpirun.
        ranks_per_node, placement: of the ranks. folders: of the host that the nodes are to see.
    """

    words: Sequence[str]
    node: str = "node1"
    ranks: int | None = None
    ranks_per_node: int | None = None
    placement: str | None = None
    folders: Sequence[Path] = ()


def become(name: str, request: Request, say: Callable[[str], None]) -> NoReturn:
    """Run a command on a cluster in place of this process. Raises InputError where it cannot be run."""
    require_outside()
    cluster = existing(name)
    words, environ = prepared(cluster, request)
    for mark in marks_of(cluster, request.ranks) if request.ranks else []:
        say(f"note: {mark}")
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(words[0], words, environ)
    except OSError as error:
        raise FathometerError(f"{words[0]}: cannot be run: {error.strerror}") from None


def prepared(cluster: Cluster, request: Request) -> tuple[list[str], dict[str, str]]:
    """The words and the environment of the command; its folders are shown in the nodes. Raises InputError."""
    if not request.words:
        raise InputError("cluster run: found no command; allowed: -- and its words")
    if request.node not in [node.name for node in cluster.nodes]:
        nodes = [node.name for node in cluster.nodes]
        meant = did_you_mean(request.node, nodes)
        raise InputError(f'node: found "{request.node}"; allowed: {", ".join(nodes)}{meant}')
    if request.ranks is None:
        for name in ("ranks_per_node", "placement"):
            if getattr(request, name) is not None:
                raise InputError(f"--{name.replace('_', '-')}: found without --ranks; allowed: with it")
    program = with_own_program(request.words)
    where = shutil.which(program[0])
    show_folders(cluster, [*request.folders, *([Path(where).resolve().parent] if where is not None else [])])
    environ = environment(cluster, os.environ)
    _require_program(cluster, request.node, program[0], environ)
    if request.ranks is None and cluster.spec.slurm:
        program = [*as_slurm_user(cluster), *program]
    elif request.ranks is not None:
        mpirun = find_mpirun(sys.prefix, environ["PATH"])
        slots = ranks_of_nodes(len(cluster.nodes), request.ranks, request.ranks_per_node)
        program = [*mpirun_words(mpirun, request.ranks, slots, request.placement or "block"), *program]
    return entered(cluster.folder, request.node, program), environ


def _require_program(cluster: Cluster, node: str, program: str, environ: dict[str, str]) -> None:
    """Raises InputError where a node has no such program."""
    words = entered(cluster.folder, node, ["sh", "-c", 'command -v "$1"', "sh", program])
    done = subprocess.run(words, env=environ, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise InputError(
            f"{program}: no such program on {node}; allowed: one on PATH, or a path that the nodes see (--share DIR "
            "shows a folder of /tmp or /run)"
        )
