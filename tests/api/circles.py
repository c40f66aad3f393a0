#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which files of the library call each other in a circle, by the symbols
of their objects: what a file refers to, by a call or in a table of functions,
and another defines.

    circles.py LIBRARY        a static library, of one object for each file
"""
import collections
import os
import re
import subprocess
import sys

# The rooms from the lowest up. For each: how many circles there may be in it,
# and how many files the largest may have. No circle may cross rooms.
LIMITS = {'base': (0, 0), 'protocol': (0, 0), 'zk': (0, 0), 'session': (2, 5),
          'request': (0, 0), 'lock': (3, 11), 'inspect': (0, 0), 'fence': (0, 0),
          'recipes': (0, 0)}
HEIGHTS = {name: height for height, name in enumerate(LIMITS)}


def room(file):
    return file.split('/')[0]


def read_calls(library):
    """For each file, those that it calls, with a symbol."""
    wanted = collections.defaultdict(list)
    defined_in = {}
    for line in subprocess.run([os.environ.get('NM', 'nm'), library], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        words = line.split()
        if line.endswith(':'): # "src_lock_node_name.c.o:" is lock/node_name.c
            file = re.sub(r'^(?:.*/)?(?:src_)?(.*)\.o:$', r'\1', line).replace('_', '/', 1)
            wanted[file] = []
        elif len(words) == 2 and words[0] in 'Uvw':
            wanted[file].append(words[1])
        elif len(words) == 3 and re.match('[A-TV-Z]$', words[1]):
            defined_in[words[2]] = file
    return {file: {defined_in[symbol]: symbol for symbol in symbols
                   if defined_in.get(symbol, file) != file} for file, symbols in wanted.items()}


def reached_from(file, calls):
    found, ways = set(), [file]
    while ways:
        new = set(calls[ways.pop()]) - found
        found |= new
        ways += new
    return found


def faults(calls):
    reaches = {file: reached_from(file, calls) for file in calls}
    circles = {frozenset(other for other in reaches[file] if file in reaches[other])
               for file in calls} - {frozenset()}
    count = collections.Counter()
    for circle in sorted(map(sorted, circles)):
        here = room(circle[0])
        crosses = len(set(map(room, circle))) > 1
        count[here] += not crosses
        if not crosses:
            print(f'{here}: a circle of {len(circle)} files')
        most, largest = LIMITS.get(here, (0, 0))
        why = ('a circle crosses rooms, by these calls' if crosses else
               f'more than {most} circles' if count[here] > most else
               f'more than {largest} files' if len(circle) > largest else None)
        if why:
            yield f'{why}: {" ".join(circle)}'
            for caller in circle: # those that climb, when it crosses rooms; else all
                yield from (f'    {caller} -> {to}: {calls[caller][to]}'
                            for to in circle if to in calls[caller]
                            and not (crosses and HEIGHTS.get(room(caller), -1)
                                     >= HEIGHTS.get(room(to), -1)))
    yield from (f'{file}: in no room' for file in calls if room(file) not in LIMITS)


all_calls = read_calls(sys.argv[1])
wrong = list(faults(all_calls))
total = sum(map(len, all_calls.values()))
for complaint in wrong:
    print(complaint)
print(f'{len(all_calls)} files, {total} calls from one to another')
sys.exit(bool(wrong) or total == 0)
