#!/bin/sh
# Builds the kernels for graphics cards beside those of the processors, where the program looks for them.
# Usage: tools/cuda.sh PYTHON ARCHITECTURES
set -eu
cd "$(dirname "$0")/.."

nvcc=$(command -v nvcc || true)
for folder in "${CUDA_HOME:-/nowhere}" /usr/local/cuda; do
    [ -n "$nvcc" ] || [ ! -x "$folder/bin/nvcc" ] || nvcc=$folder/bin/nvcc
done
if [ -z "$nvcc" ]; then
    echo "make cuda: found no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda; needed: CUDA 12 or 13 (of NVIDIA's" \
        "packages cuda-nvcc and cuda-cudart-dev are enough)" >&2
    exit 1
fi
heartbeat=$("$1" -c 'from fathometer.base.host import built_library; print(built_library("heartbeat") or "")')
library=$(dirname "$heartbeat")/libcard.so
set -- --no-print-directory -f tools/cuda.mk NVCC="$nvcc" ARCHITECTURES="$2" LIBRARY="$library"
if ! make -q "$@" 2>/dev/null; then
    echo "· compiling the kernels for graphics cards (some minutes)"
    make --jobs="$(nproc)" "$@"
fi
