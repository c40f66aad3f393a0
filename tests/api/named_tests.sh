#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each test that a document names exists.
#   named_tests.sh TESTS DOCUMENT...
set -eu
root=$1
shift

# TEST(name), STORY(name), a function, or a row { "name", ...
tests=$(find "$root" -name '*.c' -exec grep -hoE \
    -e '^((TEST|STORY)(_[A-Z]+)?\(|static void )?[a-z0-9_]+[(,)]' \
    -e '^ +\{ "[a-z0-9_]+"' {} + |
    sed -E 's/^((TEST|STORY)(_[A-Z]+)?\(|static void | +\{ ")//; s/[(,)"]$//' | sort -u)
# Names of tests have four words at least, and stand outside of backticks.
named=$(sed 's/`[^`]*`//g' "$@" |
    grep -Eo '[a-z0-9]+(_[a-z0-9]+){3,}' | sort -u)
missing=$(echo "$named" | grep -vxF "$tests" || :)
[ -z "$missing" ] || printf 'no such test: %s\n' $missing >&2
[ -n "$named" ] && [ -z "$missing" ]
