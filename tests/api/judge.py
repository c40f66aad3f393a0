#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the judge of the trials of faults counts (tools/bench/judge.py).

    judge.py SOURCE_ROOT
"""

import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tools/bench")

import judge

# Records "WHAT CLIENT ASKED_NS TOKEN", and what is counted: both, stale, fenced
# (None: no token), lost, untold.
STORIES = {
    "a lock that is handed over": (
        "granted A 1 5, write A 2 5, leaving A 3 5, left A 4 0, granted B 5 6,"
        " write B 6 6",
        (0, 0, 0, False, False),
    ),
    "a holder that is told in time": (
        "granted A 1 5, write A 2 5, doubt A 9 5, granted B 10 6, write B 11 6,"
        " leaving A 12 5, failed A 13 0",
        (0, 0, 0, True, False),
    ),
    "a write that comes late, by one who has asked in time": (
        "granted A 1 5, granted B 10 6, write B 11 6, write A 2 5, doubt A 12 5,"
        " leaving A 13 5",
        (0, 1, 0, True, False),
    ),
    "the same before the later holder has written": (
        "granted A 1 5, granted B 10 6, write A 2 5, write B 11 6, doubt A 12 5,"
        " leaving A 13 5",
        (0, 0, 0, True, False),
    ),
    "two holders, and one of them is never told": (
        "granted A 1 0, granted B 10 0, write B 11 0, write A 12 0, write A 13 0,"
        " leaving A 14 0",
        (2, 2, None, True, True),
    ),
    "the later holder has stopped to believe": (
        "granted A 1 0, granted B 10 0, write B 11 0, doubt B 12 0, write A 13 0,"
        " doubt A 14 0, leaving A 15 0",
        (0, 1, None, True, False),
    ),
    "two holders with the same token": (
        "granted A 1 7, granted B 10 7, write B 11 7, write A 12 7, doubt A 13 7,"
        " leaving A 14 7",
        (1, 1, 1, True, False),
    ),
}


def counted(story):
    j = judge.Judge()
    for record in story.split(","):
        j.hear(judge.parse(record.strip().encode()))
    fenced = j.fenced if j.has_token else None
    return j.both, j.stale, fenced, j.lost, j.untold


failed = False
for name, (story, expected) in STORIES.items():
    if counted(story) != expected:
        print("%s: %s, not %s" % (name, counted(story), expected))
        failed = True
sys.exit(failed)
