#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The fair mutex from Python, through ctypes: no module is needed.

    ./mutex.py 127.0.0.1:2181 /locks/orders
"""

import ctypes
import os
import sys
from contextlib import contextmanager

lib = ctypes.CDLL(os.environ.get("ZKRECIPES_LIBRARY", "libzkrecipes.so.0"))
lib.zkr_strerror.restype = ctypes.c_char_p
lib.zkr_error_detail.restype = ctypes.c_char_p
lib.zkr_grant_token.restype = ctypes.c_int64
# Pointers are more than an int, which ctypes takes for granted.
for name in ("zkr_session_close", "zkr_lockable_free", "zkr_grant_check"):
    getattr(lib, name).argtypes = [ctypes.c_void_p]
for name in ("zkr_grant_token", "zkr_grant_release", "zkr_grant_free"):
    getattr(lib, name).argtypes = [ctypes.c_void_p]
lib.zkr_session_open.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 2
lib.zkr_mutex_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p] + [
    ctypes.c_void_p
] * 2
# zkr_mutex_acquire() is a short form in the header, not in the library.
lib.zkr_lockable_acquire.argtypes = [
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_void_p,
]


def check(code):
    if code != 0:
        raise OSError(code, lib.zkr_error_detail().decode())


@contextmanager
def opened(free, call, *arguments):
    """What a call returns through its last argument, until it is freed."""
    made = ctypes.c_void_p()
    check(call(*arguments, ctypes.byref(made)))
    try:
        yield made
    finally:
        free(made)


def main(hosts="127.0.0.1:2181", path="/locks/orders"):
    # ctypes gives up Python's own lock during a call, so other threads run.
    with opened(
        lib.zkr_session_close, lib.zkr_session_open, hosts.encode(), None
    ) as session, opened(
        lib.zkr_lockable_free, lib.zkr_mutex_new, session, path.encode(), None
    ) as mutex, opened(
        lib.zkr_grant_free, lib.zkr_lockable_acquire, mutex, None, 10000
    ) as grant:
        check(lib.zkr_grant_check(grant))
        print("held, token", lib.zkr_grant_token(grant))
        check(lib.zkr_grant_release(grant))


main(*sys.argv[1:])
