#!/bin/sh
# One program of interconnect.toml: sh interconnect.sh PROGRAM RANKS KERNELS SURVEY
# Both ways mpirun starts the ranks on the nodes of the cluster. Printed: the seconds of the loop; of the migration all
# but those of its start and of its picture, as its own account has them.
set -e
case "$1" in
    migration)
        fathometer migrate "$4" --ranks "$2" --threads 1 --quiet \
            --set acquisition.conditioning.shots.every=3 --set parallel.ranks_per_shot="$2" --set output.directory="$PWD/out"
        exec python3 -c '
import json
account = json.load(open("out/run.json"))["ledger"]
without = sum(row["seconds"]["mean"] for row in account["phases"] if row["phase"] in ("start-up", "draw"))
print("loop %.6f s" % (account["wall_seconds"]["mean"] - without))' ;;
    cg) set -- "$2" "$3" cg 96 150 ;;
    halo) set -- "$2" "$3" halo 192 300 ;;
    transpose) set -- "$2" "$3" transpose 96 30 ;;
    *) echo "interconnect.sh: unknown program $1" >&2; exit 2 ;;
esac
exec mpirun -n "$1" "$2" "$3" "$4" "$5"
