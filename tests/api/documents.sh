#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the documents: is each source file that one names in the tree, and does
# each link lead to a file? And are the times of the guide those of the benchmarks?
#
#   documents.sh SOURCE_ROOT
set -eu

cd "$1"
failed=0
files=$(find ./src ./recipes ./include ./tests ./tools ./examples -type f)

for page in *.md docs/*.md; do
    # `file.c`, or the end of a path: `room/file.c`
    for name in $(grep -oE '`[a-z_/]+\.[ch]`' "$page" | tr -d '`' | sort -u); do
        echo "$files" | grep -q "/$name\$" ||
            { echo "$page names $name, which is not there" && failed=1; }
    done
    for link in $(grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | sort -u); do
        case $link in
        http*) continue ;;
        esac
        [ -e "$(dirname "$page")/$link" ] ||
            { echo "$page links to $link, which is not there" && failed=1; }
    done
done
# "| 160 µs | 176 |" ends a row of the guide, and [0.172 µs] is a link.
for figure in $(grep -oE '[0-9.]+ µs( \| [0-9.]+ \|$)?' docs/guide.md |
    grep -oE '[0-9]+(\.[0-9]+)?'); do
    grep -qE "(^|[| ])$figure( µs| \|)" docs/benchmarks.md ||
        { echo "docs/guide.md has $figure, which docs/benchmarks.md has not" && failed=1; }
done
exit $failed
