#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that each source names its licence in its first lines.
#
#   licence.sh SOURCE_ROOT
set -eu

cd "$1"
missing=$(find include src recipes tools tests examples docs debian .ci \
    \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.java' -o -name '*.py' \
    -o -name '*.sh' -o -name run -o -name rules -o -name zk-dev \) -type f \
    -exec sh -c 'for f do head -n 2 "$f" |
        grep -q "SPDX-License-Identifier: Apache-2.0" || echo "$f"; done' sh {} +)
[ -z "$missing" ] || {
    echo "no SPDX line in: $missing" >&2
    exit 1
}
