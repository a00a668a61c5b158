#!/bin/sh
# Prints the first Python that is new enough; where PYTHON is set in the environment, no other is tried. That of an
# active virtual environment, which the Makefile takes off PATH, comes last.
set -eu
for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 "${VIRTUAL_ENV:-/nowhere}/bin/python3"}; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$python"
        exit
    fi
done
found=$("${PYTHON:-python3}" --version 2>&1) || found="no ${PYTHON:-python3}"
echo "make: found $found; Python 3.11 or newer is needed (name one with make PYTHON=…)" >&2
exit 1
