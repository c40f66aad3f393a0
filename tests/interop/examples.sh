#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The three programs of examples/interop on one lock, each twice.
#   examples.sh ZK_DEV C-PROGRAM PYTHON EXAMPLES
# with the jars of Curator in CLASSPATH
set -eu
zk_dev=$1
c_program=$2
python=$3
examples=$4
[ -n "$CLASSPATH" ] && [ -n "$python" ] || exit 77
CLASSPATH=${ZKR_CURATOR_CLASS_PATH:+$ZKR_CURATOR_CLASS_PATH:}$CLASSPATH

dir=$(mktemp -d "${TMPDIR:-/tmp}/zkrecipes-test-XXXXXX")
trap '"$zk_dev" down --dir "$dir/zk" >/dev/null 2>&1; rm -rf "$dir"' EXIT
"$zk_dev" up --dir "$dir/zk" >"$dir/out"
servers=$(sed -n 's/^ZK_SERVERS=//p' "$dir/out")

loop() { # program with its arguments
    for _ in 1 2; do
        "$@" "$servers" /locks/orders || return 1
    done
}

loop "$c_program" & c=$!
loop java -Xmx64m -XX:-UsePerfData "$examples/OrdersLock.java" & java=$!
loop "$python" -B "$examples/orders_lock.py" & python=$!
status=0
for job in $c $java $python; do
    wait "$job" || status=1
done
exit $status
