#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build with warnings as errors and run the tests; installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh

packages=(build-essential cmake meson ninja-build pkg-config libzookeeper-mt-dev
    libjansson-dev libncurses-dev libmicrohttpd-dev
    zlib1g-dev libcmocka-dev
    zookeeper default-jdk-headless libcurator-recipes-java python3-kazoo iproute2
    jq tmux less procps patch)
# What single tests need: CI installs it, except with CI=lean, for a build that does not
# run these tests; elsewhere such a test is skipped, by name.
extra=(abigail-tools bpftrace debhelper doxygen fish libevent-dev libuv1-dev
    lintian man-db mandoc spin systemtap-sdt-dev zsh)
[ "${CI:-lean}" = lean ] || packages+=("${extra[@]}")

usage() {
    cat <<'TEXT'
tools/test.sh [--asan | --tsan | --valgrind] [--clang] [--no-debug] [--long]
              [--servers DEBIAN] [--peers DEBIAN] [--tls | --sasl] [--smoke]
              [--suite NAME]... [--no-suite NAME]... [--build]

  --asan           with AddressSanitizer and UndefinedBehaviorSanitizer
  --tsan           with ThreadSanitizer
  --valgrind       under valgrind (slow)
  --long           tests of chance go on for long: 1000 runs of deadlocks on a
                   busy system, 5 minutes of hostile names and data, 500 times
                   TERM, 2000 turns of each fleet of C, Java and Python,
                   each allocation of the client instead of one in five, 500
                   scripts of hostile answers instead of 48 (with --tls),
                   all of the table of faults, not a third, or, under a
                   sanitizer, a sixth
  --clang          build with clang instead of gcc
  --no-debug       a build without debugging information
  --servers NAME   with the servers of that Debian: 12, 13, sid
  --peers NAME     with its Curator and kazoo (tools/versions.sh)
  --tls, --sasl    the integration tests over TLS, or with SASL, with a client
                   that has them (tools/build-client.sh, in build-client/)
  --smoke          with --tls or --sasl: a handful of tests, of both
  --suite NAME     only this suite: unit, api, cli, fuzz, integration,
                   interop, fault, model, sim, mutants, examples,
                   harness, linking; once, asan: those of cli and interop that CI
                   runs without a sanitizer, or under ASan only; first, second, third:
                   those of integration that it divides; night: what it leaves
                   to tools/matrix.sh
  --no-suite NAME  all but this
  --build          build what these tests need, and run none; without a suite,
                   everything

The build goes to build-test*/, the full log is meson-logs/testlog.txt there.
The last line is "N passed, N failed". With CI set in the environment, a test
that is skipped has failed, and the packages that single tests need (spin, zsh,
doxygen, ...) are installed, too; without, such a test is named as skipped.
TEXT
}

die() {
    echo "test.sh: $2" >&2
    exit "$1"
}

clang_of_this_debian() {
    case $(. /etc/os-release && echo "${VERSION_ID-}") in
    12) echo 14 ;;
    *) echo 19 ;;
    esac
}

build_client() {
    [ -z "$(find tools/client tools/build-client.sh \
        -newer build-client/lib/libzookeeper_mt.a 2>&1)" ] ||
        tools/build-client.sh "$PWD/build-client"
}

build_tests() {
    # 250 programs: ld.gold links them in three fifths of the time, where it is.
    [ -e "$build/build.ninja" ] || CC_LD=$linker CXX_LD=$linker \
        meson setup "$build" "${setup[@]}" >"$log" 2>&1 ||
        { cat "$log" >&2; die 70 "meson setup failed"; }
    if [ ${#which[@]} -eq 0 ]; then
        ninja -C "$build" all meson-test-prereq
    else # what the tests need is built before they are "run"
        meson test -C "$build" --wrapper true "${which[@]}"
    fi >"$log" 2>&1 || { cat "$log" >&2; die 70 "the build failed"; }
}

# Another test.sh may be building, too.
one_at_a_time() { # directory, function, argument...
    local directory=$1
    shift
    (flock 9; "$@" 9<&-) 9<"$directory" || exit
}

# The client asks for as much memory as a server says, and minds a refusal.
may_fail=allocator_may_return_null=1
export ASAN_OPTIONS=$may_fail
faults_step=3 # one cell of the table of faults in so many, by chance
few_runs=50 # chance shows without a sanitizer, in more of them
build=build-test
linker=$(! command -v ld.gold >/dev/null || echo gold)
setup=(-Dwerror=true -Dtests=enabled)
which=()
run=()
smoke=false
secured=
only_build=false
sanitizer=
while [ $# -gt 0 ]; do
    case $1 in
    --asan)
        build+=-asan
        sanitizer=address,undefined
        export ZKR_DEADLOCK_RUNS=${ZKR_DEADLOCK_RUNS:-$few_runs}
        faults_step=6
        ;;
    --tsan)
        build+=-tsan
        sanitizer=thread
        export ZKR_DEADLOCK_RUNS=${ZKR_DEADLOCK_RUNS:-$few_runs}
        faults_step=6
        # Its own exit status, 66, is one of zk-lockctl, too.
        TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp:$may_fail"
        export TSAN_OPTIONS+=":exitcode=86"
        ;;
    --valgrind)
        build+=-valgrind
        packages+=(valgrind)
        run+=(--setup=valgrind)
        ;;
    --long)
        export ZKR_DEADLOCK_RUNS=1000 ZKR_FUZZ_MS=300000 ZKR_ALLOC_STEP=1
        export ZKR_FUZZ_CHILDREN=30000 ZKR_TERMS=500 INTEROP_CYCLES=2000
        export ZKR_HOSTILE_SCRIPTS=500
        faults_step=1
        run+=(--timeout-multiplier 10)
        ;;
    --clang)
        build+=-clang
        packages+=(clang "libclang-rt-$(clang_of_this_debian)-dev")
        export CC=clang CXX=clang++
        # Here for what it warns of; gcc's builds are optimized in full.
        setup+=(-Db_lundef=false -Doptimization=0 -Ddebug=false)
        ;;
    --no-debug)
        build+=-no-debug
        setup+=(-Ddebug=false)
        ;;
    --servers | --peers)
        [ $# -ge 2 ] || die 64 "$1 needs a name: 12, 13 or sid"
        exports=$(tools/versions.sh "${1#--}" "$2") ||
            die 69 "no ${1#--} of Debian $2"
        eval "$exports"
        shift
        ;;
    --tls | --sasl)
        secured=${1#--}
        ;;
    --smoke) smoke=true ;;
    --suite | --no-suite)
        [ $# -ge 2 ] || die 64 "$1 needs a name"
        which+=("$1" "$2")
        shift
        ;;
    --build) only_build=true ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die 64 "unknown option '$1'; see --help" ;;
    esac
    shift
done

# Quick to make, and with lines in its traces. Without -O2 gcc knows the range of
# fewer numbers, and warns of texts that are cut off in vain; clang has not the name
# by which gcc tells the code of the sanitizer.
if [ -n "$sanitizer" ]; then
    setup+=(-Db_sanitize="$sanitizer" -Doptimization=1)
    case ${CC-}$sanitizer in
    *clang*thread) setup+=(-Dc_args="-g1 -D__SANITIZE_THREAD__") ;;
    *clang*) setup+=(-Dc_args=-g1) ;;
    *) setup+=(-Dc_args="-g1 -Wno-format-truncation") ;;
    esac
fi
export ZKR_FAULTS_STEP=${ZKR_FAULTS_STEP:-$faults_step}
! $smoke || [ -n "$secured" ] || die 64 "--smoke goes with --tls or --sasl"
if [ -n "$secured" ]; then
    build+=-secured
    setup+=("-Dzookeeper_prefix=$PWD/build-client")
    packages+=(openssl)
    export ZKR_TEST_SECURITY=$secured
    if $smoke; then
        which+=(tls sasl client_tls hostile_answers security session servers
            holds 'lockctl secure' 'linking with a client')
    elif [ ${#which[@]} -eq 0 ]; then
        which+=(--suite integration)
    fi
fi

# The client itself loses some memory when a handle is closed (ZOOKEEPER-3868).
export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mkdir -p "$build"
install_packages "$log" "${packages[@]}"
[ -z "$secured" ] || one_at_a_time tools build_client
one_at_a_time "$build" build_tests
! $only_build || exit 0

# Three programs for each core: most of them wait most of the time, and each has
# servers of its own. Those that need the machine run alone (is_parallel).
meson test -C "$build" --no-rebuild \
    --num-processes "${MESON_TESTTHREADS:-$((3 * $(nproc)))}" \
    --print-errorlogs "${run[@]}" "${which[@]}" 2>&1 | tee "$log" || true

count() {
    awk -v name="$1:" '$1 == name { n += $2 } END { print n + 0 }' "$log"
}

# Those that failed by a check or by their deadline, as "SUITE NAME": a machine
# that is too busy can do that. A crash, or a word of a sanitizer, is not
# forgiven; what leaks because a check ended a test is not such a word.
perhaps_late() {
    jq -r 'select(.result == "TIMEOUT" or
                  (.result == "FAIL" and .returncode > 0 and
                   .returncode < 100)) |
           select([.stdout // "", .stderr // ""] | join("") |
                  if test("\\[  (FAILED|ERROR )  \\]") then
                      gsub("LeakSanitizer: detected memory leaks|" +
                           "SUMMARY: AddressSanitizer: [0-9]+ byte"; "")
                  else . end |
                  test("Sanitizer|runtime error:") | not) |
           .name | capture("^[^:]*:(?<suite>[^+ ]*).* / (?<name>.*)$") |
           "\(.suite) \(.name)"' "$build/meson-logs/testlog.json"
}

failed_tests() { # with what cmocka, or a sanitizer, says
    jq -r 'select(.result != "OK" and .result != "SKIP") |
           "\(.name): \(.result), exit status \(.returncode)",
           ([.stdout // "", .stderr // ""] | join("\n") | split("\n")[] |
            select(test("ERROR|FAILED|Sanitizer|error:|^  *#[0-9] ")))' \
        "$build/meson-logs/testlog.json" |
        sed -n '1,60s/^/failed: /p' # head would end jq, and with it this script
}

passed=$(count Ok)
failed=$(($(count Fail) + $(count Timeout)))
if [ -n "${CI-}" ]; then
    failed=$((failed + $(count Skipped)))
else
    sed -nE 's,^ *[0-9]+/[0-9]+ [^/]* / (.*[^ ]) +SKIP .*,skipped: \1,p' "$log"
fi
[ $((passed + failed)) -gt 0 ] || failed=1

# A test may be late on a busy machine, never wrong: so each of a few is run
# once more, alone, and named.
if [ "$failed" -gt 0 ] && perhaps_late >"$log" && [ "$(wc -l <"$log")" -le 3 ]; then
    while read -r suite name; do
        meson test -C "$build" --num-processes 1 --no-rebuild \
            --print-errorlogs --logbase again "${run[@]}" --suite "$suite" \
            "$name" </dev/null || continue
        echo "late: $suite / $name failed beside others and passed alone"
        passed=$((passed + 1)) failed=$((failed - 1))
    done <"$log"
fi
[ "$failed" -eq 0 ] || failed_tests
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
