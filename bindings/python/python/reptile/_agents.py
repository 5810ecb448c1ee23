"""Which group of a robots.txt a `User-Agent` obeys, as the drop-ins need it: they are called with any text for a name."""

import re
import urllib.parse
from collections.abc import Callable

from . import _lines
from ._native import Agent, Robots

_MAX_CACHED = 256
"""The most user agents that are kept resolved."""

# Only letters and hyphens are part of a product token under RFC 9309.
_LETTERS = str.maketrans("0123456789", "abcdefghij")

# A URL in which nothing is encoded, and nothing has to be.
_PLAIN = re.compile(r"(?:https?://[A-Za-z0-9.:-]+)?(/(?:[A-Za-z0-9_.~-][A-Za-z0-9_.~/=&,;:+-]*)?(?:\?[A-Za-z0-9_.~/=&,;:+-]*)?)").fullmatch

_HOST = "http://host"
"""A host that stands for any: a path after it may begin with two slashes."""


def encoded(text: str) -> bytes:
    """The bytes of a text: those that it was decoded from with ``surrogateescape``, if it was."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def url_of(url: str, decoded: Callable[[str], str]) -> str | bytes:
    """The part of a URL that rules are about, as a URL for ``Agent.decide``.

    Raises ``ValueError`` if the URL is malformed.
    """
    plain = _PLAIN(url)
    if plain:
        return _HOST + plain[1]
    parts = urllib.parse.urlsplit(url)
    # `urlsplit` does not tell an empty query from none.
    mark = "?" if "?" in url.partition("#")[0] else ""
    path = parts.path if parts.path.startswith("/") else "/" + parts.path
    return encoded(_HOST + decoded(path + mark + parts.query).replace("#", "%23"))


class Resolver:
    """The groups of one robots.txt, compiled, and the crawlers that obey them."""

    def __init__(self, groups: list[_lines.Group], at_start: bool) -> None:
        """With ``at_start`` a name counts where a word of the user agent begins with it, otherwise wherever it is in it."""
        names = sorted({name.lower() for group in groups for name in group.names} - {"*"}, key=lambda name: (-len(name), name))
        self._tokens = {name: "x-" + str(number).translate(_LETTERS) for number, name in enumerate(names)} | {"*": "*"}
        self._names = names
        self._at_start = at_start
        self._groups = groups
        self._robots = Robots(encoded(_lines.body(groups, self._tokens)), "rfc9309")
        self._cached: dict[str, tuple[Agent, str]] = {}

    def agent(self, user_agent: str) -> Agent:
        """The crawler of the longest name of a group that is part of the user agent, or else one that obeys the group of ``*``."""
        return self._resolved(user_agent)[0]

    def values(self, user_agent: str, key: str) -> list[str]:
        """The values of a key, such as ``crawl-delay``, among the groups that a crawler obeys, the last one first."""
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
