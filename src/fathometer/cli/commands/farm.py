"""`fathometer farm`: tasks, done by workers on nodes."""

from __future__ import annotations

from fathometer.cli.restartable_command import RestartableCommand

DESCRIPTION = """\
Do many tasks: sequences of a FASTA file through BLAST+ or another program, a command over the lines of a file
or over a grid of parameters, or built-in tasks of known length. Each rank is a node, with workers of its own
and a writer that gathers results into one compressed file. A task that fails is tried again, then set aside;
workers may die; what is not finished is done by --resume, each task once."""

EXAMPLES = """\
  fathometer farm --demo
  fathometer farm farm.toml
  fathometer farm farm.toml --ranks 2 --set output.compression=none
  fathometer farm farm.toml --resume --retry-failed
  fathometer farm extract out/ --task 17           one result out of the files
  fathometer farm extract out/ -o all.xml          all of them, as one document"""


COMMAND = RestartableCommand(
    "farm",
    "farm",
    "output.flush=10",
    resuming=(
        ("resume", "go on with the tasks that have no result yet"),
        ("retry_failed", "as --resume, and once more those tasks that were set aside"),
    ),
).command("many tasks, such as searches by BLAST+, by workers on nodes", DESCRIPTION, EXAMPLES)
