#!/bin/sh
# Installs the system packages of a list (packages.txt) whose service is missing, or says exactly what to install.
# With --optional it is no error where that cannot be done.
# Usage: tools/packages.sh [--optional] [LIST]
set -eu
cd "$(dirname "$0")/.."
optional=
[ "${1:-}" != --optional ] || { optional=yes && shift; }
list=${1:-packages.txt}
python=$(tools/python.sh 2>/dev/null) || python=python3

# Whether this machine has what the package named $1 is for, wherever it came from.
provided() {
    case $1 in
        python3) command -v "$python" ;;
        python3-venv) "$python" -c 'import ensurepip, venv' ;;
        python3-dev) "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ;;
        g++) command -v "${CXX:-c++}" ;;
        openmpi-bin) command -v mpirun ;;
        libopenmpi-dev) command -v mpicxx ;;
        mpich) command -v mpirun.mpich ;;
        chromium) command -v chromium ;;
        chromium-driver) command -v chromedriver ;;
        slurm-wlm) command -v sbatch && PATH=$PATH:/usr/sbin command -v slurmctld && PATH=$PATH:/usr/sbin command -v slurmd ;;
        munge) PATH=$PATH:/usr/sbin command -v munged ;;
        libopm-simulators-bin) command -v flow ;;
        ncbi-blast+) command -v blastp && command -v makeblastdb ;;
        netpipe-openmpi) command -v NPopenmpi ;;
        lammps) command -v lmp ;;
        hpcc) command -v hpcc ;;
        hdf5-tools) command -v h5dump ;;
        netcdf-bin) command -v ncdump ;;
        *) dpkg -s "$1" ;; # whatever is added to a list without a line here
    esac >/dev/null 2>&1
}

# The packages of the list that are missing. A Python with a version in its name has packages with it too.
missing() {
    sed 's/#.*//' "$list" | while read -r package; do
        [ -z "$package" ] || provided "$package" || case $package in
            python3*) printf '%s ' "$(basename "$python")${package#python3}" ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

names=$(missing)
if [ -n "$names" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "· installing system packages: $names"
    # A failure shows itself below, where what is still missing is named.
    # shellcheck disable=SC2086
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $names; } \
        >/dev/null || true
    names=$(missing)
fi

if [ -n "$optional" ]; then
    [ -z "$names" ] || echo "· going on without $names(what needs them is left out)"
    exit 0
fi

needed=$(printf '%s' "$names" | sed 's/openmpi-bin //')
if [ -n "$needed" ]; then
    echo "make: missing system packages; install them with: sudo apt-get install $names" >&2
    exit 1
fi
