#!/bin/sh
# Installs what the optional formats of volumes, and queries of studies, need into the environment of a Python, and builds h5py against the
# system's parallel HDF5 where that is there. It is no error where something cannot be had.
# Usage: tools/formats.sh PYTHON
set -u
cd "$(dirname "$0")/.."
python=$1
H5PY=h5py==3.14.0 # builds against HDF5 1.10

pip() { "$python" -m pip --disable-pip-version-check --quiet "$@"; }

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
"$python" tools/requirements.py formats >"$work/requirements.txt"
"$python" tools/requirements.py query >>"$work/requirements.txt"
pip install -r "$work/requirements.txt" || echo "· going on without some formats (their tests are skipped)"

hdf5=$(mpicc -show >/dev/null 2>&1 && ls -d /usr/lib/*/hdf5/openmpi 2>/dev/null | head -n 1)
[ -n "$hdf5" ] || { echo "· no parallel HDF5 on this machine: HDF5 is written by one rank" && exit 0; }
"$python" -c 'import h5py, sys; sys.exit(not h5py.get_config().mpi)' 2>/dev/null && exit 0
echo "· building h5py against parallel HDF5 (a minute or two)"
printf '[build_ext]\nparallel = 2\n' >"$work/build.cfg"
# Thin bindings: what the compiler would take for optimising them, no volume would ever give back.
export HDF5_MPI=ON CC=mpicc HDF5_DIR="$hdf5" CFLAGS="-O0 -g0" DIST_EXTRA_CONFIG="$work/build.cfg"
pip install 'cython>=3,<4' pkgconfig 'setuptools>=77,<81' &&
    pip install --no-deps --no-build-isolation --no-binary=h5py --no-cache-dir --force-reinstall "$H5PY" ||
    echo "· going on without parallel HDF5 (its tests are skipped)"
exit 0
