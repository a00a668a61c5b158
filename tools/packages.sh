#!/bin/sh
# Installs the system packages of packages.txt whose service is missing, or says exactly what to install.
set -eu
cd "$(dirname "$0")/.."
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
        *) dpkg -s "$1" ;; # whatever is added to packages.txt without a line here
    esac >/dev/null 2>&1
}

# The packages of packages.txt that are missing. A Python with a version in its name has packages with it too.
missing() {
    sed 's/#.*//' packages.txt | while read -r package; do
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

needed=$(printf '%s' "$names" | sed 's/openmpi-bin //')
if [ -n "$needed" ]; then
    echo "make: missing system packages; install them with: sudo apt-get install $names" >&2
    exit 1
fi
