# SPDX-License-Identifier: Apache-2.0
"""ZooKeeper servers, by tools/zk-dev, and what they have counted."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time

ZK_DEV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../zk-dev")
# As in production: the compiler that optimizes, and memory for long queues. The
# directories that one sub-benchmark leaves are not removed during the next one.
JAVA_OPTIONS = (
    "-Xmx768m -XX:TieredStopAtLevel=4 "
    "-Dznode.container.checkIntervalMs=86400000"
)
COUNTED = {
    "zk_packets_received": "requests",
    "zk_bytes_received_count": "bytes",
    "zk_proposal_count": "writes",
}


class ZooKeeper:
    def __init__(self, directory, nodes, environment={}):
        self.directory = directory
        self.environment = environment
        try:
            line = self.zk_dev("up", "--nodes", str(nodes))
        except BaseException:  # also when this process is told to end
            self.stop()
            raise
        self.target = line.strip().partition("=")[2]
        once = self.read_counters()
        twice = self.read_counters()
        # The question itself adds this.
        self.own = {name: twice[name] - once[name] for name in once}

    def zk_dev(self, *words):
        environment = dict(
            os.environ, ZK_DEV_JAVA_OPTS=JAVA_OPTIONS, **self.environment
        )
        command = [ZK_DEV, *words, "--dir", self.directory]
        return subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout

    def ask(self, server, word):
        host, port = server.rsplit(":", 1)
        answer = b""
        with socket.create_connection((host, int(port)), timeout=30) as s:
            s.sendall(word.encode())
            while some := s.recv(65536):
                answer += some
        return answer.decode()

    def read_counters(self):
        """The sum of all servers."""
        counted = dict.fromkeys(COUNTED.values(), 0)
        for server in self.servers():
            for line in self.ask(server, "mntr").splitlines():
                name, _, value = line.partition("\t")
                if name in COUNTED:
                    counted[COUNTED[name]] += int(float(value))
        return counted

    def counters(self):
        return dict(
            self.read_counters(),
            quorum_bytes=self.quorum_bytes(),
            server_cpu_ns=self.cpu_ns(),
        )

    def files(self, name):
        """What the file of this name of each server has."""
        for number in range(1, len(self.servers()) + 1):
            with open(os.path.join(self.directory, str(number), name)) as file:
                yield file.read()

    def quorum_bytes(self):
        """Those that the leader and the others have said to each other."""
        ports = re.findall(
            r"^server\..*:(\d+):", next(self.files("zoo.cfg")), re.M
        )
        if not ports:
            return 0
        ends = " or ".join("sport = :" + port for port in ports)
        told = subprocess.run(
            ["ss", "-tin", "state", "established", "( %s )" % ends],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout
        counts = re.findall(r"\bbytes_(?:sent|received):(\d+)", told)
        return sum(int(count) for count in counts)

    def cpu_ns(self):
        """Of all servers."""
        ticks = 0
        for pid in self.files("pid"):
            with open("/proc/%d/stat" % int(pid)) as file:
                after_name = file.read().rpartition(")")[2].split()
            ticks += int(after_name[11]) + int(after_name[12])
        return ticks * 10**9 // os.sysconf("SC_CLK_TCK")


    def since(self, before):
        """What was received since then, without the question."""
        now = self.counters()
        return {
            name: now[name] - before[name] - self.own.get(name, 0)
            for name in now
        }

    def fault(self, name):
        if name is None:
            return contextlib.nullcontext()
        assert name == "leader killed"
        return self.leader_killed()

    @contextlib.contextmanager
    def leader_killed(self):
        """A second after its begin; it is started again at the end."""
        number = self.leader()
        file = os.path.join(self.directory, str(number), "pid")
        with open(file) as text:
            pid = int(text.read())
        with open("/proc/%d/cmdline" % pid) as text:
            command = text.read().rstrip("\0").split("\0")
        timer = threading.Timer(1, os.kill, (pid, signal.SIGKILL))
        timer.start()
        try:
            yield
        finally:
            timer.join()
            self.start_again(number, command, file)

    def servers(self):
        return self.target.split(",")

    @property
    def followers(self):
        servers = self.servers()
        del servers[self.leader() - 1]
        return ",".join(servers)

    def leader(self):
        for number, server in enumerate(self.servers(), 1):
            if "Mode: leader" in self.ask(server, "srvr"):
                return number
        raise RuntimeError("there is no leader")

    def start_again(self, number, command, file):
        with open(os.path.join(self.directory, str(number), "log"), "a") as log:
            server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        with open(file, "w") as text:
            text.write("%d\n" % server.pid)
        deadline = time.monotonic() + 60
        while not self.all_serve():
            if time.monotonic() > deadline:
                raise RuntimeError("server %d does not serve" % number)
            time.sleep(0.1)

    def all_serve(self):
        try:
            return all("Mode: " in self.ask(s, "srvr") for s in self.servers())
        except OSError:
            return False

    def stop(self):
        self.zk_dev("down")
