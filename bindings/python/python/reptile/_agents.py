"""Finds the group that a `User-Agent` obeys, for the drop-ins, which accept any text as a name."""

import re
import urllib.parse
from collections.abc import Callable

from . import _lines
from ._native import Agent, Robots

_MAX_CACHED = 256
"""Maximum number of resolved user agents that are cached."""

# Under RFC 9309, a product token contains only letters, hyphens and underscores.
_LETTERS = str.maketrans("0123456789", "abcdefghij")

# A URL without percent-encoding, and without characters that need it.
_PLAIN = re.compile(r"(?:https?://[A-Za-z0-9.:-]+)?(/(?:[A-Za-z0-9_.~-][A-Za-z0-9_.~/=&,;:+-]*)?(?:\?[A-Za-z0-9_.~/=&,;:+-]*)?)").fullmatch

_HOST = "http://host"
"""A placeholder host, so that the path may begin with two slashes."""


def encoded(text: str) -> bytes:
    """Encodes a string, and restores the original bytes if it was decoded with ``surrogateescape``."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def url_of(url: str, decoded: Callable[[str], str]) -> str | bytes:
    """Returns the part of a URL that rules match, as a URL for ``Agent.decide``.

    Raises ``ValueError`` if the URL is malformed.
    """
    plain = _PLAIN(url)
    if plain:
        return _HOST + plain[1]
    parts = urllib.parse.urlsplit(url)
    # `urlsplit` does not distinguish an empty query from a missing one.
    mark = "?" if "?" in url.partition("#")[0] else ""
    path = parts.path if parts.path.startswith("/") else "/" + parts.path
    return encoded(_HOST + decoded(path + mark + parts.query).replace("#", "%23"))


class Resolver:
    """The compiled groups of a robots.txt, and the crawlers that obey them."""

    def __init__(self, groups: list[_lines.Group], at_start: bool) -> None:
        """With ``at_start``, a name matches at the start of a word in the user agent; otherwise anywhere."""
        names = sorted({name.lower() for group in groups for name in group.names} - {"*"}, key=lambda name: (-len(name), name))
        self._tokens = {name: "x-" + str(number).translate(_LETTERS) for number, name in enumerate(names)} | {"*": "*"}
        self._names = names
        self._at_start = at_start
        self._groups = groups
        self._robots = Robots(encoded(_lines.body(groups, self._tokens)), "rfc9309")
        self._cached: dict[str, tuple[Agent, str]] = {}

    def agent(self, user_agent: str) -> Agent:
        """Returns the crawler for the longest group name in the user agent, or one that obeys the group for ``*``."""
        return self._resolved(user_agent)[0]

    def values(self, user_agent: str, key: str) -> list[str]:
        """Returns a key's values, such as ``crawl-delay``, in the groups that a crawler obeys, the last one first."""
        name = self._resolved(user_agent)[1]
        groups = [group for group in self._groups if key in group.values and name in map(str.lower, group.names)]
        return [value for group in groups for value in group.values[key]][::-1]

    def _resolved(self, user_agent: str) -> tuple[Agent, str]:
        found = self._cached.get(user_agent)
        if found is None:
            text = user_agent.strip().lower()
            name = next((name for name in self._names if self._is_part(name, text)), "*")
            if len(self._cached) >= _MAX_CACHED:
                self._cached.clear()
            found = self._cached[user_agent] = (self._robots.agent(self._tokens[name], verbatim=True), name)
        return found

    def _is_part(self, name: str, text: str) -> bool:
        place = text.find(name)
        while self._at_start and place > 0 and (text[place - 1].isalnum() or text[place - 1] in "-_"):
            place = text.find(name, place + 1)
        return place >= 0
