"""Protego's interface, backed by Reptile: ``from reptile.protego import Protego``.

Lines, crawler names and percent-encoding are read like Protego 0.7. Rules follow RFC 9309, as in Protego: the longest
matching rule decides, ``*`` and ``$`` are operators, and allow wins a tie. ``judged`` runs Protego's own tests.
"""

import datetime
import re
import urllib.parse
from collections import namedtuple
from collections.abc import Iterator

from . import _agents, _lines

__all__ = ["Protego", "RequestRate", "VisitTime"]

RequestRate = namedtuple("RequestRate", "requests seconds start_time end_time")
VisitTime = namedtuple("VisitTime", "start_time end_time")

_RATE = re.compile(r"(\d+)/(\d+)([smhd]?)(?:\s+(\d{3,4})-(\d{3,4}))?", re.ASCII | re.IGNORECASE)
_TIMES = re.compile(r"(\d{3,4})\s*[- ]\s*(\d{3,4})", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}

_KEPT = "/%*$# \\"
"""Characters that stay percent-encoded: slashes, pattern operators, and characters that would be lost."""

_MAX_DIGITS = 18
"""Maximum number of digits in a number."""


class Protego:
    """Answers queries about one robots.txt."""

    def __init__(self, lines: _lines.Lines) -> None:
        self._lines = lines
        for group in lines.groups:
            group.rules = [(key, path) for key, written in group.rules for path in _patterns(key, written)]
        self._resolver = _agents.Resolver(lines.groups, at_start=True)

    @classmethod
    def parse(cls, content: str) -> "Protego":
        """Parses a robots.txt."""
        if not isinstance(content, str):
            raise TypeError(f"Protego.parse expects str, got {type(content).__name__}")
        return cls(_lines.Lines(content[: _lines.MAX_BYTES].splitlines(), is_generous=True))

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Returns whether a crawler may fetch a URL. Every crawler may fetch /robots.txt."""
        if "/robots.txt?" in url and urllib.parse.urlsplit(url).path == "/robots.txt":
            return True
        return self._resolver.agent(user_agent).decide(_agents.url_of(url, _decoded)) == "allow"

    def crawl_delay(self, user_agent: str) -> float | None:
        """Returns a crawler's ``Crawl-delay`` in seconds."""
        for value in self._resolver.values(user_agent, "crawl-delay"):
            try:
                delay = float(value)
            except ValueError:
                continue
            if 0 <= delay < float("inf"):
                return delay
        return None

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """Returns a crawler's ``Request-rate``: requests, seconds, and the hours during which it applies."""
        for value in self._resolver.values(user_agent, "request-rate"):
            found = _RATE.fullmatch(value)
            if found and len(found[1]) <= _MAX_DIGITS and len(found[2]) <= _MAX_DIGITS:
                requests, number, unit, start, end = found.groups()
                seconds = int(number) * _SECONDS[unit.lower()]
                times = (_time(start), _time(end)) if start else (None, None)
                if int(requests) and seconds and (not start or None not in times):
                    return RequestRate(int(requests), seconds, *times)
        return None

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Returns a crawler's ``Visit-time``."""
        for value in self._resolver.values(user_agent, "visit-time"):
            found = _TIMES.fullmatch(value)
            start, end = (_time(text) for text in found.groups()) if found else (None, None)
            if start and end:
                return VisitTime(start, end)
        return None

    @property
    def sitemaps(self) -> Iterator[str]:
        """The URLs of all sitemaps."""
        return iter(self._lines.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The value of ``Host``."""
        return self._lines.host


def _patterns(key: str, path: str) -> Iterator[str]:
    """Yields a rule's patterns. A ``$`` also matches literally, and allowing an index page allows its folder."""
    path = _decoded("/" + path if path.startswith(("http://", "https://")) else path)
    yield path
    if "$" in path:
        yield path.replace("$", "%24")
    if key == "allow" and path.endswith("/index.html"):
        yield path.removesuffix("index.html") + "$"


def _decoded(text: str) -> str:
    return _lines.decoded(text, _KEPT, _KEPT)


def _time(text: str) -> datetime.time | None:
    try:
        return datetime.time(int(text[:-2]), int(text[-2:]))
    except ValueError:
        return None
