#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measure the locks beside those of others, and renew the figures of docs/benchmarks.md.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh

packages=(gcc meson ninja-build pkg-config libzookeeper-mt-dev libjansson-dev
    libncurses-dev libmicrohttpd-dev zlib1g-dev zookeeper default-jdk-headless
    libcurator-recipes-java python3 python3-kazoo gnuplot-nox redis-server
    libhiredis-dev mariadb-server libmariadb-dev memcached etcd-server iproute2)
readonly build=build-bench

usage() {
    cat <<'TEXT'
tools/bench.sh [--nodes N] [--quick | --smoke] [--variant TEXT]
               [--faults] [--list] [NAME]...

Builds the library as a release, starts servers on this machine, and runs the
sub-benchmarks of these names (without a name: all). Writes all results to
build-bench/results.json and as tables to build-bench/tables.md, and renews
the figures and drawings of docs/benchmarks.md. What does not run keeps its
results. Nothing else should run on the machine.

  --nodes N        only what runs on N servers: 1 or 3
  --quick          fewer rounds: to try something, not to quote it
  --smoke          a few cycles of everything, whatever they take; results and
                   report go to a directory that is removed
  --faults         only the trials of faults, which count where the locks of
                   "rivals" have two holders, lose a lock, or hang
  --variant TEXT   only variants with TEXT in their names
  --list           print the names, and run nothing
TEXT
}

die() {
    echo "bench.sh: $2" >&2
    exit "$1"
}

build_peers() {
    local how=(--buildtype=release -Dwerror=true)

    # The packages of the rivals may be newer than a build that was there.
    [ ! -e "$build/build.ninja" ] || how=(--reconfigure)
    meson setup "$build" "${how[@]}" >"$work/log" 2>&1 &&
        ninja -C "$build" bench-peers >>"$work/log" 2>&1 ||
        { cat "$work/log" >&2; die 70 "the build failed"; }
}

# In memory, where there is some.
make_work_directory() {
    local where=${TMPDIR:-/tmp}

    [ ! -w /dev/shm ] || where=/dev/shm
    work=$(mktemp -d "$where/zkr-bench.XXXXXX")
}

run=()
smoke=false
while [ $# -gt 0 ]; do
    case $1 in
    --nodes | --variant)
        [ $# -ge 2 ] || die 64 "$1 needs a value"
        run+=("$1" "$2")
        shift
        ;;
    --quick | --faults) run+=("$1") ;;
    --smoke)
        run+=(--smoke)
        smoke=true
        ;;
    --list) exec tools/bench/zkr-bench list ;;
    -h | --help)
        usage
        exit 0
        ;;
    -*) die 64 "unknown option '$1'; see --help" ;;
    *) run+=("$1") ;;
    esac
    shift
done

make_work_directory
trap 'rm -rf -- "$work"' EXIT
install_packages "$work/log" "${packages[@]}"
build_peers
# A smoke changes no page and no results.
out=docs
kept=$build
if $smoke; then
    out=$work/docs
    kept=$work
    mkdir "$out"
    cp docs/benchmarks.md "$out"
fi
results=$kept/results.json
status=0
tools/bench/zkr-bench run --build "$build" --work "$work/servers" \
    --out "$results" "${run[@]}" || status=$?
[ "$status" -eq 0 ] || tail -n 30 "$work/servers/peers.log" >&2
if [ -e "$results" ]; then
    tools/bench/zkr-bench report "$results" "$out" || status=1
    tools/bench/zkr-bench tables "$results" >"$kept/tables.md" || status=1
fi
exit "$status"
