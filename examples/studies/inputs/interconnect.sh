#!/bin/sh
# One program of interconnect.toml: sh interconnect.sh PROGRAM RANKS KERNELS SURVEY
# Both ways mpirun starts the ranks on the nodes of the cluster.
case "$1" in
    migration)
        exec fathometer migrate "$4" --ranks "$2" --threads 1 --quiet \
            --set acquisition.conditioning.shots.every=3 --set parallel.ranks_per_shot="$2" --set output.directory="$PWD/out" ;;
    cg) set -- "$2" "$3" cg 96 150 ;;
    halo) set -- "$2" "$3" halo 192 300 ;;
    transpose) set -- "$2" "$3" transpose 96 30 ;;
    *) echo "interconnect.sh: unknown program $1" >&2; exit 2 ;;
esac
exec mpirun -n "$1" "$2" "$3" "$4" "$5"
