"""``urllib.robotparser``, backed by Reptile: ``from reptile.robotparser import RobotFileParser``.

The signatures and the dialect are the standard library's. The dialect is RFC 9309, which CPython adopted in 2026
(3.13.14, 3.14.5): the longest matching rule decides, ``*`` and ``$`` are operators in paths, allow wins a tie, and
groups with the same name are merged. In older versions of CPython, the first matching line decides, and ``*`` and ``$``
are literal.

There are four differences from the new version. The longest rule is the rule with the longest pattern, not the rule
that matches the longest part of the URL. If a user agent contains several groups' names, the longest name counts, not
the first, and an empty name matches nothing. Fragments are not compared. A URL without a slash after its host has the
path ``/``. DROP-INS.md has examples. ``judged`` runs the standard library's own tests.
"""

import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import namedtuple
from collections.abc import Iterable

from . import _agents, _lines
from ._native import Agent

__all__ = ["RequestRate", "RobotFileParser"]

RequestRate = namedtuple("RequestRate", "requests seconds")

_PLAIN = re.compile(
    r"(?:https?://[A-Za-z0-9.:-]+)?(/(?:[A-Za-z0-9_.~-][A-Za-z0-9_.~/-]*)?(?:\?[A-Za-z0-9_.~/=&-]*)?)"
).fullmatch
"""A URL whose path needs no encoding."""

_MAX_DIGITS = 18
"""Maximum number of digits in a number."""


class RobotFileParser:
    """Parses a robots.txt, and decides whether URLs may be fetched."""

    def __init__(self, url: str = "") -> None:
        self.disallow_all = False
        self.allow_all = False
        self.last_checked: float = 0
        self._lines = _lines.Lines([], is_generous=False)
        self._resolver: _agents.Resolver | None = None
        self.set_url(url)

    def mtime(self) -> float:
        """Returns the time of the last fetch in seconds since 1970, or 0 if there was none."""
        return self.last_checked

    def modified(self) -> None:
        """Sets the time of the last fetch to now."""
        self.last_checked = time.time()

    def set_url(self, url: str) -> None:
        """Sets the robots.txt URL, a str or a ``urllib.request.Request``."""
        self.url = url
        if isinstance(url, urllib.request.Request):
            url = url.full_url
        self.host, self.path = urllib.parse.urlsplit(url)[1:3]

    def read(self) -> None:
        """Fetches and parses the robots.txt.

        The statuses 401, 403 and 500 to 599 disallow everything, other statuses from 400 to 499 allow everything.
        """
        try:
            answer = urllib.request.urlopen(self.url)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403) or 500 <= error.code < 600:
                self.disallow_all = True
            elif 400 <= error.code < 500:
                self.allow_all = True
            error.close()
        else:
            with answer:
                body = answer.read(_lines.MAX_BYTES)
            self.parse(body.decode("utf-8", "surrogateescape").splitlines())

    def parse(self, lines: Iterable[str]) -> None:
        """Parses the lines of a robots.txt."""
        self._lines = _lines.Lines(lines, is_generous=False)
        for group in self._lines.groups:
            group.rules = [(key, path) for key, written in group.rules if (path := _pattern(written)) is not None]
        self._resolver = _agents.Resolver(self._lines.groups, at_start=False)
        self.modified()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Returns whether a crawler may fetch a URL. False before a robots.txt is read. Malformed URLs match no rule."""
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        agent = self._agent(useragent)
        if agent is None:
            return False
        try:
            return agent.decide(_agents.HOST + _path(url)) == "allow"
        except ValueError:
            return True

    def crawl_delay(self, useragent: str) -> int | None:
        """Returns a crawler's ``Crawl-delay`` if it is an integer."""
        found = (_number(value) for value in self._values(useragent, "crawl-delay"))
        return next((number for number in found if number is not None), None)

    def request_rate(self, useragent: str) -> RequestRate | None:
        """Returns a crawler's ``Request-rate`` if it consists of two integers."""
        for value in self._values(useragent, "request-rate"):
            numbers = [_number(part) for part in value.split("/")]
            if len(numbers) == 2 and None not in numbers:
                return RequestRate(*numbers)
        return None

    def site_maps(self) -> list[str] | None:
        """Returns the URLs of all sitemaps, or None if there are none."""
        return self._lines.sitemaps or None

    def __str__(self) -> str:
        return "\n\n".join(map(_text, self._lines.groups))

    def _agent(self, useragent: str) -> Agent | None:
        if self._resolver is None or not self.last_checked:
            return None
        return self._resolver.agent(useragent)

    def _values(self, useragent: str, key: str) -> list[str]:
        if self._resolver is None or not self.last_checked:
            return []
        return self._resolver.values(useragent, key)


def _pattern(path: str) -> str | None:
    """Returns a rule's pattern, or None if it contains a ``$`` before its end."""
    path = re.sub(r"[$][$*]+", "$", re.sub(r"[*]+", "*", path))
    return None if "$" in path[:-1] else _normal(path, "*$")


def _path(url: str) -> str:
    """Returns the part of a URL that rules match. Raises ``ValueError`` if the URL is malformed."""
    plain = _PLAIN(url)
    if plain:
        return plain[1]
    parts = urllib.parse.urlsplit(url)
    # `urlsplit` does not distinguish an empty query from a missing one.
    mark = "?" if "?" in url.partition("#")[0] else ""
    path = _normal(parts.path + mark + parts.query, "")
    return path if path.startswith("/") else "/" + path


def _normal(text: str, operators: str) -> str:
    """Normalizes percent-encoding like ``urllib.robotparser``: ``operators``, and the separators of a query, differ from
    their escapes."""
    path, mark, query = text.partition("?")
    encode = lambda found: _agents.quoted(urllib.parse.unquote_to_bytes(_agents.encoded(found[0])), "/")
    in_path = re.sub(f"[^{operators}]+" if operators else "(?s:.+)", encode, path)
    return in_path + mark + re.sub(f"[^=&{operators}]+", encode, query)


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None


def _text(group: _lines.Group) -> str:
    """Formats a group like ``urllib.robotparser``: names, crawl delay and request rate, rules."""
    lines = [f"User-agent: {name}" for name in group.names]
    for key in ("crawl-delay", "request-rate"):
        numbers = [number.strip() for number in group.values.get(key, [""])[-1].split("/")]
        if len(numbers) == (2 if key == "request-rate" else 1) and all(_number(number) is not None for number in numbers):
            lines.append(f"{key.capitalize()}: {'/'.join(str(_number(number)) for number in numbers)}")
    rules = [(key, path.replace(_agents.ESCAPE, "%")) for key, path in group.rules]
    lines += [f"{key.capitalize() if path else 'Allow'}: {path}" for key, path in rules]
    return "\n".join(lines if group.rules else [*lines, "Allow:"])
