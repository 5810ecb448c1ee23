"""``urllib.robotparser`` on Reptile: ``from reptile.robotparser import RobotFileParser``.

The signatures are those of the standard library. The reading is that of RFC 9309, which CPython took over in 2026: the longest
matching rule decides, ``*`` and ``$`` in paths have a meaning, and equal rules allow. Older versions of CPython let the first
matching line decide and take ``*`` and ``$`` literally; where the two differ, this is the newer one. Of groups, the one with the
longest name that is part of the user agent counts, and groups of the same name are one.
"""

import time
import urllib.error
import urllib.parse
import urllib.request
from collections import namedtuple
from collections.abc import Iterable

from . import _agents
from ._native import Agent, Robots

__all__ = ["RequestRate", "RobotFileParser"]

RequestRate = namedtuple("RequestRate", "requests seconds")

_MAX_BYTES = 16 << 20
"""The most bytes of a robots.txt that are read; Reptile takes no more."""


class RobotFileParser:
    """Reads a robots.txt, and answers whether a URL may be fetched."""

    def __init__(self, url: str = "") -> None:
        self.disallow_all = False
        self.allow_all = False
        self.last_checked: float = 0
        self._body = ""
        self._robots: Robots | None = None
        self._resolver: _agents.Resolver | None = None
        self.set_url(url)

    def mtime(self) -> float:
        """The time when the robots.txt was last fetched, in seconds since 1970; 0 if it was not."""
        return self.last_checked

    def modified(self) -> None:
        """Sets the time when the robots.txt was last fetched to now."""
        self.last_checked = time.time()

    def set_url(self, url: str) -> None:
        """Sets the URL of the robots.txt."""
        self.url = url
        self.host, self.path = urllib.parse.urlsplit(url)[1:3]

    def read(self) -> None:
        """Fetches the robots.txt and reads it. 401 and 403 disallow everything, other answers of 400 to 499 allow everything."""
        try:
            answer = urllib.request.urlopen(self.url)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                self.disallow_all = True
            elif 400 <= error.code < 500:
                self.allow_all = True
            error.close()
        else:
            with answer:
                body = answer.read(_MAX_BYTES)
            self.parse(body.decode("utf-8", "surrogateescape").splitlines())

    def parse(self, lines: Iterable[str]) -> None:
        """Reads the lines of a robots.txt."""
        self._body = "\n".join(line.rstrip("\r\n") for line in lines)
        self._robots = Robots(_agents.encoded(self._body), "rfc9309")
        self._resolver = _agents.Resolver(self._robots, self._body)
        self.modified()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Whether a crawler may fetch a URL. False until a robots.txt was read."""
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        agent = self._agent(useragent)
        return agent is not None and agent.decide(_agents.path_of(url)) == "allow"

    def crawl_delay(self, useragent: str) -> int | None:
        """The value of ``Crawl-delay`` for a crawler, if it is a whole number."""
        value = self._value(useragent, "crawl-delay")
        return int(value) if value is not None and value.isascii() and value.isdigit() else None

    def request_rate(self, useragent: str) -> RequestRate | None:
        """The value of ``Request-rate`` for a crawler, if it is two whole numbers."""
        parts = (self._value(useragent, "request-rate") or "").split("/")
        if len(parts) == 2 and all(part.strip().isascii() and part.strip().isdigit() for part in parts):
            return RequestRate(int(parts[0]), int(parts[1]))
        return None

    def site_maps(self) -> list[str] | None:
        """The addresses of all sitemaps; None if there are none."""
        if self._robots is None:
            return None
        found = [line["value"] for line in self._robots.directives if line["kind"] == "sitemap"]
        return found or None

    def __str__(self) -> str:
        return self._body

    def _agent(self, useragent: str) -> Agent | None:
        if self._resolver is None or not self.last_checked:
            return None
        return self._resolver.agent(useragent)

    def _value(self, useragent: str, kind: str) -> str | None:
        agent = self._agent(useragent)
        lines = [] if agent is None else agent.directives("/")
        return next((line["value"].strip() for line in lines if line["kind"] == kind), None)
