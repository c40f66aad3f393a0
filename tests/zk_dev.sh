#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that zk-dev ends a session: the lock that is held through it is lost.
#   zk_dev.sh ZK_DEV ZK_LOCKCTL
set -eu
zk_dev=$(realpath "$1")
lockctl=$(realpath "$2")
command -v java >/dev/null && [ -e /usr/share/java/zookeeper.jar ] || exit 77

dir=$(mktemp -d "${TMPDIR:-/tmp}/zkrecipes-test-XXXXXX")
trap '"$zk_dev" down --dir "$dir/zk" >/dev/null 2>&1; rm -rf "$dir"' EXIT
failed=0

complain() {
    echo "$1" >&2
    failed=1
}

expire() { "$zk_dev" expire "$1" --dir "$dir/zk"; }

# Holds the lock until it is lost, and writes the id of its session.
hold() {
    # shellcheck disable=SC2016 # for the inner shell
    "$lockctl" --servers "$servers" run orders -- \
        sh -c 'echo "$ZKLOCK_SESSION" >"$1".new && mv "$1".new "$1" &&
            exec sleep 600' sh "$dir/session" 2>"$dir/log"
}

for nodes in 1 3; do
    "$zk_dev" up --nodes "$nodes" --dir "$dir/zk" >"$dir/out"
    servers=$(sed -n 's/^ZK_SERVERS=//p' "$dir/out")
    rm -f "$dir/session"
    hold &
    holder=$!
    while [ ! -e "$dir/session" ] && kill -0 "$holder" 2>/dev/null; do
        sleep 0.05
    done
    expire "$(cat "$dir/session")" || complain 'the session goes on'
    status=0
    wait "$holder" || status=$?
    [ "$status" -eq 79 ] || complain "the holder ends with $status: $(cat "$dir/log")"
    grep -q 'LOCK LOST' "$dir/log" ||
        complain "the holder says: $(cat "$dir/log")"
    status=0
    expire "$(cat "$dir/session")" 2>/dev/null || status=$?
    [ "$status" -eq 1 ] || complain "a session that has ended: $status"
    "$zk_dev" down --dir "$dir/zk"
done

status=0
expire 0x 2>/dev/null || status=$?
[ "$status" -eq 64 ] || complain "no id: $status"
exit "$failed"
