# SPDX-License-Identifier: Apache-2.0
"""Counts, from what two clients of a lock did, what should not have happened."""

from dataclasses import dataclass


@dataclass
class Event:
    what: str  # see peers/rival_trial.c
    who: str
    asked_ns: int
    token: int


def parse(record):
    what, who, asked_ns, token = record.decode().split()
    return Event(what, who, int(asked_ns), int(token))


class Judge:
    """It hears the events in the order in which the resource has got them."""

    def __init__(self):
        self.both = 0  # writes of one who believed, while another one did
        self.stale = 0  # writes after one of a later holder
        self.fenced = 0  # those of them that a check of tokens lets through
        self.has_token = False
        self.untold = False  # believed until it released what another one had
        self.left = False  # the newest has begun to release it
        self.done = set()  # who has released
        self.newest = None  # who was granted the lock last
        self.granted_ns = {}
        self.believes = {}
        self.highest = 0  # token that has written
        self.newest_wrote = False

    def hear(self, event):
        getattr(self, "on_" + event.what)(event)

    def on_ready(self, event):
        pass

    def on_granted(self, event):
        self.lost = self.newest is not None and not self.left
        self.left = False
        self.newest = event.who
        self.newest_wrote = False
        self.granted_ns[event.who] = event.asked_ns
        self.believes[event.who] = True

    def on_write(self, event):
        self.believes[event.who] = True
        if event.token:
            self.has_token = True
        if event.who != self.newest:
            self.on_write_of_older(event)
        else:
            self.newest_wrote = True
        self.highest = max(self.highest, event.token)

    def on_write_of_older(self, event):
        """It was granted the lock before the newest, and has not released."""
        asked_later = event.asked_ns > self.granted_ns[self.newest]
        if asked_later and self.believes[self.newest]:
            self.both += 1
        if self.newest_wrote:
            self.stale += 1
            self.fenced += event.token >= self.highest

    def on_doubt(self, event):
        self.believes[event.who] = False

    def on_leaving(self, event):
        if event.who == self.newest:
            self.left = True
        elif self.believes[event.who]:
            self.untold = True
        self.believes[event.who] = False

    def on_left(self, event):
        self.done.add(event.who)

    on_failed = on_left

    def was_granted(self, who):
        return who in self.granted_ns
