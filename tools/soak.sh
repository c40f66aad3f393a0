#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build the soak and run it, for 20 minutes or for a given time.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
tools/soak.sh [--seconds N] [--seed N] [--fault NAME] [--keep DIR]

  --seconds N   how long, at least each fault once (1200)
  --seed N      the order of the faults, and their lengths
  --fault NAME  this one only, such as 'leader killed'
  --keep DIR    journals and logs go there; it must not exist

See docs/reliability.md. The build goes to build-soak/.
TEXT
}

export ZKR_SOAK_SECONDS=1200
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    esac
    [ $# -ge 2 ] || { usage >&2; exit 64; }
    case $1 in
    --seconds) ZKR_SOAK_SECONDS=$2 ;;
    --seed) export ZKR_SEED=$2 ;;
    --fault) export ZKR_FAULT=$2 ;;
    --keep) export ZKR_SOAK_KEEP=$2 ;;
    *)
        usage >&2
        exit 64
        ;;
    esac
    shift 2
done

[ -e build-soak/build.ninja ] ||
    meson setup build-soak -Dtests=enabled >/dev/null
programs=(soak soak_client libsoak_clock.so)
ninja -C build-soak "${programs[@]/#/tests/fault/soak/}" >/dev/null
exec build-soak/tests/fault/soak/soak
