# SPDX-License-Identifier: Apache-2.0
"""The systems that peers talk to: started when the first peer needs one.

A system is a class with
    start(directory, nodes)   start so many servers there; a constructor
    target                    their address, the first argument of a peer
    counters()                what they have counted up to now, or {}
    since(counters)           what they have counted since: {"requests": n, ...}
    fault(name)               a context manager, in which it happens; None: none
    stop()
"""

import contextlib
import os

import rivals
from zookeeper import ZooKeeper


class Nothing:
    """For peers that need no server."""

    target = "-"

    def __init__(self, directory, nodes):
        pass

    def counters(self):
        return {}

    def since(self, before):
        return {}

    def fault(self, name):
        return contextlib.nullcontext()

    def stop(self):
        pass


SYSTEMS = {"none": Nothing, "zookeeper": ZooKeeper, **rivals.SYSTEMS}


class Servers:
    """All systems that run, by name and number of servers."""

    def __init__(self, options):
        self.work = os.path.abspath(options.work)
        self.running = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for system in self.running.values():
            system.stop()

    def get(self, name, nodes):
        if (name, nodes) not in self.running:
            directory = os.path.join(self.work, "%s-%d" % (name, nodes))
            self.running[name, nodes] = SYSTEMS[name](directory, nodes)
        return self.running[name, nodes]

