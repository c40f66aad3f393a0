# SPDX-License-Identifier: Apache-2.0
"""Locks of kazoo that share a path with Curator and zkrecipes.

kazoo names its nodes so that Curator does not see them, and does not see
Curator's. These do, in both directions; all else is kazoo's. Nobody on the path
may use kazoo's own classes then.

The directory of a lock may be a container, which the server removes when it is
empty; kazoo's locks do not expect that. Make a new lock object for each
acquire, or create the directory beforehand, persistent.
"""

from kazoo.recipe.lock import ForceRetryError, Lock


class CuratorLock(Lock):
    """Curator: InterProcessMutex; zkrecipes: zkr_mutex."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["lock-", "__lock__"]


class CuratorWriteLock(Lock):
    """Curator: InterProcessReadWriteLock.writeLock(); zkrecipes: zkr_rwlock."""

    _NODE_NAME = "-__WRIT__"
    _EXCLUDE_NAMES = ["__WRIT__", "__READ__"]


class CuratorReadLock(Lock):
    """Curator: InterProcessReadWriteLock.readLock(); zkrecipes: zkr_rwlock."""

    _NODE_NAME = "-__READ__"
    _EXCLUDE_NAMES = ["__WRIT__"]

    def _get_predecessor(self, node):
        """kazoo before 2.9 also waits for the writers behind it (#649)."""
        names = self.client.get_children(self.path)
        if node not in names:
            raise ForceRetryError()
        found = map(self._contenders_re.search, names)
        ahead = [m for m in found if m and m.group(1) < node[-10:]]
        last = max(ahead, key=lambda m: m.group(1), default=None)
        return last and last.string


class CuratorLatch(Lock):
    """Curator: LeaderLatch; zkrecipes: zkr_leader. It goes into an Election of
    kazoo: election.lock = CuratorLatch(client, path, id)."""

    _NODE_NAME = "-latch-"
    _EXCLUDE_NAMES = ["latch-", "__lock__"]
