"""Compiles the kernels and writes the wheel of an editable installation, as pip would ask for it.

Usage: python tools/editable.py FOLDER
"""

import subprocess
import sys

# What the compiler and CMake say is shown only where they fail.
done = subprocess.run(
    [
        sys.executable,
        "-c",
        "import sys; from scikit_build_core.build import build_editable; build_editable(sys.argv[1])",
        sys.argv[1],
    ],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    errors="replace",
    check=False,
)
if done.returncode:
    sys.stderr.write(done.stdout)
    sys.exit("make: the kernels could not be compiled (above)")
