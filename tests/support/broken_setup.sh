#!/usr/bin/env bash
# In a bare root: the set-ups of `make demo` and `make setup` are killed in the middle of every stage, and some find no
# network; with the same command given again each time, they end well. Prints a line for each, and the image's checksum.
set -u
stamps=.venv/stamps
work=$(mktemp -d)

running() { cat /proc/[0-9]*/comm 2>/dev/null | grep -qx "$1"; }
site() { ls -d .venv/lib/python*/site-packages/$1 >/dev/null 2>&1; }

# Starts `make $goal`, and kills it and all that it has started when a condition holds: broken NAME CONDITION…
broken() {
    local name=$1 make
    shift
    setsid make $goal >"$work/$name" 2>&1 &
    make=$!
    until "$@"; do
        kill -0 "$make" 2>/dev/null || { echo "$name: ended before it could be killed" && cat "$work/$name" && exit 1; }
        sleep 0.02
    done
    kill -KILL -- "-$make"
    wait "$make" 2>/dev/null
    echo "$name: killed"
}

unpacking() { running dpkg && [ -e /usr/bin/python3 ]; }
configuring() { running dpkg && [ -n "$(ls /var/lib/dpkg/info/openmpi-bin.list 2>/dev/null)" ]; }
half_venv() { [ -e .venv/bin/python ] && [ ! -e $stamps/venv ]; }
half_build_dependencies() { site cmake && [ ! -e $stamps/build-dependencies ]; }
half_dependencies() { site scipy && [ ! -e $stamps/dependencies ]; }
settling() { [ -e $stamps/dependencies ] && [ ! -e $stamps/mpi ]; }
compiling() { [ -e $stamps/mpi ] && [ ! -e build/wheel/stamp ] && running cc1plus; }
installing() { [ -e build/wheel/stamp ] && site 'fathometer*' && [ ! -e $stamps/build ]; }
half_removed() { running rm && [ -e $stamps/making ] && [ ! -e $stamps/venv ]; }
half_test_packages() { running dpkg && [ -e $stamps/packages ] && [ ! -e $stamps/test-packages ]; }
half_dev_dependencies() { site pytest && [ ! -e $stamps/dev-dependencies ]; }
half_h5py() { running h5py.sh && running cc1 && [ ! -e $stamps/h5py ]; }
half_petsc() { running petsc.sh && running cc1 && [ ! -e $stamps/petsc ]; }

without_network() {
    unshare --net make $goal >"$work/network" 2>&1 && echo "it ended well without a network" && exit 1
    echo "$1, without a network: $(grep -E '^make: |^ERROR' "$work/network" | head -n 1)"
}

# Runs `make $goal` to its end; prints the lines of the set-up.
whole() {
    make $goal >"$work/last" 2>&1 || { cat "$work/last" && exit 1; }
    grep '^· ' "$work/last"
}

goal="demo ARGS=--quick"
rm -rf /var/lib/apt/lists/*
without_network "apt, no lists"
broken "apt unpacks" unpacking
broken "apt configures" configuring
broken "venv" half_venv
without_network "pip"
broken "pip, of the build" half_build_dependencies
broken "pip, of the program" half_dependencies
broken "MPI" settling
broken "compiler" compiling
broken "installation" installing
whole
apt-get -qq -y remove openmpi-bin libopenmpi-dev >/dev/null 2>&1
rm -rf demo
whole
goal=setup
broken "apt, for the tests" half_test_packages
mkdir "$(echo .venv/lib/python*/site-packages)/~omething" # as a killed pip leaves it: .venv is made anew
broken "removal of .venv" half_removed
broken "pip, for the tests" half_dev_dependencies
broken "h5py" half_h5py
broken "petsc4py" half_petsc
whole
goal="demo ARGS=--quick"
rm -rf demo
whole
sha256sum demo/image/image.rsf@
