#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the shared library exports what the map lists and the headers
# declare, and no name that the official lock recipe of ZooKeeper uses; and that
# the header for C++ has all of it.
#
#   symbols.sh LIBRARY MAP HEADER_DIR
set -eu

library=$1
map=$2
headers=$3

. "$(dirname "$0")/begin.sh"

# The name of the version itself is an absolute symbol, A.
nm -D --defined-only "$library" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort >"$tmp/exported"

awk '/global:/ { on = 1; next } /local:/ { on = 0 } on && /;/ {
    gsub(/[ \t;]/, ""); print }' "$map" | LC_ALL=C sort >"$tmp/mapped"

# A mark, a type, the name, and the parenthesis of its parameters.
cat "$headers"/*.h | grep -v '^#' | tr '\n' ' ' |
    grep -oE 'ZKR_(API|CALL) [^;(]*\(' | sed 's/ *($//; s/.*[ *]//' |
    LC_ALL=C sort >"$tmp/declared"

# compare FILE WHAT: with what is exported
compare() {
    LC_ALL=C comm -23 "$tmp/exported" "$tmp/$1" >"$tmp/extra"
    LC_ALL=C comm -13 "$tmp/exported" "$tmp/$1" >"$tmp/missing"
    sed "s/$/: exported, but not $2/" "$tmp/extra"
    sed "s/$/: $2, but not exported/" "$tmp/missing"
    [ ! -s "$tmp/extra" ] && [ ! -s "$tmp/missing" ] || failed=1
}

grep -qx zkr_version "$tmp/exported" || complain 'zkr_version is not exported'
compare mapped 'in the map'
compare declared 'in a header'

! grep -v '^zkr_[a-z]' "$tmp/exported" ||
    complain '... exported, but not of the form zkr_name'
# libzookeeper_recipes has functions of these names, and its own header would
# send a user's call to the wrong one.
! grep -E '^zkr_(lock|queue)_' "$tmp/exported" ||
    complain '... are names of the official recipes'

# The header for C++ calls each function, but:
cat >"$tmp/apart" <<'END'
zkr_grants_free             the destructor of each grant does it
zkr_version                 has nothing to add
zkr_session_.*_async        session::post() is told which one
END
cut -d ' ' -f 1 "$tmp/apart" | grep -vxf - "$tmp/exported" >"$tmp/wanted"
sed 's,//.*,,; s,/\*.*,,; s,^ \* .*,,' "$headers"/*.hpp |
    grep -oE 'zkr_[a-z_]+' | LC_ALL=C sort -u >"$tmp/used"
if LC_ALL=C comm -23 "$tmp/wanted" "$tmp/used" | grep .; then
    complain '... is not in zkrecipes.hpp, and no exception of this test'
fi

exit $failed
