#!/bin/sh
# Builds petsc4py into the environment of a Python, for the PETSc that PETSC_DIR and PETSC_ARCH name, else for that of
# the system's package. Where there is none, `fathometer reactive` says how to get it. Exit code 1: a download failed; 0
# otherwise, also where nothing could be built.
# Usage: tools/petsc.sh PYTHON
set -u
cd "$(dirname "$0")/.."
python=$1
"$python" -c 'from petsc4py import PETSc' 2>/dev/null && exit

gone_without() { echo "· going on without petsc4py (${1:-not installed}); the tests of reactive flow are skipped"; }

compiler=$("$python" tools/mpi.py compiler) || { gone_without "no compiler of MPI" && exit; }
petsc=${PETSC_DIR:-$(ls -d /usr/lib/petscdir/petsc*/*-real 2>/dev/null | tail -n 1)}
header=$(find -L "${petsc:-/nowhere}" -maxdepth 2 -name petscversion.h 2>/dev/null | head -n 1)
[ -n "$header" ] || { gone_without "no PETSc on this machine" && exit; }
number() { sed -n "s/^#define PETSC_VERSION_$1 *\([0-9]*\).*/\1/p" "$header"; }
version=$(number MAJOR).$(number MINOR).$(number SUBMINOR)

. tools/bindings.sh
echo "· building petsc4py $version (half a minute)"
cython='cython>=3'
case $version in 3.1[0-9].*) cython='cython<3' ;; esac # these releases cannot be built with a newer one
# In a folder of their own, since other packages of this environment need another Cython.
install --target "$work/tools" "$cython" 'setuptools<74' wheel
# Optimising these bindings would take longer than it could ever save.
export PETSC_DIR="$petsc" PYTHONPATH="$work/tools" CC="$compiler" CFLAGS="-O0 -g0"
install --no-deps --no-build-isolation --no-cache-dir --no-binary=petsc4py "petsc4py==$version"
"$python" -c 'from petsc4py import PETSc' || gone_without "it cannot be loaded"
