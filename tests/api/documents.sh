#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the documents: is each source file that one names in the tree, does each
# link lead to a file and to a heading in it, and is each page there that a source
# names? And are the times of the guide those of the benchmarks?
#
#   documents.sh SOURCE_ROOT
set -eu

cd "$1"
failed=0
files=$(find ./src ./recipes ./include ./tests ./tools ./examples -type f)

wrong() {
    echo "$*"
    failed=1
}

# The anchors of a page, as forges make them from its headings.
anchors() {
    grep -E '^#+ ' "$1" | sed 's/^#* //' | tr '[:upper:]' '[:lower:]' |
        sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

for page in *.md docs/*.md; do
    # `file.c`, or the end of a path: `room/file.c`
    for name in $(grep -oE '`[a-z_/]+\.[ch]`' "$page" | tr -d '`' | sort -u); do
        echo "$files" | grep -q "/$name\$" ||
            wrong "$page names $name, which is not there"
    done
    for link in $(grep -oE '\]\([^) ]+' "$page" | sed 's/^](//' | sort -u); do
        case $link in
        http*) continue ;;
        '#'*) to=$page ;;
        *) to=$(dirname "$page")/${link%%#*} ;;
        esac
        [ -e "$to" ] || wrong "$page links to $link, which is not there"
        case $link in
        *'#'*) anchors "$to" | grep -qxF -e "${link#*#}" ||
            wrong "$page links to $link: no such heading" ;;
        esac
    done
done
for page in $(grep -rhoE --exclude-dir=docs '(^|[^/a-zA-Z\\-])(docs/)?[a-zA-Z-]+\.md\b' \
    include src recipes tools tests examples debian docs/man .ci |
    grep -oE '(docs/)?[a-zA-Z][a-zA-Z-]*\.md' | sort -u); do
    [ -e "$page" ] || [ -e "docs/$page" ] || wrong "a source names $page, which is not there"
done
# "| 160 µs | 176 |" ends a row of the guide, and [0.172 µs] is a link.
for figure in $(grep -oE '[0-9.]+ µs( \| [0-9.]+ \|$)?' docs/guide.md |
    grep -oE '[0-9]+(\.[0-9]+)?'); do
    grep -qE "(^|[| ])$figure( µs| \|)" docs/benchmarks.md ||
        wrong "docs/guide.md has $figure, which docs/benchmarks.md has not"
done
exit $failed
