#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that docs/mutants.md lists the patches in tests/mutants as they are,
# and that each of them applies to the tree.
#
#   mutants_list.sh SOURCE_ROOT
set -eu

cd "$1"
command -v patch >/dev/null || { echo 'there is no patch(1)'; exit 77; }
failed=0

if ! tests/mutants/run.sh --list | diff docs/mutants.md -; then
    echo 'docs/mutants.md is not what the patches say; to renew it:' \
        'tests/mutants/run.sh --list >docs/mutants.md'
    failed=1
fi
for p in tests/mutants/*/*.patch; do
    patch -p1 -F0 --dry-run --silent --force <"$p" ||
        { echo "does not apply: $p" && failed=1; }
done
exit $failed
