"""Finds the group that a `User-Agent` obeys, for the drop-ins, which accept any text as a name."""

import urllib.parse

from . import _lines
from ._native import Agent, Robots

_MAX_CACHED = 256
"""Maximum number of resolved user agents that are cached."""

# Under RFC 9309, a product token contains only letters, hyphens and underscores.
_LETTERS = str.maketrans("0123456789", "abcdefghij")

HOST = "http://host"
"""A placeholder host, so that a path may begin with two slashes."""

ESCAPE = "!"
"""Replaces the percent sign in the texts that Reptile compares. Encoded texts do not contain it, and Reptile neither
decodes nor encodes it. So each character counts once, and no escape is decoded twice."""


def encoded(text: str) -> bytes:
    """Encodes a string, and restores the original bytes if it was decoded with ``surrogateescape``."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def quoted(data: bytes, safe: str) -> str:
    """Percent-encodes all bytes but letters, digits, ``_.-~`` and ``safe``, with ``ESCAPE`` for the percent sign."""
    return urllib.parse.quote(data, safe).replace("%", ESCAPE)


class Resolver:
    """The compiled groups of a robots.txt, and the crawlers that obey them."""

    def __init__(self, groups: list[_lines.Group], at_start: bool) -> None:
        """With ``at_start``, a name matches at the start of a word in the user agent; otherwise anywhere. Of two names
        with the same length, the first in the file counts."""
        # With `at_start`, `*` is a name with one letter that matches every user agent.
        names = list(dict.fromkeys(name.lower() for group in groups for name in group.names if at_start or name != "*"))
        names.sort(key=len, reverse=True)
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
        if name == "*":
            return True
        place = text.find(name)
        while self._at_start and place > 0 and (text[place - 1].isalnum() or text[place - 1] in "-_"):
            place = text.find(name, place + 1)
        return place >= 0
