#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that a test with a table of functions has every function of the public
# headers whose declaration matches, but those named, which need a word there.
#
#   tables.sh HEADER_DIR TEST PATTERN BUT...
set -eu

headers=$1
test=$2
pattern=$3
shift 3

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

printf '%s\n' "$@" >"$tmp/but"
cat "$headers"/*.h | tr '\n' ' ' | grep -oE 'ZKR_(API|CALL|SHORT) [^;{]*[;{]' |
    grep -- "$pattern" | grep -o 'zkr_[a-z_]*(' | tr -d '(' |
    grep -vxf "$tmp/but" | LC_ALL=C sort >"$tmp/have"
sed -n 's/^ *ROW(\([a-z_]*\)[,)].*/\1/p' "$test" | LC_ALL=C sort >"$tmp/tested"

if ! grep -q '^zkr_mutex_acquire' "$tmp/have" ||
    ! LC_ALL=C diff "$tmp/have" "$tmp/tested"; then
    echo "$test has not the functions that have '$pattern'"
    exit 1
fi
