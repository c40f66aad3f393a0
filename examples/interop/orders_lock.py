#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python side of a lock that C and Java programs share: README.md."""

import sys

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import LockTimeout

from curator_lock import CuratorLock


def main(hosts="127.0.0.1:2181", path="/locks/orders"):
    client = KazooClient(hosts)
    client.start()
    # A new object for each acquire: curator_lock.py says why.
    lock = CuratorLock(client, path, "orders_lock.py")
    try:
        lock.acquire(timeout=10)
    except LockTimeout:
        sys.exit("somebody else has it")
    try:
        # kazoo does not say when the lock is lost: ask before each step
        # whether the connection stands.
        for step in range(1, 4):
            if client.state != KazooState.CONNECTED:
                raise RuntimeError("connection lost")
            print("Python: step", step)
    finally:
        lock.release()
        client.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
