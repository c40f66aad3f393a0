#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the manual pages: does each exported symbol have one, does zkrecipes(7)
# name each that is made from a header, and do man and mandoc take them?
#
#   man.sh DIRECTORY MAP PAGE...: the pages of section 3, the symbols, the others
set -eu

directory=$1
map=$2
shift 2
overview=${1%/*}/zkrecipes.7
command -v man >/dev/null || exit 77
. "$(dirname "$0")/begin.sh"

for symbol in $(grep -oE 'zkr_[a-z_]+;' "$map" | tr -d ';'); do
    [ -e "$directory/$symbol.3" ] || complain "$symbol has no page"
done
for page in $(grep -L '^\.so' "$directory"/*.3) "$@"; do
    name=$(basename "$page" .3)
    case $page in
    *.3) grep -qE "[\" ]$name\"? \(3\)" "$overview" ||
        complain "$overview does not name $name(3)" ;;
    esac
    said=$(LC_ALL=C.UTF-8 MANWIDTH=80 man -E UTF-8 --warnings -l "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || complain "$said"
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page" || failed=1
    fi
done
[ $failed -ne 0 ] || command -v mandoc >/dev/null || exit 77
exit $failed
