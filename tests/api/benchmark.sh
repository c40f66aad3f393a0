#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the page of the benchmark: are the figures that must be reached those of
# tools/bench/table.py, and does each mark in the page name something there?
#
#   benchmark.sh SOURCE_ROOT
set -eu

. "$(dirname "$0")/begin.sh"
cd "$1"
# Without results a report keeps what the page has; what it has to add was not there.
echo '{"benches": {}}' >"$tmp/results.json"
cp docs/benchmarks.md "$tmp"
tools/bench/zkr-bench report "$tmp/results.json" "$tmp"
diff docs/benchmarks.md "$tmp/benchmarks.md"
tools/bench/zkr-bench tables "$tmp/results.json" >"$tmp/tables.md"
