# SPDX-License-Identifier: Apache-2.0
"""The systems whose locks are compared with ours.

For the benchmark they are what servers.py says. A trial in which the primary
dies starts `copies` of them, and calls
    lag()         from now on one copy, or a minority, hears of no write
    fail_over()   the primary dies, and the one that did not hear takes its
                  place; returns {port: port} for clients that turn to it
"""

import contextlib
import json
import os
import signal
import subprocess
import urllib.request

from cable import Cable
from daemons import HOST, Daemon, START_S, Ended, free_port, wait_for
from zookeeper import ZooKeeper

ATTEMPTS = 5


class System:
    """Some daemons; target is the address of those that clients talk to."""

    copies = 1  # servers in a trial in which the primary dies
    moves_clock = True

    def __init__(self, directory, nodes, clock=None):
        self.directory = directory
        self.clock = clock
        for attempt in range(ATTEMPTS):
            self.daemons = []
            try:
                return self.begin(nodes)
            except BaseException as error:
                self.stop()
                if not isinstance(error, Ended) or attempt + 1 == ATTEMPTS:
                    raise

    def add(self, command):
        """Its directory may have been made before."""
        self.daemons.append(Daemon(self.next_place(), command, self.clock))
        return self.daemons[-1]

    def next_place(self):
        return os.path.join(self.directory, str(len(self.daemons) + 1))

    def await_all(self):
        for daemon in self.daemons:
            daemon.await_answer()

    @property
    def target(self):
        return ",".join(daemon.address for daemon in self.daemons)

    def counters(self):
        return {}

    def since(self, before):
        return {}

    def fault(self, name):
        return contextlib.nullcontext()

    def stop(self):
        for daemon in self.daemons:
            daemon.remove()


class Redis(System):
    """As it comes: a snapshot now and then, no log of the writes."""

    copies = 2
    settings = ("--appendonly", "no")

    def begin(self, nodes):
        for _ in range(nodes):
            self.add(self.command)
        self.await_all()
        if nodes > 1:
            self.cable = Cable(self.daemons[0].port)
            self.ask(1, "REPLICAOF", *self.cable.address.split(":"))
            wait_for("replica", lambda: "up" in self.link())

    def command(self, port, directory):
        words = ["redis-server", "--bind", HOST, "--port", str(port)]
        words += ["--dir", directory, "--repl-diskless-sync-delay", "0"]
        return words + list(self.settings)

    @property
    def target(self):
        return self.daemons[0].address

    def ask(self, number, *words):
        port = str(self.daemons[number].port)
        command = ["redis-cli", "-h", HOST, "-p", port, *words]
        return subprocess.run(
            command, stdout=subprocess.PIPE, check=True, text=True
        ).stdout

    def link(self):
        for line in self.ask(1, "INFO", "replication").splitlines():
            if line.startswith("master_link_status:"):
                return line
        return ""

    def lag(self):
        self.cable.cut()

    def fail_over(self):
        old, new = self.daemons
        old.kill()
        self.ask(1, "REPLICAOF", "NO", "ONE")
        self.cable.remove()
        return {old.port: new.port}


class RedisAlways(Redis):
    """Each write is in the log, and on the disk, before it is answered."""

    settings = ("--appendonly", "yes", "--appendfsync", "always")


class RedLock(System):
    """Five servers that know nothing of each other. Instead of a failover: two
    of them are down when the lock is taken; then they start again, and so does
    one of those that have the lock."""

    copies = 5
    settings = Redis.settings
    command = Redis.command

    def begin(self, nodes):
        for _ in range(5):
            self.add(self.command)
        self.await_all()

    def lag(self):
        for daemon in self.daemons[3:]:
            daemon.kill()

    def fail_over(self):
        self.daemons[0].kill()
        for daemon in self.daemons[0], *self.daemons[3:]:
            daemon.spawn()
        return {}


class RedLockAlways(RedLock):
    settings = RedisAlways.settings


TABLES = """
CREATE DATABASE bench; USE bench;
CREATE TABLE lock_rows (name VARCHAR(100) PRIMARY KEY, owner VARCHAR(40));
CREATE TABLE lock_names (name VARCHAR(100) PRIMARY KEY);
CREATE TABLE lock_versions (name VARCHAR(100) PRIMARY KEY,
  version BIGINT NOT NULL, until DATETIME(3) NOT NULL);
"""


class MariaDB(System):
    """InnoDB with innodb_flush_log_at_trx_commit=1 and sync_binlog=1: each
    commit is on the disk before it is answered. The replica is asynchronous."""

    copies = 2

    def begin(self, nodes):
        for _ in range(nodes):
            self.install(self.next_place())
            self.add(self.command)
        self.await_all()
        if nodes > 1:
            self.replicate()
        self.ask(0, TABLES)
        if nodes > 1:
            wait_for("replica", lambda: "lock_versions" in self.tables())

    def install(self, directory):
        command = ["mariadb-install-db", "--no-defaults", "--user=root"]
        command += ["--datadir=" + os.path.join(directory, "data")]
        # Those that share /tmp remove each other's tables.
        command += ["--tmpdir=" + directory]
        command += ["--auth-root-authentication-method=normal"]
        command += ["--skip-test-db", "--innodb-log-file-size=8M"]
        os.makedirs(directory)
        with open(os.path.join(directory, "log"), "w") as log:
            subprocess.run(command, stdout=log, stderr=log, check=True)

    def command(self, port, directory):
        settings = {
            "user": "root",
            "bind-address": HOST,
            "port": port,
            "server-id": port,
            "datadir": directory + "/data",
            "tmpdir": directory,
            "socket": directory + "/socket",
            "pid-file": directory + "/pid",
            "log-bin": "log",
            "sync-binlog": 1,
            "innodb-flush-log-at-trx-commit": 1,
            "innodb-log-file-size": "8M",
            "innodb-buffer-pool-size": "16M",
            "skip-name-resolve": 1,
        }
        return ["mariadbd", "--no-defaults"] + [
            "--%s=%s" % pair for pair in settings.items()
        ]

    def replicate(self):
        primary = self.daemons[0].port
        self.ask(
            1,
            "CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=%d,"
            " MASTER_USER='root', MASTER_USE_GTID=slave_pos; START SLAVE;"
            % (HOST, primary),
        )

    @property
    def target(self):
        return self.daemons[0].address

    def ask(self, number, statements):
        command = ["mariadb", "--no-defaults", "-h", HOST, "-uroot", "-N"]
        command += ["-P", str(self.daemons[number].port)]
        return subprocess.run(
            command,
            input=statements,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout

    def tables(self):
        return self.ask(
            1,
            "SELECT table_name FROM information_schema.tables"
            " WHERE table_schema = 'bench'",
        )

    def lag(self):
        self.ask(1, "STOP SLAVE")

    def fail_over(self):
        old, new = self.daemons
        old.kill()
        self.ask(1, "RESET SLAVE ALL")
        return {old.port: new.port}


class Memcached(System):
    """It has no copies: the server is killed and started again."""

    def begin(self, nodes):
        self.add(self.command)
        self.await_all()

    def command(self, port, directory):
        return ["memcached", "-l", HOST, "-p", str(port), "-u", "root"]

    def lag(self):
        pass

    def fail_over(self):
        self.daemons[0].kill()
        self.daemons[0].spawn()
        return {}


class Etcd(System):
    """Each write is on the disks of a majority before it is answered."""

    copies = 3
    moves_clock = False  # a Go program reads the clock without the C library

    def begin(self, nodes):
        self.peers = [free_port() for _ in range(nodes)]
        for _ in range(nodes):
            self.add(self.command)
        for number in range(nodes):
            wait_for("etcd", lambda: self.is_healthy(number))

    def command(self, port, directory):
        number = int(os.path.basename(directory)) - 1
        urls = ["http://%s:%d" % (HOST, peer) for peer in self.peers]
        client = "http://%s:%d" % (HOST, port)
        settings = {
            "name": "m%d" % number,
            "data-dir": directory + "/data",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": urls[number],
            "initial-advertise-peer-urls": urls[number],
            "initial-cluster": ",".join(
                "m%d=%s" % pair for pair in enumerate(urls)
            ),
        }
        return ["etcd"] + ["--%s=%s" % pair for pair in settings.items()]

    def post(self, number, path):
        url = "http://%s%s" % (self.daemons[number].address, path)
        with urllib.request.urlopen(url, b"{}", timeout=START_S) as answer:
            return json.load(answer)

    def is_healthy(self, number):
        """Its leader is known, and requests are answered."""
        if not self.daemons[number].answers():
            return False
        try:
            return self.post(number, "/v3/maintenance/status").get("leader")
        except OSError:
            return False

    def leader(self):
        status = self.post(0, "/v3/maintenance/status")
        for number in range(len(self.daemons)):
            of = self.post(number, "/v3/maintenance/status")
            if of["header"]["member_id"] == status["leader"]:
                return number
        raise RuntimeError("etcd has no leader")

    def lag(self):
        """Not the first: clients have connected to it, and a request for a
        lock has no time limit."""
        old = self.leader()
        self.old = self.daemons[old]
        self.late = self.daemons[1 if old == 2 else 2]
        self.late.freeze()

    def fail_over(self):
        self.old.kill()
        self.late.thaw()
        return {}


class Ensemble(ZooKeeper):
    """ZooKeeper for the trials: it can lose its leader."""

    copies = 3
    moves_clock = True

    def __init__(self, directory, nodes, clock=None):
        environment = clock.environment if clock else {}
        super().__init__(directory, nodes, environment)

    def members(self):
        """The pid of each server, and whether it leads."""
        members = []
        for line in self.zk_dev("status").splitlines():
            _, _, pid, mode = line.split()
            members.append((int(pid), mode == "leader"))
        return sorted(members, key=lambda member: member[1])

    def lag(self):
        self.late, self.leader = self.members()[0][0], self.members()[-1][0]
        os.kill(self.late, signal.SIGSTOP)

    def fail_over(self):
        os.kill(self.leader, signal.SIGKILL)
        os.kill(self.late, signal.SIGCONT)
        return {}


SYSTEMS = {
    "redis": Redis,
    "redis-always": RedisAlways,
    "redlock": RedLock,
    "redlock-always": RedLockAlways,
    "mariadb": MariaDB,
    "memcached": Memcached,
    "etcd": Etcd,
}
