#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each test which docs/interop.md names exists, and that it names
# each test.
#   docs.sh DOCUMENT SOURCE...
set -eu
document=$1
shift

# A test is TEST(name), TEST_ROWS(name), or a row { "name", ... of those whose
# rows are tests. Names of tests have four words at least.
tests=$(sed -nE -e 's/^TEST(_[A-Z]+)?\(([a-z]+(_[a-z]+){3,})[,)].*/\2/p' \
    -e 's/^    \{ "([a-z]+(_[a-z]+){3,})",.*/\1/p' "$@" | sort -u)
named=$(grep -Eo '`[a-z]+(_[a-z]+){3,}`' "$document" | tr -d '`' |
    grep -v '^zkr_' | sort -u)
status=0
for name in $named; do
    echo "$tests" | grep -qx "$name" ||
        { echo "no such test: $name" >&2 && status=1; }
done
for name in $tests; do
    echo "$named" | grep -qx "$name" ||
        { echo "not in $document: $name" >&2 && status=1; }
done
exit $status
