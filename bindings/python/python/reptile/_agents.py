"""Which group of a robots.txt a `User-Agent` obeys, as the drop-ins need it: they are called with any text for a name."""

import re
import urllib.parse

from ._native import Agent, Robots

_LINES = re.compile(r"(?im)^[ \t]*user-?agent[ \t]*:[ \t]*([^#\r\n]*)")

_MAX_CACHED = 256
"""The most user agents that are kept resolved."""


def encoded(text: str) -> bytes:
    """The bytes of a text: those that it was decoded from with ``surrogateescape``, if it was."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def path_of(url: str) -> bytes:
    """The part of a URL that rules are about, behind a host that is nobody's: a path may begin with two slashes."""
    parts = urllib.parse.urlsplit(url)
    path = parts.path if parts.path.startswith("/") else "/" + parts.path
    return encoded(f"http://host{path}{'?' + parts.query if parts.query else ''}")


class Resolver:
    """Resolves user agents, names or whole headers, for one robots.txt."""

    def __init__(self, robots: Robots, body: str) -> None:
        self._robots = robots
        # A name such as `Googlebot/2.1` is read without its version. The longest name counts.
        found = {name.split("/")[0].strip().lower() for name in _LINES.findall(body)} - {"", "*"}
        self._names = sorted(found, key=lambda name: (-len(name), name))
        self._cached: dict[str, Agent] = {}

    def agent(self, user_agent: str) -> Agent:
        """The crawler of the longest name of a group that is part of the user agent, or else of its own name."""
        agent = self._cached.get(user_agent)
        if agent is None:
            text = user_agent.strip().lower()
            name = next((name for name in self._names if name in text), text.split("/")[0].strip() or "*")
            if len(self._cached) >= _MAX_CACHED:
                self._cached.clear()
            agent = self._cached[user_agent] = self._robots.agent(name, verbatim=True)
        return agent
