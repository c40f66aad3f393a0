#!/bin/sh
# Checks that the library has its static probe, and, where bpftrace may attach to
# it, that the one-liners of docs/using.md tell what a program does.
#
#   probes.sh LIBRARY DOCUMENT ZK_DEV EXAMPLE
set -eu

library=$(realpath "$1")
document=$(realpath "$2")
zk_dev=$(realpath "$3")
example=$(realpath "$4")

if ! readelf -n "$library" | grep -A1 'Provider: zkrecipes' |
    grep -q 'Name: state'; then
    echo "$library has no probe zkrecipes:state"
    exit 1
fi
if ! bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
    echo 'bpftrace may not attach here; the probe itself is there'
    exit 0
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/zkrecipes-test-XXXXXX")
trap '"$zk_dev" down --dir "$dir/zk" >/dev/null 2>&1; rm -rf "$dir"' EXIT
"$zk_dev" up --dir "$dir/zk" >"$dir/out"
servers=$(sed -n 's/^ZK_SERVERS=//p' "$dir/out")

# try N PATTERN: the n-th one-liner of the document, and what it must print
try() {
    sed -n "s/^bpftrace -e '\(.*\)'$/\1/p" "$document" | sed -n "$1p" |
        sed "s|LIBRARY|$library|g" >"$dir/program.bt"
    grep -q zkrecipes "$dir/program.bt" || {
        echo "docs/using.md has no one-liner number $1"
        exit 1
    }
    printf '%s\n' 'BEGIN { printf("attached\n"); }' >>"$dir/program.bt"
    bpftrace -B none "$dir/program.bt" >"$dir/traced" 2>&1 &
    tracer=$!
    until grep -q '^attached' "$dir/traced" || ! kill -0 "$tracer"; do
        sleep 0.05
    done
    "$example" "$servers" /locks/probed >/dev/null
    ! kill -INT "$tracer" || wait "$tracer" || :
    grep -q "$2" "$dir/traced" || {
        cat "$dir/traced"
        echo "the one-liner number $1 does not print '$2'"
        exit 1
    }
}

try 1 'claim /locks/probed: PROVING\|claim /locks/probed: .* -> HELD'
try 2 '@wait_us'
try 3 '@changes\[grant, /locks/probed'
