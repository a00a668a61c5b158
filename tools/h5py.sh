#!/bin/sh
# Builds h5py against the parallel HDF5 of the MPI that tools/mpi.py finds, where that is there, into the environment of a
# Python. Exit code 1: a download failed.
# Usage: tools/h5py.sh PYTHON
set -u
cd "$(dirname "$0")/.."
python=$1
H5PY=h5py==3.14.0 # builds against HDF5 1.10

pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
going_on() { echo "· going on without parallel HDF5 (its tests are skipped)" && exit "$1"; }
compiler=$("$python" tools/mpi.py compiler) && flavour=$("$python" tools/mpi.py flavour) &&
    hdf5=$(ls -d /usr/lib/*/hdf5/"$flavour" 2>/dev/null | head -n 1) && [ -n "$hdf5" ] ||
    { echo "· no parallel HDF5 on this machine: HDF5 is written by one rank" && exit; }
"$python" -c 'import h5py, sys; sys.exit(not h5py.get_config().mpi)' 2>/dev/null && exit
echo "· building h5py against parallel HDF5 (a minute or two)"
printf '[build_ext]\nparallel = 2\n' >"$work/build.cfg"
pip install 'cython>=3,<4' pkgconfig 'setuptools>=77,<81' || going_on 1
pip download --no-deps --no-build-isolation --no-binary=h5py --dest "$work" "$H5PY" || going_on 1
# Thin bindings: what the compiler would take for optimising them, no volume would ever give back.
export HDF5_MPI=ON CC="$compiler" HDF5_DIR="$hdf5" CFLAGS="-O0 -g0" DIST_EXTRA_CONFIG="$work/build.cfg"
pip install --no-deps --no-build-isolation --no-cache-dir --force-reinstall "$work"/h5py-*.tar.gz || going_on 0
