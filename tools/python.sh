#!/bin/sh
# Prints the first Python that is new enough; PYTHON=… in the environment is the only one asked.
set -eu
for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$python"
        exit
    fi
done
found=$("${PYTHON:-python3}" --version 2>&1) || found="no ${PYTHON:-python3}"
echo "make: found $found; Python 3.11 or newer is needed (name one with make PYTHON=…)" >&2
exit 1
