#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be run each night: the versions that docs/interop.md names (servers, Curator,
# kazoo, the client and the compiler), other machines, the tarball. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() { # command that says so in its last line
    local p=0 f=1

    echo "== $*"
    "$@" 2>&1 | tee "$log"
    if tail -n 1 "$log" | grep -Eq '^[0-9]+ passed, [0-9]+ failed$'; then
        read -r p _ f _ < <(tail -n 1 "$log")
    fi
    echo "== $*: $p passed, $f failed"
    passed=$((passed + p))
    failed=$((failed + f))
}

with_servers=(--suite integration --suite harness --suite cli --suite interop
    --suite fault --suite examples)
for debian in 12 13 sid; do
    run tools/test.sh --servers "$debian" --peers "$debian" "${with_servers[@]}"
done
# Tests a mix of versions, as during an upgrade.
run tools/test.sh --servers 12 --peers sid --suite interop
run tools/test.sh --servers sid --peers 12 --suite interop
run tools/on-debian.sh 13
run tools/on-debian.sh 13 --clang
# Other machines, and the tarball of a release on new ones.
run tools/on-debian.sh 13 tools/cross.sh arm64
run tools/on-debian.sh 13 tools/cross.sh i386
run tools/on-debian.sh 12 tools/cross.sh musl
run tools/on-debian.sh 12 tools/release.sh
run tools/on-debian.sh 13 tools/release.sh
# What CI leaves out, or has in small (docs/tests.md).
run env CI=true ZKR_SOAK_SECONDS=0 ZKR_TRIALS=16 tools/test.sh --no-suite integration
tools/bench.sh --smoke && passed=$((passed + 1)) || failed=$((failed + 1))
# All that CI divides between three builds.
run tools/test.sh --asan
run tools/test.sh --tsan
# A client with TLS and SASL.
run tools/test.sh --tls
run tools/test.sh --sasl

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
