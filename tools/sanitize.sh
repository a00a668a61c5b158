#!/bin/sh
# tools/sanitize.sh address|thread [options of pytest]: runs tests with kernels that are built with a sanitizer, in a
# folder of their own; the usual build is not changed. A finding of the sanitizer ends the process, so the test fails.
set -eu
kind=$1
shift
python=$(pwd)/.venv/bin/python
folder=$(pwd)/build/sanitize-$kind
mkdir -p "$folder"

echo "· compiling the kernels with the $kind sanitizer"
rm -rf "$folder/installed"
"$python" -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation \
    --target "$folder/installed" --config-settings build-dir="$folder/build" \
    --config-settings cmake.define.FATHOMETER_SANITIZE="$kind" --config-settings install.strip=false .

case $kind in
address)
    libraries=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so)
    before= ;;
thread)
    libraries=$(g++ -print-file-name=libtsan.so)
    before="setarch -R" ;; # ThreadSanitizer needs the usual layout of memory, without randomisation
esac

# -S: otherwise the editable installation would be imported. Leaks are not reported: Python frees little at its end.
export FATHOMETER_VARIANT= FATHOMETER_FEW_RADII=1
packages=$("$python" -c 'import sysconfig as s; print(s.get_path("purelib"), s.get_path("platlib"), sep=":")')
export PYTHONPATH="$folder/installed:$packages"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:handle_segv=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:abort_on_error=1:ignore_noninstrumented_modules=1:report_signal_unsafe=0
exec env LD_PRELOAD="$libraries" $before "$python" -S -m pytest -q -p no:cacheprovider --capture=sys "$@"
