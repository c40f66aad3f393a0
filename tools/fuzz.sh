#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build the fuzz targets with clang, libFuzzer and sanitizers, and run them.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
tools/fuzz.sh [--runs N | --seconds N] [--seed N] [TARGET]...

Each target, or those that are named, for N runs or seconds (10 by default):
node_name, queue, roster, path, hosts, lease, retry, escape, owner, record.
The build goes to build-fuzz/. A file fuzz_NAME-crash-* is what broke a promise:
build-fuzz/tests/fuzz/fuzz_NAME FILE repeats it.
TEXT
}

options=()
targets=()
while [ $# -gt 0 ]; do
    case $1 in
    --runs | --seconds | --seed)
        [ $# -ge 2 ] || { usage >&2; exit 64; }
        options+=("$1" "$2")
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    -*)
        usage >&2
        exit 64
        ;;
    *) targets+=("$1") ;;
    esac
    shift
done
[ ${#targets[@]} -gt 0 ] || targets=(node_name queue roster path hosts lease
    retry escape owner record)

[ -e build-fuzz/build.ninja ] || CC=clang CXX=clang++ meson setup build-fuzz \
    -Dtests=enabled -Db_lundef=false -Doptimization=2 >/dev/null
programs=("${targets[@]/#/tests/fuzz/fuzz_}")
ninja -C build-fuzz "${programs[@]}" >/dev/null
tests/fuzz/run.sh "${options[@]}" "${programs[@]/#/build-fuzz/}"
