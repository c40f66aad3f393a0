#!/bin/sh
# Checks that the test of outputs has every function with one.
#
#   outputs.sh HEADER_DIR TEST
set -eu

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# zkr_fence_new() fails for lack of memory only.
cat "$1"/*.h | tr '\n' ' ' | grep -o 'ZKR_API [^;]*;' | grep '[* ]ret_' |
    grep -v 'ret_counters' | grep -o 'zkr_[a-z_]*(' | tr -d '(' |
    grep -vx zkr_fence_new | LC_ALL=C sort >"$tmp/have"
sed -n 's/^ *ROW(\([a-z_]*\),.*/\1/p' "$2" | LC_ALL=C sort >"$tmp/tested"

if ! grep -qx zkr_mutex_acquire "$tmp/have" ||
    ! LC_ALL=C diff "$tmp/have" "$tmp/tested"; then
    echo "not the functions with an output"
    exit 1
fi
