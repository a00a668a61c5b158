#!/bin/sh
# Builds h5py against the parallel HDF5 of the MPI that tools/mpi.py chooses, where that is installed, into the
# environment of a Python. Exit code 1: a download failed; 0 otherwise, also where nothing could be built.
# Usage: tools/h5py.sh PYTHON
set -u
cd "$(dirname "$0")/.."
python=$1
H5PY=h5py==3.14.0 # can be built against HDF5 1.10

gone_without() { echo "· going on without parallel HDF5 (its tests are skipped)"; }

compiler=$("$python" tools/mpi.py compiler) && flavour=$("$python" tools/mpi.py flavour) &&
    hdf5=$(ls -d /usr/lib/*/hdf5/"$flavour" 2>/dev/null | head -n 1) && [ -n "$hdf5" ] ||
    { echo "· no parallel HDF5 on this machine: HDF5 is written by one rank" && exit; }
"$python" -c 'import h5py, sys; sys.exit(not h5py.get_config().mpi)' 2>/dev/null && exit
. tools/bindings.sh
echo "· building h5py against parallel HDF5 (a minute or two)"
install 'cython>=3,<4' pkgconfig 'setuptools>=77,<81'
printf '[build_ext]\nparallel = 2\n' >"$work/build.cfg"
# Optimising these bindings would take longer than it could ever save.
export HDF5_MPI=ON CC="$compiler" HDF5_DIR="$hdf5" CFLAGS="-O0 -g0" DIST_EXTRA_CONFIG="$work/build.cfg"
install --no-deps --no-build-isolation --no-cache-dir --force-reinstall --no-binary=h5py "$H5PY"
