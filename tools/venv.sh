#!/bin/sh
# Makes .venv, and makes it anew where it belongs to another Python, folder or MPI, or where an installation into it was
# interrupted; prints the reason. Which Python, folder and MPI it belongs to is kept in .venv/stamps/venv, a line each;
# what the system has of MPI now in .venv/stamps/system.
set -eu
cd "$(dirname "$0")/.."
stamps=.venv/stamps
python=$(tools/python.sh)
# Where this Python is that of a virtual environment, which may be .venv itself: the one that it was made with.
base=$("$python" -c 'import sys; print(sys._base_executable)')
version() { "$1" -c 'import sys; print(*sys.version_info[:2], sep=".")' 2>/dev/null || true; }
was() { sed -n "s/^$1: //p" $stamps/venv; }

found=$("$base" tools/mpi.py system)
mpi=$(printf '%s' "$found" | head -n 1)
folder=$(pwd -P)
broken=$(for package in .venv/lib/python*/site-packages/*.dist-info; do
    [ ! -e "$package/METADATA" ] || [ -e "$package/RECORD" ] || echo "$package" # pip writes RECORD last
done; ls -d .venv/lib/python*/site-packages/~* 2>/dev/null || true) # pip renames what it replaces to ~…

reason=
if [ -e $stamps/venv ]; then
    if [ -z "$(version .venv/bin/python)" ]; then reason="its Python does not run any more"
    elif [ "$(version .venv/bin/python)" != "$(was python)" ]; then reason="it was made with Python $(was python)"
    elif [ -n "${PYTHON:-}" ] && [ "$(version "$base")" != "$(was python)" ]; then
        reason="PYTHON is $PYTHON, another version"
    elif [ "$folder" != "$(was folder)" ]; then reason="it was made in another folder"
    elif [ "$mpi" != "$(was mpi)" ]; then reason="the system's MPI is another one than it was made for"
    elif [ -n "$broken" ]; then reason="an installation was broken off"
    fi
    [ -n "$reason" ] || made=yes
fi

if [ -z "${made:-}" ]; then
    if [ -e .venv/pyvenv.cfg ] && [ ! -e $stamps/venv ] && [ ! -e $stamps/making ]; then
        echo "make: .venv was not made here; move it away, or remove it (make distclean)" >&2
        exit 1
    fi
    touch $stamps/making # marks that .venv is made by this script, as long as $stamps/venv does not
    [ ! -e .venv/bin ] || echo "· making .venv anew${reason:+: $reason}"
    case $reason in
        "" | "an installation was broken off") ;;
        *) rm -rf build/editable ;; # compiled for the former Python, folder or MPI
    esac
    # The stamps first: after an interruption nothing may seem finished.
    rm -f $stamps/venv
    find $stamps -type f ! -name '*packages' ! -name lock ! -name making -delete
    find .venv -mindepth 1 -maxdepth 1 ! -name stamps -exec rm -rf {} +
    echo "· creating .venv with $("$base" --version) (some seconds)"
    "$base" -m venv .venv
    printf '%s\n' "python: $(version "$base")" "folder: $folder" "mpi: $mpi" >$stamps/venv.new
    mv $stamps/venv.new $stamps/venv
    rm $stamps/making
fi
printf '%s\n' "$found" >$stamps/system
