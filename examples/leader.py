#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""From Python, through ctypes, without a module: leads, watches a node, and
writes it as long as the term lasts.

    ./leader.py 127.0.0.1:2181 /services/mail

What it repeats of the headers it compares with layout.txt of the installation,
which has more structures.
"""

import ctypes
import os
import queue
import sys
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p

ANY_VERSION = -1
ZNONODE = -101
WATCH_DATA = 1
GAINED = 1


class TxnOpts(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("guard", c_void_p)]


class LeaderEvent(ctypes.Structure):
    _fields_ = [("kind", c_int), ("error", c_int), ("token", c_int64)]


class Reply(ctypes.Structure):
    """struct zkr_reply, as far as we read it: the library makes it."""

    _fields_ = [("data", c_void_p), ("len", c_size_t)]


def check_layout(path=os.environ.get("ZKRECIPES_LAYOUT", "/usr/share/zkrecipes/layout.txt")):
    if not os.path.exists(path):
        return print(f"not compared: no {path}", file=sys.stderr)
    with open(path, encoding="ascii") as listing:
        facts = {name: int(number) for name, number, *_ in map(str.split, listing)}
    assert ZNONODE == facts["ZKR_ZNONODE"] and WATCH_DATA == facts["ZKR_WATCH_DATA"]
    assert GAINED == facts["ZKR_LEADER_GAINED"] and ctypes.sizeof(TxnOpts) == facts["zkr_txn_opts"]
    for name, struct in ("txn_opts", TxnOpts), ("leader_event", LeaderEvent), ("reply", Reply):
        for member, _ in struct._fields_:
            assert getattr(struct, member).offset == facts[f"zkr_{name}.{member}"], member


check_layout()
LeaderFn = ctypes.CFUNCTYPE(None, c_void_p, POINTER(LeaderEvent), c_void_p)
WatchFn = ctypes.CFUNCTYPE(None, c_int, POINTER(Reply), c_int, c_void_p)

lib = ctypes.CDLL(os.environ.get("ZKRECIPES_LIBRARY", "libzkrecipes.so.0.1"))
# Pointers and sizes are more than an int, which ctypes takes for granted.
for name, *arguments in (
    ("session_open", c_char_p, c_void_p, c_void_p),
    ("session_close", c_void_p),
    ("session_watch", c_void_p, c_char_p, c_int, c_void_p, WatchFn, c_void_p, c_void_p),
    ("watch_free", c_void_p),
    ("leader_new", c_void_p, c_char_p, c_void_p, LeaderFn, c_void_p, c_void_p),
    ("leader_campaign", c_void_p),
    ("leader_wait", c_void_p, c_int64),
    ("leader_grant", c_void_p, c_void_p),
    ("leader_leave", c_void_p),
    ("leader_free", c_void_p),
    ("grant_free", c_void_p),
    ("txn_new", c_void_p, POINTER(TxnOpts), c_void_p),
    ("txn_set", c_void_p, c_char_p, c_char_p, c_size_t, c_int32),
    ("txn_create", c_void_p, c_char_p, c_char_p, c_size_t, c_void_p),
    ("txn_commit", c_void_p, c_int64),
    ("txn_free", c_void_p),
):
    getattr(lib, "zkr_" + name).argtypes = arguments
lib.zkr_error_detail.restype = c_char_p


class Error(Exception):
    def __init__(self, code):
        super().__init__(lib.zkr_error_detail().decode())
        self.code = code


def check(code):
    if code != 0:
        raise Error(code)


@contextmanager
def made(free, call, *arguments):
    """What a call returns through its last argument, until it is freed."""
    result = c_void_p()
    check(call(*arguments, ctypes.byref(result)))
    try:
        yield result
    finally:
        free(result)


def write(term, node, data):
    """Refused when the term is over, even when we have not been told yet."""
    opts = TxnOpts(ctypes.sizeof(TxnOpts), term.value)

    def commit(add, *last):
        with made(lib.zkr_txn_free, lib.zkr_txn_new, None, opts) as txn:
            check(add(txn, node, data, len(data), *last))
            check(lib.zkr_txn_commit(txn, 5000))

    try:
        commit(lib.zkr_txn_set, ANY_VERSION)
    except Error as error:
        if error.code != ZNONODE:
            raise
        commit(lib.zkr_txn_create, None)


def main(hosts="127.0.0.1:2181", path="/services/mail"):
    states = queue.Queue()
    node = f"{path}-state".encode()
    step = f"step of {os.getpid()}".encode()

    # They run on a thread of the library, and live as long as what calls them.
    # ctypes gives up Python's own lock during a call, so they can.
    @LeaderFn
    def led(_leader, event, _user):
        kind = "it leads" if event[0].kind == GAINED else "do not act"
        print(f"{kind}, term {event[0].token}", flush=True)

    @WatchFn
    def seen(error, reply, _why, _user):
        if error == 0 and reply[0].data:
            states.put(ctypes.string_at(reply[0].data, reply[0].len))

    with made(
        lib.zkr_session_close, lib.zkr_session_open, hosts.encode(), None
    ) as session, made(
        lib.zkr_watch_free, lib.zkr_session_watch, session, node, WATCH_DATA, None, seen, None
    ), made(
        lib.zkr_leader_free, lib.zkr_leader_new, session, path.encode(), None, led, None
    ) as leader:
        check(lib.zkr_leader_campaign(leader))
        check(lib.zkr_leader_wait(leader, 60000))
        with made(lib.zkr_grant_free, lib.zkr_leader_grant, leader) as term:
            write(term, node, step)
        while states.get(timeout=60) != step:
            pass
        print(f"{step.decode()}: written, and seen")
        check(lib.zkr_leader_leave(leader))


main(*sys.argv[1:])
