#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python contender of tools/demo.sh: kazoo, counting as demo_worker.c does.

    demo_worker.py NAME FILE ROUNDS PAUSE_MS HOSTS PATH
"""

import os
import sys
import time

from kazoo.client import KazooClient

sys.path.insert(0, os.path.dirname(__file__) + "/../../examples/interop")
from curator_lock import CuratorLock


def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def add_one(fd, pause_s):
    number = int(os.pread(fd, 31, 0) or 0)
    time.sleep(pause_s)
    os.pwrite(fd, b"%014d\n" % (number + 1), 0)


def count(name, file, rounds, pause_ms, hosts, path):
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    client = KazooClient(hosts)
    client.start(timeout=30)
    # Persistent: a kazoo lock does not expect that its directory goes.
    client.ensure_path(path)
    say(name, "ready")
    sys.stdin.read()
    lock = CuratorLock(client, path)
    for _ in range(int(rounds)):
        with lock:
            begin = now_us()
            add_one(fd, int(pause_ms) / 1000)
            say(name, "stayed write", begin, now_us())
    client.stop()
    say(name, "gone")


try:
    count(*sys.argv[1:])
except Exception as e:
    say(sys.argv[1], "failed", repr(e))
    sys.exit(1)
