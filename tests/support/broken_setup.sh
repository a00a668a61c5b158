#!/usr/bin/env bash
# In a bare root: the set-up of `make demo` is killed in the middle of every stage, and once it finds no network; given
# again each time, the command ends well. Prints a line for each, and the image's checksum.
set -u
stamps=.venv/stamps
work=$(mktemp -d)

running() { cat /proc/[0-9]*/comm 2>/dev/null | grep -qx "$1"; }
site() { ls -d .venv/lib/python*/site-packages/$1 >/dev/null 2>&1; }

# Starts the command, and kills it and all that it has started when a condition holds: broken NAME CONDITION…
broken() {
    local name=$1 make
    shift
    setsid make demo ARGS=--quick >"$work/$name" 2>&1 &
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
compiling() { [ -e $stamps/mpi ] && [ ! -e $stamps/kernels ] && running cc1plus; }
installing() { [ -e $stamps/kernels ] && site 'fathometer*' && [ ! -e $stamps/build ]; }

without_network() {
    unshare --net make demo ARGS=--quick >"$work/network" 2>&1 && echo "it ended well without a network" && exit 1
    echo "without a network: $(grep -E '^make: |^ERROR' "$work/network" | head -n 1)"
}

broken "apt unpacks" unpacking
broken "apt configures" configuring
broken "venv" half_venv
without_network
broken "pip, of the build" half_build_dependencies
broken "pip, of the program" half_dependencies
broken "MPI" settling
broken "compiler" compiling
broken "installation" installing
make demo ARGS=--quick >"$work/last" 2>&1 || { cat "$work/last" && exit 1; }
grep '^· ' "$work/last"
apt-get -qq -y remove openmpi-bin libopenmpi-dev >/dev/null 2>&1
rm -rf demo
make demo ARGS=--quick >"$work/removed" 2>&1 || { cat "$work/removed" && exit 1; }
grep '^· ' "$work/removed"
sha256sum demo/image/image.rsf@
