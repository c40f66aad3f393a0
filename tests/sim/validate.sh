#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The simulated ensemble answers as a real server does.
#   validate.sh SIMULATED REAL
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$2" >"$dir/real" || exit
for seed in {1..20}; do
    SIM_SEED=$seed "$1" >"$dir/sim"
    if ! diff -u "$dir/real" "$dir/sim" >"$dir/difference"; then
        echo "a real server (-) and the simulated one (+), seed $seed:"
        cat "$dir/difference"
        exit 1
    fi
done
echo "$(grep -c : "$dir/real") answers agree"
