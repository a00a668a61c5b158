# Read by h5py.sh and petsc.sh, which set $python and define gone_without: a function that prints what is left out.

# A folder in the checkout: pip puts tools there that are loaded, and /tmp may be mounted so that this is not possible.
mkdir -p build
work=$(mktemp -d "$PWD/build/bindings.XXXXXX") && trap 'rm -rf "$work"' EXIT

# Installs packages with pip, given its options. Where that fails, the script ends: with exit code 0 where a package was
# downloaded and could not be built, which would fail again the next time, and else with 1.
install() {
    "$python" -m pip --disable-pip-version-check --quiet install "$@" 2>"$work/errors" && return
    cat "$work/errors" >&2
    gone_without
    grep -q subprocess-exited-with-error "$work/errors" # what pip calls the failure of a build
    exit
}
