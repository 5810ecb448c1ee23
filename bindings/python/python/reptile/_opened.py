"""Crawlers of sets that a process keeps open, for engines that call a function for each partition or batch in processes of their own."""

import os
import threading

from ._native import Agents
from ._native import open as open_set

MAX_OPEN = 8
"""The most pairs of a set and crawlers that a process keeps: those of the queries that run side by side."""

_kept: dict[tuple, Agents] = {}
_lock = threading.Lock()


def agents(path: str, names: tuple[str, ...], exact: bool) -> Agents:
    """Crawlers, resolved by the set in a file, which is mapped.

    That is done once for as long as the file is the same: one that was renamed over it is opened anew. Costs a look at the file
    otherwise.
    """
    state = os.stat(path)
    key = (path, names, exact, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    with _lock:
        found = _kept.pop(key, None)
        if found is None:
            found = open_set(path, map=True).agents(names, exact=exact)
        # What was used last is the last to go.
        _kept[key] = found
        while len(_kept) > MAX_OPEN:
            del _kept[next(iter(_kept))]
    return found
