#!/bin/sh
# Builds petsc4py into the environment of a Python, for the PETSc that PETSC_DIR and PETSC_ARCH name, else that of the
# system's package. It is no error where there is none: `fathometer reactive` then says how to get it. Exit code 1: a
# download failed.
# Usage: tools/petsc.sh PYTHON
set -u
cd "$(dirname "$0")/.."
python=$1
"$python" -c 'from petsc4py import PETSc' 2>/dev/null && exit 0
missing() { echo "· going on without petsc4py ($1); the tests of reactive flow are skipped" && exit "${2:-0}"; }

compiler=$("$python" tools/mpi.py compiler) || missing "no compiler of MPI"
petsc=${PETSC_DIR:-$(ls -d /usr/lib/petscdir/petsc*/*-real 2>/dev/null | tail -n 1)}
header=$(find -L "${petsc:-/nowhere}" -maxdepth 2 -name petscversion.h 2>/dev/null | head -n 1)
[ -n "$header" ] || missing "no PETSc on this machine"
number() { sed -n "s/^#define PETSC_VERSION_$1 *\([0-9]*\).*/\1/p" "$header"; }
version=$(number MAJOR).$(number MINOR).$(number SUBMINOR)

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }
cython='cython>=3'
case $version in 3.1[0-9].*) cython='cython<3' ;; esac # what that release was written for
echo "· building petsc4py $version (half a minute)"
# Build requirements lie apart: others of this environment want another Cython. Thin bindings: -O0 costs nothing.
pip install --target "$work/tools" "$cython" 'setuptools<74' wheel || missing "no download" 1
export PETSC_DIR="$petsc" PYTHONPATH="$work/tools" CC="$compiler" CFLAGS="-O0 -g0"
pip download --no-deps --no-build-isolation --no-binary=petsc4py --dest "$work" "petsc4py==$version" || missing "no download" 1
pip install --no-deps --no-build-isolation --no-cache-dir "$work"/petsc4py-*.tar.gz &&
    "$python" -c 'from petsc4py import PETSc' || missing "it could not be built"
exit 0
