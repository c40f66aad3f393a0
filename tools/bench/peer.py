# SPDX-License-Identifier: Apache-2.0
"""A peer: a program that does cycles of one kind when it is asked.

    PROGRAM TARGET BENCH [key=value]...

TARGET is the address of the servers. The peer connects, prepares, warms up,
and prints "ready", or "unsupported WHY". Then it obeys lines:

    run N   do N cycles, print "done WALL_NS CPU_NS [key=value]..."
    quit    (or end of file) close everything, end with status 0

The peer measures by itself: WALL_NS on a monotonic clock around the cycles,
CPU_NS is the time of all its threads in user and system mode. The pairs are
further figures, of one cycle, such as acquire_ns. "run 0" does no cycle: it
brings back the state that the next batch begins with (Peer.tidy). An error is
a line "error SENTENCE" and status 1. A peer prints nothing else.
"""

import os
import select
import subprocess
import time

READY_S = 180  # these only end what hangs
BATCH_S = 300
QUIT_S = 30


class PeerError(Exception):
    pass


class Unsupported(Exception):
    pass


class Process:
    """A peer that runs."""

    def __init__(self, name, command, environment, log):
        self.name = name
        self.buffer = b""
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )

    def fail(self, why):
        raise PeerError("%s: %s" % (self.name, why))

    def read_line(self, seconds):
        deadline = time.monotonic() + seconds
        fd = self.process.stdout.fileno()
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                self.fail("no answer after %d s" % seconds)
            some = os.read(fd, 65536)
            if not some:
                self.fail("ended with status %d" % self.process.wait())
            self.buffer += some
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def answer(self, expected, seconds):
        word, _, rest = self.read_line(seconds).partition(" ")
        if word == "unsupported":
            raise Unsupported(rest)
        if word != expected:
            self.fail("%s %s" % (word, rest))
        return rest

    def await_ready(self):
        self.answer("ready", READY_S)

    def send(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.fail("ended with status %d" % self.process.wait())

    def run(self, cycles):
        """Returns wall and CPU time in ns, and the further figures."""
        self.send("run %d" % cycles)
        wall, cpu, *pairs = self.answer("done", BATCH_S).split()
        more = dict(pair.split("=", 1) for pair in pairs)
        return int(wall), int(cpu), {k: float(v) for k, v in more.items()}

    def stop(self):
        """Ends it in order, or kills it; returns whether it was in order."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return self.process.wait(QUIT_S) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()
