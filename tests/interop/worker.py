#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python side of the interop tests: kazoo, driven by lines.

worker.h says which lines.

    worker.py NAME DIRECTORY-OF-curator_lock.py
"""

import os
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout, NoNodeError
from kazoo.recipe.barrier import Barrier
from kazoo.recipe.counter import Counter
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock
from kazoo.version import __version__

sys.path.insert(0, sys.argv[2])
from curator_lock import (
    CuratorLatch,
    CuratorLock,
    CuratorReadLock,
    CuratorWriteLock,
)


class Latch:
    """kazoo's Election as a lock: it leads between acquire and release."""

    def __init__(self, client, path, name, lock_class):
        self.election = Election(client, path, name)
        self.election.lock = lock_class(client, path, name)
        self.leads = False
        self.error = None
        self.changed = threading.Event()
        self.done = threading.Event()

    node = property(lambda self: self.election.lock.node)
    prefix = property(lambda self: self.election.lock.prefix)

    def lead(self):
        self.leads = True
        self.changed.set()
        self.done.wait()

    def run(self):
        try:
            self.election.run(self.lead)
        except Exception as e:
            self.error = e
        self.changed.set()

    def acquire(self, blocking=True, timeout=None):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.changed.wait(timeout if blocking else 0.5)
        if not self.leads:
            self.election.cancel()
            self.release()
        return self.leads

    def release(self):
        self.done.set()
        self.thread.join()
        if self.error:
            raise self.error


class Lease(Semaphore):
    """kazoo's Semaphore, which does not name its node as its locks do."""

    node = property(lambda self: self.create_path[len(self.path) + 1 :])


# (recipe, layout, mode): the class, and its extra_lock_patterns; of a latch,
# the class of its nodes; of a semaphore, its permits
LOCKS = {
    ("mutex", "kazoo", "write"): (Lock, ()),
    ("mutex", "patterns", "write"): (Lock, ["lock-"]),
    ("mutex", "curator", "write"): (CuratorLock, ()),
    ("rw", "kazoo", "write"): (WriteLock, ()),
    ("rw", "kazoo", "read"): (ReadLock, ()),
    ("rw", "patterns", "write"): (WriteLock, ["__WRIT__", "__READ__"]),
    ("rw", "patterns", "read"): (ReadLock, ["__WRIT__"]),
    ("rw", "curator", "write"): (CuratorWriteLock, ()),
    ("rw", "curator", "read"): (CuratorReadLock, ()),
    ("semaphore", "kazoo", "write"): (Lease, 2),
    ("latch", "kazoo", "write"): (Latch, Lock),
    ("latch", "curator", "write"): (Latch, CuratorLatch),
}
RETRY = {"max_tries": -1, "delay": 0.05, "backoff": 1.2, "max_delay": 0.5}


def answer(line):
    os.write(1, b"= " + line.encode() + b"\n")


class Worker:
    """Its commands are its methods."""

    def __init__(self, name):
        self.name = name
        self.locks = {}

    def open(self, hosts, session_ms):
        timeout = int(session_ms) / 1000
        self.client = KazooClient(
            hosts, timeout, connection_retry=RETRY, command_retry=RETRY
        )
        self.client.start(timeout=20)
        return "open %x" % self.client.client_id[0]

    def version(self):
        return "version " + __version__

    def close(self):
        self.client.stop()
        self.client.close()
        return "closed"

    def lock(self, recipe, layout, path):
        self.kind = (recipe, layout)
        self.path = path
        return "lock"

    def new_lock(self, mode):
        """One for each acquire: a lock that lives longer fails when the
        server has removed its directory, a container, in between."""
        cls, patterns = LOCKS[self.kind + (mode,)]
        return cls(self.client, self.path, self.name, patterns)

    def token(self, lock):
        node = self.path + "/" + lock.node
        stat = self.client.retry(self.client.exists, node)
        return stat.czxid if stat else 0

    def acquire(self, mode, timeout_ms):
        self.locks[mode] = self.new_lock(mode)
        return self.again(mode, timeout_ms)

    def again(self, mode, timeout_ms):
        lock = self.locks[mode]
        timeout = int(timeout_ms) / 1000
        try:
            if not lock.acquire(blocking=timeout > 0, timeout=timeout or None):
                return "busy"
        except LockTimeout:
            return "busy"
        return "held %s %d" % (lock.node, self.token(lock))

    def release(self, mode):
        self.locks[mode].release()
        return "released"

    def forget(self, lock):
        """Leave nothing of it: kazoo itself only tries once."""
        for node in self.client.retry(self.client.get_children, self.path):
            if node.startswith(lock.prefix):
                path = self.path + "/" + node
                try:
                    self.client.retry(self.client.delete, path)
                except NoNodeError:
                    pass

    def counter(self, kind, path):
        """shared: in the form of Curator's SharedCount; text:N begins at N."""
        start = int(kind.partition(":")[2] or 0)
        return Counter(self.client, path, start, kind == "shared")

    def add(self, kind, path, _, times):
        counter = self.counter(kind, path)
        for _ in range(int(times)):
            counter += 1
        return "added %s 0" % times

    def number(self, kind, path):
        return "number %d" % self.counter(kind, path).value

    def barrier(self, what, path):
        barrier = Barrier(self.client, path)
        getattr(barrier, "create" if what == "set" else what)()
        return "done " + what

    def ask(self, what, mode, lock, token, value):
        """The test has the resource, and answers with a number."""
        answer("%s %s %s %d %d" % (what, mode, lock.node, token, value))
        return int(sys.stdin.readline())

    def cycle(self, mode):
        """False when the test has said that it was the last."""
        lock = self.new_lock(mode)
        more = True
        try:
            lock.acquire()
            token = self.token(lock)
            value = self.ask("enter", mode, lock, token, 0) if token else -1
            if value >= 0:
                value += mode == "write"
                more = self.ask("leave", mode, lock, token, value) != 0
            lock.release()
            return more
        except Exception:
            self.forget(lock)
            raise

    def run(self, writers):
        more = True
        while more:
            mode = "write" if random.randrange(100) < int(writers) else "read"
            try:
                more = self.cycle(mode)
            except Exception as e:
                print("%s: %r" % (self.name, e), file=sys.stderr, flush=True)
                time.sleep(0.02)
        return "ran"


def main():
    worker = Worker(sys.argv[1])
    answer("ready")
    for line in sys.stdin:
        words = line.split()
        try:
            answer(getattr(worker, words[0])(*words[1:]))
        except Exception as e:
            answer("failed: %r" % e)
    os._exit(0)


main()
