#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run an example against a real server of its own; its exit status decides.
#   examples.sh ZK_DEV PROGRAM
set -eu
zk_dev=$(realpath "$1")
program=$(realpath "$2")
java=$(command -v java || true)
[ -n "$java" ] && [ -e /usr/share/java/zookeeper.jar ] || exit 77

dir=$(mktemp -d "${TMPDIR:-/tmp}/zkrecipes-test-XXXXXX")
trap '"$zk_dev" down --dir "$dir/zk" >/dev/null 2>&1; rm -rf "$dir"' EXIT
"$zk_dev" up --dir "$dir/zk" >"$dir/out"
servers=$(sed -n 's/^ZK_SERVERS=//p' "$dir/out")
mkdir "$dir/cwd" # what a program writes goes with it
cd "$dir/cwd"
"$program" "$servers" /locks/example
"$program" "$servers" /locks/example >/dev/null
if "$program" 127.0.0.1:1/nope/ /locks/example 2>/dev/null; then
    echo "succeeds with a wrong address" >&2
    exit 1
fi
