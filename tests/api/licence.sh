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
    -exec awk 'FNR == 1 { missing[FILENAME] }
        FNR <= 2 && /SPDX-License-Identifier: Apache-2.0/ { delete missing[FILENAME] }
        END { for (file in missing) print file }' {} +)
[ -z "$missing" ] || {
    echo "no SPDX line in: $missing" >&2
    exit 1
}
