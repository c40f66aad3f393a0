#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the library has its static probe, and that bpftrace, where there is
# one, understands the one-liners of docs/guide.md.
#
#   probes.sh LIBRARY DOCUMENT
set -eu

library=$(realpath "$1")
document=$(realpath "$2")

if ! readelf -n "$library" | grep -A1 'Provider: zkrecipes' |
    grep -q 'Name: state'; then
    echo "$library has no probe zkrecipes:state"
    exit 1
fi
if ! command -v bpftrace >/dev/null; then
    echo 'there is no bpftrace; the probe itself is there'
    exit 77
fi

# Each one-liner of the document is compiled, with the arguments of the probe;
# nothing is attached, which takes rights that a machine of tests may not have.
. "$(dirname "$0")/begin.sh"
sed -n "s/^bpftrace -e '\(.*\)'$/\1/p" "$document" |
    sed "s|LIBRARY|$library|g" >"$tmp/all"
count=0
while IFS= read -r program; do
    printf '%s\n' "$program" >"$tmp/program.bt"
    if ! timeout 60 bpftrace --emit-elf "$tmp/elf" "$tmp/program.bt" \
        >"$tmp/log" 2>&1 || ! [ -s "$tmp/elf" ]; then
        cat "$tmp/log"
        echo "bpftrace does not take: $program"
        exit 1
    fi
    count=$((count + 1))
done <"$tmp/all"
[ "$count" -eq 3 ] || {
    echo "docs/guide.md has $count one-liners for bpftrace, not 3"
    exit 1
}
