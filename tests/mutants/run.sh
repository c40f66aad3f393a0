#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each patch here breaks the library, or the tool, on purpose; a test must
# notice it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    cat <<'TEXT'
usage: tests/mutants/run.sh [--jobs N] [--schedules N] [--all] [--smoke]
                            [NAME...]
       tests/mutants/run.sh --list >docs/mutants.md

  --jobs N       mutants at the same time (default 2)
  --schedules N  of the simulator, for each mutant (default 50000)
  --all          go on after the first that notices, and show what each does
  --smoke        only those that are marked for it, and 1000 schedules
  --list         run nothing, print the page that lists the patches
  NAME           only patches whose name, AREA/WHAT, contains it

A patch begins with a sentence that says what it breaks. Its lines
"Noticed-by:" name, cheapest first, what is run against it:

  unit-NAME          a program of tests/unit
  sim OPTION...      the simulator, with options of its own
  stories PATTERN    stories of the simulator, those whose names match
  line_stories PATTERN
                     the same of those of the line
  lives PATTERN      the same of its lives
  test-NAME PATTERN  a program of tests/integration, the tests whose names match
  cli-NAME PATTERN   a program of tests/cli without a server, likewise
  test-lockctl-NAME PATTERN
                     one that starts the tool, likewise

The exit status is 1 when a mutant survives, when a patch does not apply or does
not compile, or when the tree as it is fails what the mutants are tried with.
TEXT
}

die() {
    echo "mutants: $1" >&2
    exit 1
}

program_of() { # what is run
    case $1 in
    sim | stories | line_stories | lives) echo "tests/sim/$1" ;;
    unit-*) echo "tests/unit/$1" ;;
    cli-* | test-lockctl-*) echo "tests/cli/$1" ;;
    test-*) echo "tests/integration/$1" ;;
    *) die "nothing is called $1" ;;
    esac
}

targets_of() { # what is run
    program_of "$1"
    case $1 in
    test-lockctl-*)
        echo tools/zk-lockctl/zk-lockctl
        echo tests/cli/cli-command
        for late in slow_kill slow_timer other_clock killed_front late_fork lost_release; do
            echo "tests/cli/libcli_$late.so"
        done
        ;;
    esac
}

name_of() { # patch: AREA/WHAT
    local name=${1#"$here"/}
    echo "${name%.patch}"
}

noticed_by() { sed -n 's/^Noticed-by: //p' "$1"; }

# The page docs/mutants.md: the table comes from the heads of the patches.
list() { # patch...
    cat <<'TEXT'
# The mutants

Each of these patches in `tests/mutants/` breaks the library or the tool on purpose. The last column names what is run
against it, cheapest first; at least one of these must fail. [reliability.md](reliability.md#mutants) says how they are
run, and what they have shown. The page is printed by `tests/mutants/run.sh --list >docs/mutants.md`; a test compares
it with the patches.

| mutant | what is broken | what notices it |
|---|---|---|
TEXT
    awk -v here="$here/" '
        function row() { if (name != "") print "| " name " | " broken " | " by " |" }
        FNR == 1 {
            row()
            name = substr(FILENAME, length(here) + 1)
            sub(/\.patch$/, "", name)
            broken = $0
            by = ""
        }
        sub(/^Noticed-by: /, "") { by = by (by == "" ? "" : ", ") "`" $0 "`" }
        END { row() }' "$@"
}

# Prints how it went. 0: nothing was noticed; 124: it did not end.
try() { # tree, what, argument
    local tree=$1 what=$2 argument=${3-} program log began rc=0 options
    program=$tree/build/$(program_of "$what")
    log=$(mktemp -p "$tree")
    began=$EPOCHREALTIME

    case $what in
    sim)
        read -ra options <<<"$argument"
        timeout "$((limit * 10))" "$program" --schedules "$schedules" \
            --jobs 1 --no-shrink "${options[@]}" >"$log" 2>&1 || rc=$?
        ;;
    *) ZKR_TEST_ONLY=${argument:-*} timeout "$limit" "$program" >"$log" 2>&1 || rc=$? ;;
    esac
    [ "$rc" -ne 77 ] || die "$what cannot run here: $(tail -n 1 "$log")"
    ! grep -q ' Running 0 test' "$log" ||
        die "$what has no test $argument"
    awk -v rc="$rc" -v s="$((${EPOCHREALTIME/./} - ${began/./}))" '
        /^seed .* fails:/ { seed = $2; sub(/^[^:]*: (at [0-9.]* ms: )?/, ""); why = ": " $0 }
        /^\[  FAILED  \] [^0-9]/ && why == "" { sub(/^\[  FAILED  \] /, ""); why = ": " $0 }
        END {
            if (rc == 124) why = ": does not end"
            if (length(why) > 90) why = substr(why, 1, 87) "..."
            printf "%s|%s|%.1f s\n", why, seed == "" ? "" : seed, s / 1e6
        }' "$log"
    return "$rc"
}

copy_of() { # tree, patch
    cp -a "$work/base" "$1"
    patch -d "$1" -p1 -s --no-backup-if-mismatch <"$2" >"$1.log" 2>&1 ||
        { echo "the patch does not apply"; return 1; }
    # Where a test finds the tool is a path in its code.
    sed -i "s|$work/base|$1|g" "$1/build/build.ninja"
    noticed_by "$2" | while read -r what _; do targets_of "$what"; done |
        sort -u | xargs ninja -C "$1/build" >"$1.log" 2>&1 ||
        { echo "it does not compile"; return 1; }
}

# A mutant that does not end hangs only if the tree as it is ends long before;
# else the machine is late.
is_quick() { # what, argument
    local limit=$((limit / 3))

    try "$work/base" "$1" "$2" >/dev/null
}

# One row of the table.
one() { # patch
    local name tree fault what argument how rc row='' verdict=SURVIVES
    name=$(name_of "$1")
    tree=$work/${name//\//-}

    if ! fault=$(copy_of "$tree" "$1"); then
        echo "| $name | **$fault** | | |"
        tail -n 20 "$tree.log" >&2
    else
        while read -r what argument; do
            rc=0
            how=$(try "$tree" "$what" "$argument") || rc=$?
            if [ "$rc" -eq 0 ]; then
                row+="; $what ${argument:+$argument }sees nothing"
                continue
            elif [ "$rc" -eq 124 ] && ! is_quick "$what" "$argument"; then
                row+="; $what ${argument:+$argument }is late"
                continue
            fi
            verdict=killed
            IFS='|' read -r why seed seconds <<<"$how"
            row+="; $what $argument$why${seed:+ (schedule $seed)}, $seconds"
            [ -n "$all" ] || break
        done < <(noticed_by "$1")
        echo "| $name | $(head -n 1 "$1") | $verdict | ${row#; } |"
    fi
    [ "$verdict" = killed ] || touch "$work/survived.${name//\//-}"
    rm -rf "$tree" "$tree.log"
}

make_base() {
    mkdir "$work/base"
    tar -C "$root" --exclude='./build*' --exclude=./.git -cf - . |
        tar -C "$work/base" -xf -
    meson setup "$work/base/build" "$work/base" -Dtests=enabled -Dtools=auto \
        -Dexamples=disabled -Ddocs=disabled -Ddebug=false -Doptimization=1 \
        -Dwerror=false >"$work/log" 2>&1 ||
        { cat "$work/log"; die 'meson setup fails'; }
    for p in "${patches[@]}"; do noticed_by "$p"; done |
        while read -r what _; do targets_of "$what"; done | sort -u |
        xargs ninja -C "$work/base/build" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; die 'the tree as it is does not compile'; }
}

control_of() { # what, argument
    local how limit=600

    how=$(try "$work/base" "$1" "$2") && return
    echo "without a mutant: $1 $2 fails$how" >&2
    touch "$work/survived.control"
}

# All that is run against the mutants.
trials() {
    for p in "${patches[@]}"; do noticed_by "$p"; done | sort -u
}

jobs=2 schedules='' limit=180 all='' smoke='' list=''
names=() patches=()
case ${1-} in # jobs of ours: see the end
--one | --control)
    work=$2 schedules=$3 limit=$4 all=$5
    if [ "$1" = --one ]; then one "$6"; else control_of "$6" "$7"; fi
    exit 0
    ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    --jobs | --schedules)
        [ $# -ge 2 ] || die "$1 needs a number"
        declare "${1#--}=$2"
        shift
        ;;
    --all) all=yes ;;
    --smoke) smoke=yes ;;
    --list) list=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    -*)
        usage >&2
        exit 64
        ;;
    *) names+=("$1") ;;
    esac
    shift
done
schedules=${schedules:-${smoke:+1000}}
schedules=${schedules:-50000}

LC_ALL=C # the order of the patches is the same everywhere
for p in "$here"/*/*.patch; do
    [ -z "$smoke" ] || grep -q '^Smoke: yes' "$p" || continue
    [ -n "$(noticed_by "$p")" ] || die "$p does not say which test notices it"
    for n in "${names[@]-}"; do
        [[ $(name_of "$p") == *"$n"* ]] && patches+=("$p") && break
    done
done
[ ${#patches[@]} -gt 0 ] || die 'there is no such patch'
if [ -n "$list" ]; then
    list "${patches[@]}"
    exit 0
fi

work=$(mktemp -d)
chmod 711 "$work" # one test is another user, who runs the tool
trap 'rm -rf "$work"' EXIT
make_base
trials | while read -r what argument; do
    printf '%s\0%s\0' "$what" "$argument"
done | xargs -0 -n 2 -P "$jobs" "$0" --control "$work" "$schedules" "$limit" ''
[ ! -e "$work/survived.control" ] ||
    die 'the tree without a mutant fails these tests'
echo '| mutant | what is broken | | noticed by |'
echo '|---|---|---|---|'
printf '%s\0' "${patches[@]}" |
    xargs -0 -n 1 -P "$jobs" "$0" --one "$work" "$schedules" "$limit" "$all"
survived=$(find "$work" -maxdepth 1 -name 'survived.*' | wc -l)
echo "${#patches[@]} mutants, $((${#patches[@]} - survived)) killed, $survived not"
[ "$survived" -eq 0 ]
