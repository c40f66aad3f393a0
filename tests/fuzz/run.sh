#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets, each from its seeds, and reports the results.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    cat <<'TEXT'
run.sh [--runs N | --seconds N] [--seed N] PROGRAM...

Each for N runs or seconds (10 by default). An input that fails is left in
./fuzz_NAME-crash-*; give that file to the program to repeat it.
TEXT
}

limit=-max_total_time=10
seed=1
while [ $# -gt 0 ]; do
    case $1 in
    --runs) limit=-runs=$2 ;;
    --seconds) limit=-max_total_time=$2 ;;
    --seed) seed=$2 ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) break ;;
    esac
    shift 2
done
[ $# -gt 0 ] || { usage >&2; exit 64; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

write_seeds() { # name
    local line n=0

    mkdir "$dir/$1"
    while IFS= read -r line; do
        n=$((n + 1))
        printf "${line//%/%%}" >"$dir/$1/$(printf %03d "$n")"
    done < <(sed -n "s/^$1://p" "$here/seeds"
        # four sessions and a length stand before the names of a queue
        [ "$1" != roster ] || sed -n 's/^queue:/AAAAz/p' "$here/seeds")
}

# Names are short, and there are more of them to try.
declare -A max_len=([node_name]=96 [retry]=96 [lease]=176)

failed=0
printf '%-12s %12s %8s %10s %7s\n' target runs seconds runs/s edges
for program in "$@"; do
    name=${program##*/fuzz_}
    log=$dir/$name.log
    rc=0

    write_seeds "$name"
    "$program" "$limit" -seed="$seed" -max_len="${max_len[$name]:-512}" -timeout=20 \
        -dict="$here/dictionary" -artifact_prefix="fuzz_$name-" \
        -print_final_stats=1 "$dir/$name" >"$log" 2>&1 || rc=$?
    if [ "$rc" -ne 0 ]; then
        echo "$name FAILED:"
        grep -v 'REDUCE\|NEW' "$log" | head -n 40
        failed=1
        continue
    fi
    read -r runs seconds < <(
        sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 \2/p' "$log")
    edges=$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' "$log")
    printf '%-12s %12d %8d %10d %7s\n' "$name" "$runs" "$seconds" \
        $((runs / (seconds > 0 ? seconds : 1))) "${edges:--}"
done
exit "$failed"
