"""Caches open sets and crawlers, for engines that call a function per partition or batch in worker processes."""

import os
import threading

from ._native import Agents, Set
from ._native import open as open_set

MAX_OPEN = 8
"""Maximum number of cached sets, each with the crawlers of a query."""

_kept: dict[tuple[object, ...], Agents | Set] = {}
_lock = threading.Lock()


def agents(path: str, names: tuple[str, ...], exact: bool) -> Agents:
    """Returns crawlers resolved by a set file; see ``opened``."""
    found = opened(path, names, exact)
    assert isinstance(found, Agents)
    return found


def opened(path: str, names: tuple[str, ...] | None, exact: bool) -> Agents | Set:
    """Returns crawlers resolved by a set file, which is mapped, or the set itself without names.

    The result is cached until another file is renamed over the set. A cached result costs one ``stat`` call.
    """
    state = os.stat(path)
    key = (path, names, exact, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    with _lock:
        found = _kept.pop(key, None)
        if found is None:
            web = open_set(path, map=True)
            found = web if names is None else web.agents(names, exact=exact)
        # Reinsert the entry, so that the least recently used is evicted first.
        _kept[key] = found
        while len(_kept) > MAX_OPEN:
            del _kept[next(iter(_kept))]
    return found
