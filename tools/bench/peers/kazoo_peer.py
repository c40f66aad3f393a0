# SPDX-License-Identifier: Apache-2.0
"""kazoo's locks; the benches have the names and options of those of
zkr_benches.h, ../peer.py says what a peer is."""

import os
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

RECIPES = {"mutex": Lock, "read": ReadLock, "write": WriteLock}

target, bench_name = sys.argv[1:3]
options = dict(word.split("=", 1) for word in sys.argv[3:])


def number(key, otherwise):
    return int(options.get(key, otherwise))


def say(line):
    print(line, flush=True)


def path(name, i):
    return "/bench-kazoo-%d/%s-%d" % (os.getpid(), name, i)


def open_client():
    client = KazooClient(target)
    client.start(timeout=30)
    return client


def make_lock(client, where):
    return RECIPES[options.get("recipe", "mutex")](client, where)


def quantile(values, p):
    return sorted(values)[int(p * (len(values) - 1))]


class Stopwatch:
    def begin(self):
        self.cpu = time.process_time_ns()
        self.wall = time.monotonic_ns()

    def end(self):
        self.wall = time.monotonic_ns() - self.wall
        self.cpu = time.process_time_ns() - self.cpu


class Uncontended:
    """One lock, nobody else there."""

    def __init__(self):
        self.client = open_client()
        self.is_first = options.get("where") == "first"
        self.lock = make_lock(self.client, path("again", 0))
        self.made = self.used = 0
        self.run(number("warmup", 50))

    def make_directories(self, count):
        while self.made < self.used + count:
            self.client.ensure_path(path("first", self.made))
            self.made += 1

    def cycle(self):
        begin = time.monotonic_ns()
        lock = self.lock
        if self.is_first:
            lock = make_lock(self.client, path("first", self.used))
            self.used += 1
        lock.acquire()
        took = time.monotonic_ns() - begin
        lock.release()
        return took

    def run(self, n):
        watch = Stopwatch()
        if self.is_first:
            self.make_directories(n or number("ahead", 25))
        watch.begin()
        took = [self.cycle() for _ in range(n)] or [0]
        watch.end()
        return watch, {
            "acquire_ns": sum(took) / len(took),
            "median_ns": quantile(took, 0.5),
            "p99_ns": quantile(took, 0.99),
        }

    def finish(self):
        self.client.stop()


class Contended:
    """Threads that take one lock in turn, each with a client of its own."""

    def __init__(self):
        count = number("threads", 8)
        self.clients = [open_client() for _ in range(number("sessions", 1))]
        self.begin = threading.Barrier(count + 1)
        self.end = threading.Barrier(count + 1)
        for i in range(count):
            client = self.clients[i % len(self.clients)]
            lock = make_lock(client, path("lock", 0))
            thread = threading.Thread(target=self.work, args=(lock,))
            thread.daemon = True
            thread.start()
        self.run(number("warmup", 2 * count))

    def take(self):
        with self.mutex:
            self.left -= 1
            return self.left >= 0

    def cycle(self, lock):
        lock.acquire()
        now = time.monotonic_ns()
        if self.released:
            self.samples.append(now - self.released)
        self.released = time.monotonic_ns()
        lock.release()

    def work(self, lock):
        try:
            while True:
                self.begin.wait()
                while self.take():
                    self.cycle(lock)
                self.end.wait()
        except BaseException as error:
            fail(error)

    def run(self, n):
        watch = Stopwatch()
        self.mutex = threading.Lock()
        self.left = n
        self.released = 0
        self.samples = []
        watch.begin()
        self.begin.wait()
        self.end.wait()
        watch.end()
        return watch, {
            "handoff_ns": quantile(self.samples or [0], 0.5),
            "p99_ns": quantile(self.samples or [0], 0.99),
        }

    def finish(self):
        pass


def fail(error):
    say("error %r" % error)
    os._exit(1)


def obey(bench):
    for line in sys.stdin:
        word, *cycles = line.split()
        if word == "quit":
            break
        watch, figures = bench.run(int(cycles[0]))
        pairs = "".join(" %s=%g" % pair for pair in figures.items())
        say("done %d %d%s" % (watch.wall, watch.cpu, pairs))


def main():
    benches = {"uncontended": Uncontended, "contended": Contended}
    if bench_name not in benches:
        say("unsupported no such bench")
        return
    bench = benches[bench_name]()
    say("ready")
    obey(bench)
    bench.finish()


try:
    main()
except Exception as error:
    fail(error)
os._exit(0)
