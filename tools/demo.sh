#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows with real processes how locks of zkrecipes work, in nine checks.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
readonly root build=$root/build-demo
readonly worker=$build/tools/demo/demo-worker
readonly lockctl=$build/tools/zk-lockctl/zk-lockctl
readonly JARS=/usr/share/java
readonly JAR=$JARS/zookeeper.jar
readonly CLASS_PATH=/etc/zookeeper/conf_example:$JAR
readonly CURATOR=$JARS/curator-recipes.jar
readonly CURATOR_CLASS_PATH=$CURATOR:$JARS/curator-framework.jar:\
$JARS/curator-client.jar:$JAR:$JARS/slf4j-nop.jar
readonly JAVA=(java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
    -XX:-UsePerfData -Xmx64m)
readonly PYTHON=/usr/bin/python3 # Debian's kazoo belongs to Debian's python3
readonly EX_USAGE=64 EX_UNAVAILABLE=69

readonly CHECKS=9
readonly ROUNDS=50 PAUSE_MS=2 # checks 1, 2, 7 and 8
readonly PROGRAMS=8           # checks 1 and 2
readonly WAITERS=7            # checks 3 and 4
readonly READERS=6 WRITERS=2  # check 7
readonly OF_EACH=2            # check 8
readonly OUR_TICK_MS=500 DEFAULT_TICK_MS=2000

usage() {
    cat <<USAGE
usage: tools/demo.sh [--nodes N | --servers HOST:PORT[,HOST:PORT...]]

Builds the library into build-demo/, starts a throw-away ZooKeeper on this
machine, runs nine checks with real processes, prints a line for each, shows
with zk-lockctl what an operator sees of a queue and of a deadlock, and removes
all that it started. As root it first installs with apt-get what the
demo needs and does not find. Check 8 needs Java and Python packages, and is
skipped without them.

  --nodes N    start an ensemble of N servers (default 1)
  --servers S  use these servers and start none; works below a node of its own,
               /zkrecipes-demo-..., and removes it at the end. Check 4 needs
               "wchp" in their 4lw.commands.whitelist
  --help       this text

Exit status: 0 all checks hold or are skipped, 1 one does not hold, or the
deadlock was not seen, 64 usage,
69 something could not be installed, built or started, 130 or 143 interrupted.
USAGE
}

die() {
    local status=$1
    shift
    printf 'demo: %s\n' "$*" >&2
    exit "$status"
}

parse() {
    nodes='' servers=''
    while (($# > 0)); do
        [[ $1 != --*=* ]] || set -- "${1%%=*}" "${1#*=}" "${@:2}"
        case $1 in
        -h | --help) usage && exit 0 ;;
        --nodes | --servers) ;;
        *) die $EX_USAGE "unknown argument '$1'; see --help" ;;
        esac
        [[ -n ${2:-} ]] || die $EX_USAGE "$1 needs a value"
        [[ $1 != --nodes ]] || nodes=$2
        [[ $1 != --servers ]] || servers=$2
        shift 2
    done
    [[ $nodes =~ ^[1-9]?$ ]] ||
        die $EX_USAGE "--nodes: '$nodes' is not a number from 1 to 9"
    [[ -z $servers || $servers =~ ^[^/,]+:[0-9]+(,[^/,]+:[0-9]+)*$ ]] ||
        die $EX_USAGE "--servers: '$servers' is not HOST:PORT[,HOST:PORT...]"
    [[ -z $nodes || -z $servers ]] ||
        die $EX_USAGE '--nodes and --servers exclude each other'
    nodes=${nodes:-1} given_servers=$servers
}

# What it needs

has() {
    case $1 in
    build-essential) command -v cc ;;
    ninja-build) command -v ninja ;;
    libzookeeper-mt-dev) [[ -e /usr/include/zookeeper/zookeeper.h ]] ;;
    libjansson-dev) pkg-config --exists jansson ;;
    libcmocka-dev) pkg-config --exists cmocka ;;
    libmicrohttpd-dev) pkg-config --exists libmicrohttpd ;;
    libncurses-dev) pkg-config --exists ncursesw ;;
    zlib1g-dev) pkg-config --exists zlib ;;
    zookeeper) [[ -r $JAR ]] ;;
    default-jre-headless) command -v java ;;
    default-jdk-headless) command -v javac ;;
    libcurator-recipes-java) [[ -r $CURATOR ]] ;;
    python3-kazoo) "$PYTHON" -c 'import kazoo' ;;
    *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

# Prints the packages that are not installed.
missing() {
    local package
    for package in "$@"; do
        has "$package" || printf '%s\n' "$package"
    done
}

# Sets $absent to the packages that check 8 lacks. These alone are no reason to
# fail.
look_for_curator_and_kazoo() {
    mapfile -t absent < <(missing default-jdk-headless \
        libcurator-recipes-java python3-kazoo)
}

install() {
    quietly 'installing packages' apt-get update
    quietly "installing $*" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@"
}

install_missing() {
    local needed
    look_for_curator_and_kazoo
    mapfile -t needed < <(missing build-essential meson ninja-build pkg-config \
        libzookeeper-mt-dev libjansson-dev libncurses-dev \
        libmicrohttpd-dev zlib1g-dev \
        zookeeper default-jre-headless)
    if ((${#needed[@]} > 0)); then
        # For the tests: alone it is no reason to install.
        mapfile -t -O ${#needed[@]} needed < <(missing libcmocka-dev)
        ((EUID == 0)) || die $EX_UNAVAILABLE \
            'run as root: apt-get update && apt-get install -y' \
            "${needed[@]}" "${absent[@]}"
        install "${needed[@]}"
    fi
    if ((${#absent[@]} > 0 && EUID == 0)); then
        (install "${absent[@]}") || true
        look_for_curator_and_kazoo
    fi
}

# quietly WHAT COMMAND...: its output is shown only when it fails.
quietly() {
    local what=$1
    shift
    printf '%s...\n' "$what"
    "$@" >"$tmp/output" 2>&1 </dev/null && return
    cat "$tmp/output" >&2
    die $EX_UNAVAILABLE "$what: failed; its output is above"
}

# A lock, because another demo may be building in the same directory.
build_all() {
    [[ -e $build/build.ninja ]] ||
        quietly 'configuring' flock "$root/tools" \
            meson setup "$build" "$root"
    quietly 'building' flock "$root/tools" ninja -C "$build"
}

# The servers

# ask HOST:PORT WORD: one of ZooKeeper's four-letter words.
ask() {
    local host=${1%:*}
    host=${host#[} && host=${host%]}
    # shellcheck disable=SC2016 # expanded by the inner shell
    timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" >&3 &&
        cat <&3' _ "$host" "${1##*:}" "$2" 2>/dev/null || true
}

ask_all() {
    local server list
    IFS=, read -ra list <<<"$servers"
    for server in "${list[@]}"; do
        ask "$server" "$1"
        printf '\n'
    done
}

start_servers() {
    local what='your own' version
    tick_ms=$DEFAULT_TICK_MS
    if [[ -z $given_servers ]]; then
        quietly 'starting ZooKeeper' "$root/tools/zk-dev" up --nodes "$nodes" \
            --tick $OUR_TICK_MS --dir "$tmp/zk"
        servers=$(sed -n 's/^ZK_SERVERS=//p' "$tmp/output")
        tick_ms=$OUR_TICK_MS what='thrown away at the end'
    fi
    version=$(ask_all srvr |
        sed -n 's/^Zookeeper version: \([0-9.]*\).*/\1/p' | sort -u | xargs)
    [[ -n $version ]] || die $EX_UNAVAILABLE "no ZooKeeper answers at $servers"
    [[ -z $given_servers ]] || guest=1
    may_ask=$((!$(ask_all wchp | grep -c whitelist || true)))
    printf '\nzkrecipes with ZooKeeper %s at %s (%s)\n\n' \
        "$version" "$servers" "$what"
}

# Removes the nodes that we made on servers that are not ours. The servers
# remove the locks' directories a minute later, but we do not leave them behind.
remove_nodes() {
    local attempt
    # Again, because sessions that end at the same time remove theirs too.
    for attempt in 1 2 3; do
        "${JAVA[@]}" -cp "$CLASS_PATH" \
            org.apache.zookeeper.ZooKeeperMain \
            -server "$servers" deleteall "$base" \
            >"$tmp/output" 2>&1 </dev/null && return 0
        grep -qs 'Node does not exist' "$tmp/output" && return 0
    done
    printf 'demo: %s attempts to remove %s at %s failed\n' \
        "$attempt" "$base" "$servers" >&2
}

# The workers, in tools/demo/. Each prints lines "NAME EVENT ..." into one pipe,
# and waits for the end of its standard input: the gate, which is another pipe.

open_pipes() {
    mkfifo "$tmp/events" "$tmp/gate"
    exec {events}<>"$tmp/events"
    gate=
}

open_gate() {
    exec {gate}<>"$tmp/gate"
}

# Lets all who wait at the gate go on.
close_gate() {
    [[ -z $gate ]] || exec {gate}>&-
    gate=
}

# launch INPUT COMMAND...: a worker in the background.
launch() {
    local input=$1
    shift
    "$@" <"$input" >"$tmp/events" {events}>&- {gate}>&- &
}

# start INPUT ARGUMENT...: one of ours.
start() {
    launch "$1" "$worker" "${@:2}"
}

start_curator() {
    launch "$1" "${JAVA[@]}" -cp "$CURATOR_CLASS_PATH" \
        "$root/tools/demo/DemoWorker.java" "${@:2}"
}

start_kazoo() {
    launch "$1" "$PYTHON" -B "$root/tools/demo/demo_worker.py" "${@:2}"
}

# await COUNT EVENT: go on when EVENT has come so often. Sets $why on failure.
await() {
    local left=$1 event=$2 line name kind rest deadline=$((SECONDS + 60))
    while ((left > 0)); do
        if ! IFS= read -r -t 1 -u "$events" line; then
            ((SECONDS < deadline)) && continue
            why="no '$event' after 60 s"
            return 1
        fi
        printf '%s\n' "$line" >>"$tmp/$log"
        read -r name kind rest <<<"$line"
        case $kind in
        "$event") left=$((left - 1)) ;;
        failed)
            why="$name: $rest"
            return 1
            ;;
        esac
    done
}

end_workers() {
    local pid
    for pid in $(jobs -pr); do
        kill "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
}

# Pairs "PATH SESSION" of who watches what below a path, by all servers.
watches() {
    ask_all wchp | awk -v below="$1/" '
        /^\// { path = $1 }
        /^\t0x/ && index(path, below) == 1 { print path, $1 }'
}

# await_watches PATH COUNT: until so many wait in the queue behind $holder: that
# many other sessions watch a node, first the one before theirs; the next in
# line then watches its own, too. The lock works without it: it is to see the
# queue in full length.
await_watches() {
    local deadline=$((SECONDS + 10))
    ((may_ask)) || return 0
    while ((SECONDS < deadline)); do
        watches "$1" >"$tmp/watches"
        (($(awk -v holder="$holder" '$2 != holder { print $2 }' \
            "$tmp/watches" | sort -u | wc -l) < $2)) || return 0
        sleep 0.05
    done
}

# field NUMBER EVENT: of the lines with that event in the present log.
field() {
    awk -v n="$1" -v event="$2" '$2 == event { print $n }' "$tmp/$log"
}

# Prints, by the present log: the most readers at once, how often somebody
# wrote, and how often a writer was alone from begin to end.
stays() {
    awk '$2 == "stayed" { print $4, 1, $3; print $5, -1, $3 }' "$tmp/$log" |
        sort -n -k1,1 -k2,2 | awk '
            $2 > 0 {
                alone = $3 == "write" && count["read"] + count["write"] == 0
                count[$3]++
                if (count["read"] > most)
                    most = count["read"]
            }
            $2 < 0 {
                count[$3]--
                writes += $3 == "write"
                good += $3 == "write" && alone
            }
            END { print most + 0, writes + 0, good + 0 }'
}

# The checks. Each sets $figure and answers whether it holds; or it sets
# $skipped and says there why it cannot tell.

report() {
    local number=$1 text=$2 verdict=ok
    shift 2
    figure='' why='' skipped='' log=$number
    : >"$tmp/$log"
    if ! "$@"; then
        verdict=FAIL
        failures=$((failures + 1))
    fi
    if [[ -n $skipped ]]; then
        skips=$((skips + 1))
        printf '%s  %-56s skipped: %s\n' "$number" "$text" "$skipped"
        return
    fi
    printf '%s  %-56s %-34s %s\n' "$number" "$text" "${why:-$figure}" "$verdict"
    end_workers
    close_gate
    while read -r -t 0 -u "$events"; do # what they said in the meantime
        IFS= read -r -u "$events" _
    done
}

# let_count FILE COUNT: so many programs, just started, add to its number.
let_count() {
    await "$2" ready || return
    close_gate
    await "$2" gone || return
    counted=$((10#$(<"$1"))) expected=$(($2 * ROUNDS))
    figure="$counted of $expected arrived"
}

# count_to FILE [HOSTS PATH]: programs of ours count.
count_to() {
    local file=$1 i
    shift
    open_gate
    for ((i = 1; i <= PROGRAMS; i++)); do
        start "$tmp/gate" count "c$i" "$file" $ROUNDS $PAUSE_MS "$@"
    done
    let_count "$file" $PROGRAMS
}

check_no_lock() {
    count_to "$tmp/unprotected" && ((counted < expected))
}

check_lock() {
    count_to "$tmp/protected" "$servers" "$base/counter" &&
        ((counted == expected))
}

# A holder and its waiters; then the lock goes through all hands.
fill_queue() {
    local path=$base/queue i
    open_gate
    start "$tmp/gate" hold q0 "$servers" "$path"
    await 1 granted || return
    holder=$(field 6 granted)
    for ((i = 1; i <= WAITERS; i++)); do
        start /dev/null hold "q$i" "$servers" "$path"
    done
    await $WAITERS session || return
    await_watches "$path" $WAITERS
    close_gate
    await $((WAITERS + 1)) gone
}

# Checks that place in the queue, time and token give the same order.
check_order() {
    local all=$((WAITERS + 1)) good
    fill_queue || return
    good=$(paste <(by_place) <(by_time) <(by_token) |
        awk '$1 == $7 && $1 == $13' | wc -l)
    figure="$good of $all in their turn"
    ((good == all))
}

granted() {
    awk '$2 == "granted"' "$tmp/$log"
}

# The place is the number at the end of the node's name, of ten digits.
by_place() {
    granted | awk '{ print substr($3, length($3) - 9), $0 }' | sort -n |
        cut -d' ' -f2-
}

by_token() {
    granted | sort -n -k4,4
}

by_time() {
    granted | sort -n -k5,5
}

# The queue is that of check 3. Only the next in the queue may be told of the
# end of a node; the watch of its owner does not count.
check_watchers() {
    local all=$((WAITERS + 1))
    log=3
    [[ -n $(granted) ]] || why='not measured: check 3 failed'
    ((may_ask)) || why='not measured: the servers do not allow "wchp"'
    [[ -z $why ]] || return 1
    figure=$(awk '
        NR == FNR { node[NR] = $3; session[NR] = $6; n = NR; next }
        { count[$1]++; seen[$1, $2] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                others = count[node[i]] - ((node[i], session[i]) in seen)
                next_watches = (node[i], session[i + 1]) in seen
                good += others == (i < n) && next_watches == (i < n)
            }
            print good + 0, "of", n, "places"
        }' <(by_place) "$tmp/watches")
    [[ $figure == "$all of $all "* ]]
}

kill_worker() {
    { # or bash reports its end
        "$worker" kill killer "$1" >>"$tmp/$log"
        wait "$1"
    } 2>/dev/null || true
}

# judge_succession MICROSECONDS: sets $took_ms, from the kill to then,
# $timeout_ms, and $in_time.
judge_succession() {
    timeout_ms=$(field 4 session | head -n 1)
    took_ms=$((($1 - $(field 3 killed)) / 1000))
    in_time=$((took_ms <= timeout_ms + 2 * tick_ms + 1000))
}

check_crash() {
    local path=$base/crash victim
    open_gate
    start "$tmp/gate" hold victim "$servers" "$path"
    victim=$!
    await 1 granted || return
    holder=$(field 6 granted)
    start /dev/null hold heir "$servers" "$path"
    await 1 session || return
    await_watches "$path" 1
    kill_worker "$victim"
    await 1 granted || return
    judge_succession "$(field 5 granted | tail -n 1)"
    figure="$took_ms ms (session timeout $timeout_ms ms)"
    ((in_time)) && await 1 gone
}

# For all mutexes so far: in the order of time, each token is above the one
# before.
check_tokens() {
    local lock grants=0 good=0 n
    for lock in 2 3 5; do
        log=$lock
        n=$(granted | wc -l)
        grants=$((grants + n))
        n=$(by_time | awk '$4 > last { good++ } { last = $4 }
            END { print good + 0 }')
        good=$((good + n))
    done
    figure="$good of $grants grants"
    ((grants > 0 && good == grants))
}

check_readers_and_writers() {
    local all=$((READERS + WRITERS)) i together writes alone
    local args=("$ROUNDS" "$PAUSE_MS" "$servers" "$base/shared")
    open_gate
    for ((i = 1; i <= READERS; i++)); do
        start "$tmp/gate" read "r$i" "${args[@]}"
    done
    for ((i = 1; i <= WRITERS; i++)); do
        start "$tmp/gate" write "w$i" "${args[@]}"
    done
    await $all ready || return
    close_gate
    await $all gone || return
    read -r together writes alone < <(stays)
    figure="$together together, $alone of $writes alone"
    ((together > 1 && writes == WRITERS * ROUNDS && alone == writes))
}

check_languages() {
    local file=$tmp/languages i writes alone overlaps
    local args=("$file" "$ROUNDS" "$PAUSE_MS" "$servers" "$base/languages")
    if ((${#absent[@]} > 0)); then
        skipped="needs apt-get install ${absent[*]}"
        return
    fi
    open_gate
    for ((i = 1; i <= OF_EACH; i++)); do
        start_curator "$tmp/gate" "java$i" "${args[@]}"
        start_kazoo "$tmp/gate" "python$i" "${args[@]}"
        start "$tmp/gate" count "c$i" "${args[@]}"
    done
    let_count "$file" $((3 * OF_EACH)) || return
    read -r _ writes alone < <(stays)
    overlaps=$((writes - alone))
    figure+=", ${overlaps/#0/no} overlap"
    ((counted == expected && writes == expected && overlaps == 0))
}

# Prints how often two have led at the same time, by the present log.
overlaps() {
    awk '$2 == "led" { from[$1] = $3; to[$1] = $4 }
        END {
            for (a in from)
                for (b in from)
                    n += a < b && from[a] < to[b] && from[b] < to[a]
            print n + 0
        }' "$tmp/$log"
}

# The leader is killed; the next one leads, and is alone in that.
check_leader() {
    local path=$base/leader victim i overlaps
    open_gate
    start "$tmp/gate" lead l1 "$servers" "$path"
    victim=$!
    await 1 gained || return
    holder=$(field 3 session)
    for i in 2 3; do
        start "$tmp/gate" lead "l$i" "$servers" "$path"
    done
    await 2 session || return
    await_watches "$path" 2
    kill_worker "$victim"
    await 1 gained || return
    await 3 led || return
    close_gate
    await 2 gone || return
    judge_succession "$(field 3 led | sort -n | tail -n 1)"
    overlaps=$(overlaps)
    figure="$took_ms ms, ${overlaps/#0/no} overlap"
    ((in_time && overlaps == 0))
}

run_checks() {
    failures=0 skips=0
    report 1 "$PROGRAMS programs count without a lock: some counts get lost" \
        check_no_lock
    report 2 "$PROGRAMS programs count with the lock: none gets lost" \
        check_lock
    report 3 'who queues first gets the lock first' check_order
    report 4 'each in the queue watches the one before, and no other' \
        check_watchers
    report 5 'the holder is killed: the next one gets the lock after' \
        check_crash
    report 6 'each holder has a higher number than the one before' \
        check_tokens
    report 7 'readers read together, a writer writes alone' \
        check_readers_and_writers
    report 8 'Curator, kazoo and C on one lock: no count gets lost' \
        check_languages
    report 9 'a leader is killed: the next one leads, never two' check_leader
}

# What an operator sees

# A holder and two waiters; and two holders that each want the other's lock.
make_trouble() {
    log=trouble
    : >"$tmp/$log"
    open_gate
    launch /dev/null "$lockctl" run -q --servers "$servers" --why 'release 42' \
        "$base/deploy" -- sh -c 'echo deploy granted; exec sleep 600'
    await 1 granted || return
    start /dev/null hold second "$servers" "$base/deploy"
    start /dev/null hold third "$servers" "$base/deploy"
    await 2 session || return
    start "$tmp/gate" cross books "$servers" "$base/invoices" "$base/stock"
    start "$tmp/gate" cross store "$servers" "$base/stock" "$base/invoices"
    await 2 granted || return
    close_gate
}

# tool ARGUMENT...: prints the command, and runs it.
tool() {
    printf '\n$ zk-lockctl %s\n' "$*"
    ZK_SERVERS=$servers "$lockctl" "$@" 2>&1
}

show_tool() {
    local deadline=$((SECONDS + 10)) status=0
    why=''
    make_trouble || die 1 "cannot make a queue: $why"
    # Waits until all four are waiting.
    until (($("$lockctl" ls -q --servers "$servers" --columns WAIT "$base" |
        awk '{ sum += $1 } END { print sum }') >= 4)); do
        ((SECONDS < deadline)) || die 1 'the queues are not there after 10 s'
    done
    printf '\nWhat an operator sees of a queue, and of two who wait for each %s' \
        $'other:\n'
    tool ls "$base"
    tool show "$base/deploy"
    tool deadlocks "$base" || status=$?
    ((status == 1)) || die 1 "zk-lockctl deadlocks: exit status $status, not 1"
    end_workers
}

# Always at the end, also when interrupted: each step, whatever the others do.
clean_up() {
    local IFS=$' \t\n' # or it is that of an interrupted "IFS= read"
    trap '' INT TERM HUP
    set +e
    end_workers
    ((!guest)) || remove_nodes
    [[ ! -e $tmp/zk ]] || "$root/tools/zk-dev" down --dir "$tmp/zk"
    rm -rf -- "$tmp"
}

main() {
    local begin held
    parse "$@"
    base=/demo guest=0
    [[ -z $given_servers ]] || base=/zkrecipes-demo-$$-$RANDOM
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/zkrecipes-demo.XXXXXX")
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    install_missing
    build_all
    begin=$SECONDS
    start_servers
    open_pipes
    run_checks
    ((failures == 0)) || die 1 "$failures of $CHECKS checks failed"
    held="All $CHECKS hold"
    ((skips == 0)) || held="$((CHECKS - skips)) hold, $skips skipped"
    printf '\n%s, in %s s.\n' "$held" $((SECONDS - begin))
    show_tool
    # shellcheck disable=SC2016 # for the reader's shell
    printf '\nNext, hold a lock yourself:\n  %s && %s &&\n  %s\n' \
        'tools/zk-dev up' 'eval "$(tools/zk-dev env)"' \
        "build-demo/${lockctl#"$build/"} run orders -- sleep 60"
}

main "$@"
