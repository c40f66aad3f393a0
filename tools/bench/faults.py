# SPDX-License-Identifier: Apache-2.0
"""Trials of faults: does a lock have two holders, is one lost, does one hang?

In a trial, client A takes the lock and writes to a resource every 10 ms while it
believes that it holds; client B waits for the lock, and does the same when it
has it. The fault strikes A, its servers or its connections, and ends. A second
later A releases. The resource is the judge (judge.py), which counts.

The locks have their trials at the same time, each with servers of its own.
"""

import concurrent.futures
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import time
import traceback

import rivals
import table
from cable import Cable
from daemons import Clock, wait_for
from judge import Judge, parse

EXPIRY_MS = 2000
TRIALS = 3
FAULT_S = 2.5 * EXPIRY_MS / 1000  # how long a fault lasts
SMOKE_S = 0.3
WRITE_S = 0.15  # A writes, and B has tried in vain, and is between two attempts
SETTLE_S = 1
LATE_S = 2.5 * EXPIRY_MS / 1000  # a client that waits for longer hangs
START_S = 60
CLOCK_S = 60  # how far clocks are moved


class Fault:
    name = "none"
    title = "none: A works for longer than the expiry"
    a_is_out = False  # A can neither work nor renew: B has to get the lock
    primary_dies = False
    servers_clock = False
    clients_clock = False

    def prepare(self, trial):
        """Before A takes the lock."""

    def strike(self, trial):
        pass

    def heal(self, trial):
        pass


class Pause(Fault):
    name = "pause"
    title = "A is paused beyond the expiry, wherever it is"
    a_is_out = True

    def strike(self, trial):
        trial.a.process.send_signal(signal.SIGSTOP)

    def heal(self, trial):
        trial.a.process.send_signal(signal.SIGCONT)


class PauseBeforeWrite(Pause):
    name = "pause-before-write"
    title = "A is paused beyond the expiry, after it has asked, before it writes"

    def strike(self, trial):
        trial.a.say("gap")
        wait_for("gap", trial.a.is_stopped)


class PrimaryDies(Fault):
    name = "primary-dies"
    title = "the primary dies before its copy has heard of A"
    primary_dies = True

    def prepare(self, trial):
        trial.system.lag()

    def strike(self, trial):
        moved = trial.system.fail_over()
        for cable in trial.cables:
            cable.port_there = moved.get(cable.port_there, cable.port_there)


class ServersClock(Fault):
    name = "servers-clock"
    title = "the wall clock of the servers is set forward by a minute"
    servers_clock = True

    def strike(self, trial):
        trial.servers_clock.move(CLOCK_S)


class ServersClockBack(Pause):
    name = "servers-clock-back"
    title = "the same, back by a minute, and A is paused"
    servers_clock = True

    def strike(self, trial):
        trial.servers_clock.move(-CLOCK_S)
        super().strike(trial)


class ClientsClock(Fault):
    name = "clients-clock"
    title = "the wall clock of B is set forward by a minute"
    clients_clock = True

    def strike(self, trial):
        trial.clients_clock.move(CLOCK_S)


class Cut(Fault):
    name = "cut"
    title = "A is cut off for longer than the expiry"
    a_is_out = True

    def strike(self, trial):
        for cable in trial.a.cables:
            cable.cut()

    def heal(self, trial):
        for cable in trial.a.cables:
            cable.mend()


PRIMARY_DIES = PrimaryDies()
FAULTS = (
    Fault(),
    Pause(),
    PauseBeforeWrite(),
    PRIMARY_DIES,
    ServersClock(),
    ServersClockBack(),
    ClientsClock(),
    Cut(),
)
# Name, system, lock.
LOCKS = tuple(row[:3] for row in table.RIVAL_LOCKS) + (
    ("RedLock, synced", "redlock-always", "redlock"),
    ("Redis SET NX PX, unchecked", "redis", "redis-unchecked"),
)
SYSTEMS = dict(rivals.SYSTEMS, zookeeper=rivals.Ensemble)


class Client:
    """A process that runs peers/rival_trial.c, on cables of its own."""

    def __init__(self, name, program, lock, system, resource, log, clock):
        ports = [int(a.rsplit(":", 1)[1]) for a in system.target.split(",")]
        self.cables = [Cable(port) for port in ports]
        target = ",".join(cable.address for cable in self.cables)
        options = {
            "lock": lock,
            "name": "trial",
            "ttl_ms": EXPIRY_MS,
            "client": name,
            "fd": resource.fileno(),
        }
        self.process = subprocess.Popen(
            [program, target, "trial"] + ["%s=%s" % o for o in options.items()],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=dict(os.environ, **(clock.environment if clock else {})),
            pass_fds=(resource.fileno(),),
        )

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def is_stopped(self):
        with open("/proc/%d/stat" % self.process.pid) as file:
            return file.read().rpartition(")")[2].split()[0] == "T"

    def remove(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        for cable in self.cables:
            cable.remove()


class Trial:
    """One fault, once, for one lock."""

    def __init__(self, fault, row, seconds, directory, build):
        self.fault = fault
        self.seconds = seconds
        self.name, self.system_name, self.lock = row
        self.directory = directory
        self.peers = os.path.join(build, "tools/bench/peers")
        self.judge = Judge()

    def clock(self, wanted, name):
        if not wanted:
            return None
        library = os.path.join(self.peers, "wall-clock.so")
        return Clock(library, os.path.join(self.directory, name + ".clock"))

    def start_all(self, stack):
        """What is on the stack is removed, whatever happens."""
        os.makedirs(self.directory)
        self.servers_clock = self.clock(self.fault.servers_clock, "servers")
        self.clients_clock = self.clock(self.fault.clients_clock, "clients")
        self.records, resource = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET
        )
        stack.callback(self.records.close)
        stack.callback(resource.close)
        of = SYSTEMS[self.system_name]
        self.system = of(
            os.path.join(self.directory, "servers"),
            of.copies if self.fault.primary_dies else 1,
            self.servers_clock,
        )
        stack.callback(self.system.stop)
        log = stack.enter_context(open(self.directory + "/clients.log", "wb"))
        program = table.PROGRAMS["rival " + self.system_name].command[0]
        program = program.replace("{build}/tools/bench/peers", self.peers)
        for name, clock in ("A", None), ("B", self.clients_clock):
            client = Client(
                name, program, self.lock, self.system, resource, log, clock
            )
            setattr(self, name.lower(), client)
            stack.callback(client.remove)
            self.listen_for("ready", name)
        self.cables = self.a.cables + self.b.cables

    def listen(self, seconds, until=lambda event: False):
        """Whether that event has come."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.records.settimeout(left)
            try:
                event = parse(self.records.recv(256))
            except TimeoutError:
                break
            self.judge.hear(event)
            if until(event):
                return True
        return False

    def listen_for(self, what, who):
        wanted = lambda event: (event.what, event.who) == (what, who)
        if not self.listen(START_S, wanted):
            with open(self.directory + "/clients.log") as log:
                said = log.read().strip()
            raise TimeoutError(
                "%s, %s: %s is not %s: %s"
                % (self.fault.name, self.name, who, what, said)
            )

    def run(self):
        """What was counted."""
        with contextlib.ExitStack() as stack:
            self.start_all(stack)
            self.fault.prepare(self)
            self.a.say("acquire")
            self.listen_for("granted", "A")
            self.b.say("acquire")
            self.listen(WRITE_S)
            self.fault.strike(self)
            self.listen(self.seconds)
            in_time = self.judge.was_granted("B")
            self.fault.heal(self)
            self.listen(SETTLE_S)
            self.a.say("release")
            self.listen(LATE_S, lambda _: self.is_over())
            if not self.fault.a_is_out:
                in_time = self.judge.was_granted("B")
            return self.verdict(in_time)

    def is_over(self):
        return "A" in self.judge.done and self.judge.was_granted("B")

    def verdict(self, in_time):
        return {
            "both": self.judge.both,
            "stale": self.judge.stale,
            "fenced": self.judge.fenced if self.judge.has_token else None,
            "lost": int(self.judge.lost),
            "untold": int(self.judge.untold),
            "stuck": int(not in_time),
        }


def add(total, verdict):
    """How many trials had it, and how many writes there were."""
    total["trials"] = total.get("trials", 0) + 1
    for name, count in verdict.items():
        if count is None:
            continue
        total[name] = total.get(name, 0) + bool(count)
        if name in ("both", "stale", "fenced"):
            total[name + "_writes"] = total.get(name + "_writes", 0) + count


def unsupported(fault, row):
    system = SYSTEMS[row[1]]
    if fault.servers_clock and not system.moves_clock:
        return "a Go program asks the kernel for the time, not the C library"
    return None


class Faults:
    """All of them; results[fault][lock] is what was counted."""

    def __init__(self, options, say):
        self.options = options
        self.say = say
        self.results = {}
        self.failures = 0

    def run(self):
        number = 0
        for title, pairs in self.rounds():
            begin = time.monotonic()
            number += 1
            with concurrent.futures.ThreadPoolExecutor(len(LOCKS)) as pool:
                for fault, row in pairs:
                    pool.submit(self.run_one, fault, row, number)
            self.say("faults, %s, %.0f s" % (title, time.monotonic() - begin))
        return self.results

    def rounds(self):
        """Trials that run at the same time. A smoke is about the programs: each
        system loses its primary once, and each lock has one fault more."""
        if self.options.smoke:
            yield "primary-dies", [(PRIMARY_DIES, row) for row in LOCKS]
            yield "one of all", list(zip(itertools.cycle(FAULTS), LOCKS))
            return
        for fault in FAULTS:
            if (self.options.variant or "") in fault.name:
                for _ in range(1 if self.options.quick else TRIALS):
                    yield fault.name, [(fault, row) for row in LOCKS]

    def run_one(self, fault, row, number):
        total = self.results.setdefault(fault.name, {}).setdefault(row[0], {})
        why = unsupported(fault, row)
        if why:
            total["unsupported"] = why
            return
        place = "faults/%d/%s-%s" % (number, row[1], row[2])
        directory = os.path.join(os.path.abspath(self.options.work), place)
        build = os.path.abspath(self.options.build)
        seconds = SMOKE_S if self.options.smoke else FAULT_S
        try:
            add(total, Trial(fault, row, seconds, directory, build).run())
        except Exception as error:
            self.failures += 1
            self.say(
                "faults, %s, %s: FAILED: %s" % (fault.name, row[0], error)
            )
            if not isinstance(error, (OSError, subprocess.SubprocessError)):
                traceback.print_exc()
