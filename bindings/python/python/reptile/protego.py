"""Protego's interface, backed by Reptile: ``from reptile.protego import Protego``.

Lines, crawler names and percent-encoding are read as in Protego 0.7. As in Protego, the matching rule whose
percent-encoded pattern is longest decides, ``*`` and a final ``$`` are operators, and allow wins a tie. ``judged`` runs
Protego's own tests, and ``judged --real`` compares verdicts on real files.
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

_PLAIN_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?(/(?!/)[A-Za-z0-9_.~/=-]*)").fullmatch
"""A URL whose path needs no encoding."""

_PLAIN_PATTERN = re.compile(r"[A-Za-z0-9_.~/=*-]+\$?").fullmatch
"""A pattern that needs no encoding."""

_KEPT_IN_URLS = re.compile(rb"%(2[Ff5])")
_KEPT_IN_PATTERNS = re.compile(rb"%(2[AaFf5])")
"""Escapes that are not decoded: slashes, percent signs, and in patterns the operator ``*``."""

_START = "/"
"""Added before all rules and paths that Reptile compares, so that no path is ``/robots.txt``, which RFC 9309 always
allows, and no rule without a slash matches."""

_MAX_DIGITS = 18
"""Maximum number of digits in a number."""


class Protego:
    """Answers queries about one robots.txt."""

    def __init__(self, lines: _lines.Lines) -> None:
        self._lines = lines
        for group in lines.groups:
            group.rules = [rule for key, value in group.rules for rule in _rules(key, value)]
        self._resolver = _agents.Resolver(lines.groups, at_start=True)

    @classmethod
    def parse(cls, content: str) -> "Protego":
        """Parses a robots.txt."""
        if not isinstance(content, str):
            raise TypeError(f"Protego.parse expects str, got {type(content).__name__}")
        return cls(_lines.Lines(content[: _lines.MAX_BYTES].splitlines(), is_generous=True))

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Returns whether a crawler may fetch a URL. Every crawler may fetch /robots.txt."""
        if "/robots.txt" in url and urllib.parse.urlparse(url).path == "/robots.txt":
            return True
        return self._resolver.agent(user_agent).decide(_agents.HOST + _START + _path(url)) == "allow"

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


def _rules(key: str, value: str) -> Iterator[tuple[str, str]]:
    """Yields a line's rules. A ``$`` also matches literally, and allowing an index page allows its folder."""
    patterns = [value.replace("$", "%24"), value] if "$" in value else [value]
    for pattern in filter(None, map(_pattern, patterns)):
        yield key, _START + pattern
        if key == "allow" and pattern.endswith("/index.html"):
            yield key, _START + pattern.removesuffix("index.html") + "$"


def _pattern(value: str) -> str:
    """Returns a rule's pattern as Protego encodes it, with ``_agents.ESCAPE`` for percent signs."""
    if _PLAIN_PATTERN(value):
        return value
    value = "/" + value if value.startswith(("http://", "https://")) else value
    anchor = "$" if value.endswith("$") else ""
    return _quoted(value.removesuffix("$"), _KEPT_IN_PATTERNS, "/%=*") + anchor


def _path(url: str) -> str:
    """Returns a URL's path and query as Protego encodes them, with ``_agents.ESCAPE`` for percent signs.

    Raises ``ValueError`` if the URL is malformed.
    """
    plain = _PLAIN_URL(url)
    if plain:
        return plain[1]
    url = url.partition("#")[0]
    parts = urllib.parse.urlsplit(url)
    # `urlsplit` does not distinguish an empty query from a missing one.
    path = _quoted(parts.path + (f"?{parts.query}" if "?" in url else ""), _KEPT_IN_URLS, "/%=")
    return path if path.startswith("/") else "/" + path


def _quoted(text: str, kept: re.Pattern[bytes], safe: str) -> str:
    """Normalizes percent-encoding: decodes all escapes but ``kept``, and encodes all characters but letters, digits,
    ``_.-~`` and ``safe``."""
    data = _agents.encoded(text)
    if b"%" in data:
        # Escape the percent signs of escapes that are kept. Bytes that are not UTF-8 are replaced.
        data = urllib.parse.unquote_to_bytes(kept.sub(lambda found: b"%25" + found[1].upper(), data))
        data = data.decode("utf-8", "replace").encode()
    return _agents.quoted(data, safe)


def _time(text: str) -> datetime.time | None:
    try:
        return datetime.time(int(text[:-2]), int(text[-2:]))
    except ValueError:
        return None
