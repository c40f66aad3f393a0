# SPDX-License-Identifier: Apache-2.0
"""Servers of other systems: each a process on a free port of 127.0.0.1, with a
directory of its own, which is ended by its pid."""

import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import time

HOST = "127.0.0.1"
START_S = 60


def free_port():
    """Below the range from which the kernel takes ports for clients."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind((HOST, port))
                return port
            except OSError:
                pass


def wait_for(what, condition, seconds=START_S):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("%s: not within %d s" % (what, seconds))
        time.sleep(0.02)


class Clock:
    """The wall clock of the processes that have its environment; it can be
    moved while they run. Their monotonic clocks stay."""

    def __init__(self, library, path):
        self.path = path
        self.environment = {"LD_PRELOAD": library, "WALL_CLOCK": path}
        with open(path, "wb") as file:
            file.write(bytes(8))

    def move(self, seconds):
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=q", seconds * 1000000000))


class Ended(Exception):
    pass


class Daemon:
    """One server. command(port, directory) is its command line."""

    def __init__(self, directory, command, clock=None):
        self.directory = directory
        self.command = command
        self.port = free_port()
        self.environment = dict(os.environ)
        if clock:
            self.environment.update(clock.environment)
        os.makedirs(directory, exist_ok=True)
        self.spawn()

    def spawn(self):
        """It may have been killed before."""
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.command(self.port, self.directory),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env=self.environment,
                start_new_session=True,
            )

    def answers(self):
        """Ended: perhaps another program has taken the port meanwhile."""
        if self.process.poll() is not None:
            raise Ended(self.directory)
        try:
            socket.create_connection((HOST, self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def await_answer(self):
        wait_for(self.directory, self.answers)

    @property
    def address(self):
        return "%s:%d" % (HOST, self.port)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def remove(self):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
