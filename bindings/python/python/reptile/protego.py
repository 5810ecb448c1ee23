"""Protego's interface on Reptile: ``from reptile.protego import Protego``.

The reading is that of RFC 9309, which is nearest to Protego's own: the longest matching rule decides, ``*`` and ``$`` have a meaning,
equal rules allow, and ``%7E`` is ``~``.
"""

import datetime
import re
from collections import namedtuple
from collections.abc import Iterator

from . import _agents
from ._native import Robots

__all__ = ["Protego", "RequestRate", "VisitTime"]

RequestRate = namedtuple("RequestRate", "requests seconds start_time end_time")
VisitTime = namedtuple("VisitTime", "start_time end_time")

_RATE = re.compile(r"^(\d+)\s*/\s*(\d+)\s*([smhd]?)(?:\s+(\d{4})\s*-\s*(\d{4}))?$", re.ASCII | re.IGNORECASE)
_TIMES = re.compile(r"^(\d{4})\s*-\s*(\d{4})$", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class Protego:
    """Answers questions about one robots.txt."""

    def __init__(self, robots: Robots, resolver: _agents.Resolver) -> None:
        self._robots = robots
        self._resolver = resolver

    @classmethod
    def parse(cls, content: str) -> "Protego":
        """Reads a robots.txt."""
        if not isinstance(content, str):
            raise ValueError("the robots.txt has to be a str")
        robots = Robots(_agents.encoded(content), "rfc9309")
        return cls(robots, _agents.Resolver(robots, content))

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Whether a crawler may fetch a URL."""
        return self._resolver.agent(user_agent).decide(_agents.path_of(url)) == "allow"

    def crawl_delay(self, user_agent: str) -> float | None:
        """The value of ``Crawl-delay`` for a crawler, in seconds."""
        for line in self._lines(user_agent, "crawl-delay"):
            try:
                delay = float(line["value"])
            except ValueError:
                continue
            if 0 <= delay < float("inf"):
                return delay
        return None

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """The value of ``Request-rate`` for a crawler: requests, seconds, and from when until when it holds."""
        for line in self._lines(user_agent, "request-rate"):
            found = _RATE.match(line["value"].strip())
            if found:
                requests, number, unit, start, end = found.groups()
                seconds = int(number) * _SECONDS[unit.lower()]
                times = (_time(start), _time(end)) if start else (None, None)
                if seconds and (not start or None not in times):
                    return RequestRate(int(requests), seconds, *times)
        return None

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """The value of ``Visit-time`` for a crawler."""
        for line in self._lines(user_agent, "visit-time"):
            found = _TIMES.match(line["value"].strip())
            start, end = (_time(text) for text in found.groups()) if found else (None, None)
            if start and end:
                return VisitTime(start, end)
        return None

    @property
    def sitemaps(self) -> Iterator[str]:
        """The addresses of all sitemaps."""
        return iter([line["value"] for line in self._robots.directives if line["kind"] == "sitemap"])

    @property
    def preferred_host(self) -> str | None:
        """The value of ``Host``."""
        return next((line["value"] for line in self._robots.directives if line["kind"] == "host"), None)

    def _lines(self, user_agent: str, kind: str) -> list[dict]:
        return [line for line in self._resolver.agent(user_agent).directives("/") if line["kind"] == kind]


def _time(text: str) -> datetime.time | None:
    try:
        return datetime.time(int(text[:2]), int(text[2:]))
    except ValueError:
        return None
