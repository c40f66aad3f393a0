#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks which files of the library call each other in a circle, by the symbols
# of their objects: what a file refers to, by a call or in a table of functions,
# and another defines.
#
#   circles.sh LIBRARY        a static library, of one object for each file
set -eu

# The rooms from the lowest up. For each: how many circles there may be in it,
# and how many files the largest may have. No circle may cross rooms.
limits='
base    0 0
protocol 0 0
zk      0 0
session 2 5
request 0 0
lock    3 11
inspect 0 0
fence   0 0
recipes 0 0
'

${NM:-nm} "$1" | awk -v limits="$limits" '
# "src_lock_node_name.c.o:" is lock/node_name.c.
/:$/ {
    sub(/:$/, "")
    sub(/.*\//, "")
    sub(/\.o$/, "")
    sub(/^src_/, "")
    sub(/_/, "/")
    file = $0
    room[file] = file
    sub(/\/.*/, "", room[file])
    files[++count] = file
}
NF == 2 && $1 ~ /^[Uvw]$/ { wanted[file] = wanted[file] " " $2 }
NF == 3 && $2 ~ /^[A-TV-Z]$/ { defined_in[$3] = file }

function read_limits(   lines, fields, i, n) {
    n = split(limits, lines, "\n")
    for (i = 1; i <= n; i++) {
        if (split(lines[i], fields, " ") == 3) {
            height[fields[1]] = i
            most[fields[1]] = fields[2]
            largest[fields[1]] = fields[3]
        }
    }
}

function find_calls(   from, to, symbols, i, k, n) {
    for (i = 1; i <= count; i++) {
        from = files[i]
        n = split(wanted[from], symbols, " ")
        for (k = 1; k <= n; k++) {
            to = defined_in[symbols[k]]
            if (to != "" && to != from) {
                call[from, to] = symbols[k]
                reaches[from, to] = 1
                calls++
            }
        }
    }
}

function follow_calls(   i, k, j, via) {
    for (i = 1; i <= count; i++) {
        via = files[i]
        for (k = 1; k <= count; k++) {
            if (!((files[k], via) in reaches))
                continue
            for (j = 1; j <= count; j++) {
                if ((via, files[j]) in reaches)
                    reaches[files[k], files[j]] = 1
            }
        }
    }
}

# Those that climb, when it crosses rooms; else all.
function show(members, n, crosses,   i, k, from, to) {
    for (i = 1; i <= n; i++) {
        for (k = 1; k <= n; k++) {
            from = members[i]
            to = members[k]
            if (((from, to) in call) &&
                (!crosses || height[room[from]] < height[room[to]]))
                print "    " from " -> " to ": " call[from, to]
        }
    }
}

function refuse(why, members, n, crosses,   i, list) {
    for (i = 1; i <= n; i++)
        list = list " " members[i]
    print why ":" list
    show(members, n, crosses)
    failed = 1
}

# The circle that a file is in, if it is its first.
function check(first,   members, n, i, other, crosses) {
    for (i = first; i <= count; i++) {
        other = files[i]
        if (((files[first], other) in reaches) &&
            ((other, files[first]) in reaches)) {
            if (seen[other]++)
                return
            members[++n] = other
            crosses = crosses || room[other] != room[members[1]]
        }
    }
    if (n == 0)
        return
    if (crosses) {
        refuse("a circle crosses rooms, by these calls", members, n, 1)
        return
    }
    other = room[members[1]]
    print other ": a circle of " n " files"
    if (++circles[other] > most[other])
        refuse("more than " most[other] " circles", members, n, 0)
    else if (n > largest[other])
        refuse("more than " largest[other] " files", members, n, 0)
}

END {
    read_limits()
    find_calls()
    follow_calls()
    for (i = 1; i <= count; i++) {
        if (!(room[files[i]] in height)) {
            print files[i] ": in no room"
            failed = 1
        }
        check(i)
    }
    print count + 0 " files, " calls + 0 " symbols of others"
    exit failed || calls == 0
}'
