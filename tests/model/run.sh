#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Check the model of the mutex exhaustively, and that what is left out of it on
# purpose is found to be wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    cat <<'TEXT'
run.sh [--faults N]

  --faults N  how many of the five faults happen in one run of the recipe, each
              once (2); what is left out is found with two
TEXT
}

faults=()
optimize=-O2 # two faults are a long search
while [ $# -gt 0 ]; do
    case $1 in
    --faults)
        faults=("-DFAULTS=$2")
        [ "$2" -gt 1 ] || optimize=-O0 # the compiler would take longer than the search
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 64
        ;;
    esac
    shift 2
done
command -v spin >/dev/null || exit 77

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

explore() { # options of the compiler, options of pan, options of spin...
    local cc=$1 pan=$2
    shift 2

    spin "$@" -a "$here/lock.pml" >spin.log || { cat spin.log; exit 1; }
    # shellcheck disable=SC2086 # words
    ${CC:-gcc} $optimize -w -DCOLLAPSE -DMEMLIM=8000 $cc -o pan pan.c
    # shellcheck disable=SC2086
    ./pan $pan -m10000 >pan.log
}

report() { # name, how many errors there should be
    local errors states found

    errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log)
    states=$(awk '/states, stored/ { print $1 }' pan.log)
    found=$(sed -n 's/^pan:1: \(.*\) (at .*/found: \1/p' pan.log)
    if [ "$errors" = "$2" ] && ! grep -q 'error: max search depth' pan.log &&
        { [ "$2" = 1 ] || ! grep -q 'not completed' pan.log; }; then
        printf '%-12s %9s states  %s\n' "$1" "$states" "$found"
    else
        echo "$1: FAILED, $errors errors where there should be $2"
        cat pan.log
        failed=1
    fi
}

explore -DSAFETY '' "${faults[@]}"
report 'the recipe' 0
explore -DNP -l -DCLIENTS=2 # every run comes to an end
report 'no cycle' 0
for left_out in NO_SYNC NO_SEARCH ADOPT_ANY NO_RELIST WATCH_FIRST NO_SWEEP; do
    explore -DSAFETY '' "-D$left_out"
    report "$left_out" 1
done
exit "$failed"
