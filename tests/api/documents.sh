#!/bin/sh
# Checks the documents: is each source file that one names in the tree, and does
# each link lead to a file?
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
exit $failed
