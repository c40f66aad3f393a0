"""ZooKeeper servers, by tools/zk-dev, and what they have counted."""

import contextlib
import os
import socket
import subprocess

ZK_DEV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../zk-dev")
# As in production: the compiler that optimizes, and memory for long queues.
JAVA_OPTIONS = "-Xmx768m -XX:TieredStopAtLevel=4"
COUNTED = {
    "zk_packets_received": "requests",
    "zk_bytes_received_count": "bytes",
}


class ZooKeeper:
    def __init__(self, directory, nodes):
        self.directory = directory
        line = self.zk_dev("up", "--nodes", str(nodes))
        self.target = line.strip().partition("=")[2]
        once = self.read_counters()
        twice = self.read_counters()
        # What the question itself adds.
        self.own = {name: twice[name] - once[name] for name in once}

    def zk_dev(self, *words):
        environment = dict(os.environ, ZK_DEV_JAVA_OPTS=JAVA_OPTIONS)
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
        for server in self.target.split(","):
            for line in self.ask(server, "mntr").splitlines():
                name, _, value = line.partition("\t")
                if name in COUNTED:
                    counted[COUNTED[name]] += int(float(value))
        return counted

    counters = read_counters

    def since(self, before):
        """What was received since then, without the question."""
        now = self.read_counters()
        return {name: now[name] - before[name] - self.own[name] for name in now}

    def fault(self, name):
        if name is None:
            return contextlib.nullcontext()
        raise NotImplementedError(name)

    def stop(self):
        self.zk_dev("down")
