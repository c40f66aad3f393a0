#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the page of the benchmark can be written: does each figure that its
# text names exist in tools/bench/table.py?
#
#   benchmark.sh SOURCE_ROOT
set -eu

cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo '{"benches": {}}' >"$tmp/results.json"
tools/bench/zkr-bench report "$tmp/results.json" "$tmp"
if grep -n '@[{@]' "$tmp/benchmarks.md"; then
    echo 'the page has words that were not replaced'
    exit 1
fi
