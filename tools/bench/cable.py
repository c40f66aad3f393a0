# SPDX-License-Identifier: Apache-2.0
"""A cable between one client and one server, which can be cut and mended.

While it is cut nothing passes and nothing is refused: what is sent comes later,
as where a network loses packets for a while. It can be led to another server:
connections that exist stay where they are, and new ones go there.
"""

import socket
import threading

from daemons import HOST


class Cable:
    def __init__(self, port):
        self.port_there = port
        self.whole = threading.Event()
        self.whole.set()
        self.sockets = []
        self.listener = socket.create_server((HOST, 0))
        self.address = "%s:%d" % self.listener.getsockname()
        self.thread(self.accept)

    def thread(self, function, *arguments):
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def accept(self):
        while True:
            try:
                here = self.listener.accept()[0]
            except OSError:
                return  # removed
            self.sockets.append(here)
            self.thread(self.join, here)

    def join(self, here):
        self.whole.wait()
        try:
            there = socket.create_connection((HOST, self.port_there))
        except OSError:
            here.close()
            return
        self.sockets.append(there)
        for end in here, there:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.thread(self.carry, there, here)
        self.carry(here, there)

    def carry(self, source, sink):
        """In one direction; an end of the stream ends both."""
        try:
            while some := source.recv(65536):
                self.whole.wait()
                sink.sendall(some)
        except OSError:
            pass
        self.whole.wait()
        for end in source, sink:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.whole.clear()

    def mend(self):
        self.whole.set()

    def remove(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.mend()
        for end in self.sockets:
            end.close()
