#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs examples, some at a time, against one real server; the exit status of each
# decides.
#   examples.sh ZK_DEV PROGRAM...
set -eu
zk_dev=$(realpath "$1")
shift
command -v java >/dev/null && [ -e /usr/share/java/zookeeper.jar ] || exit 77

dir=$(mktemp -d "${TMPDIR:-/tmp}/zkrecipes-test-XXXXXX")
trap '"$zk_dev" down --dir "$dir/zk" >/dev/null 2>&1; rm -rf "$dir"' EXIT
"$zk_dev" up --dir "$dir/zk" >"$dir/out"
servers=$(sed -n 's/^ZK_SERVERS=//p' "$dir/out")

cat >"$dir/each" <<'END'
set -eu
dir=$1 servers=$2 program=$3 name=${3##*/}
mkdir "$dir/$name" # what a program writes goes with it
cd "$dir/$name"
fail() {
    cat "$dir/$name.log"
    echo "$name: $1"
    exit 1
}
"$program" "$servers" "/locks/$name" >"$dir/$name.log" 2>&1 || fail 'fails'
"$program" "$servers" "/locks/$name" >>"$dir/$name.log" 2>&1 || fail 'fails the second time'
! "$program" 127.0.0.1:1/nope/ "/locks/$name" >/dev/null 2>&1 ||
    fail 'succeeds with a wrong address'
echo "$name: passed"
END
for program in "$@"; do
    realpath "$program"
done >"$dir/programs"
xargs -P 4 -I '{}' sh "$dir/each" "$dir" "$servers" '{}' <"$dir/programs"
