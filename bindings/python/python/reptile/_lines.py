"""Parses the lines of a robots.txt for the drop-ins: groups, crawler names, rules and other values.

``urllib.robotparser`` and Protego agree with each other, and differ from RFC 9309, in group boundaries, crawler names
and percent-encoding. Their replacements must give the same answers. This module therefore parses the lines itself and
passes Reptile groups with names that every dialect can read.
"""

import re
from collections.abc import Iterable

MAX_BYTES = 16 << 20
"""Maximum number of bytes that are read. Groups that do not fit are truncated after a complete rule."""

_TYPOS = {
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "useragent": "user-agent",
    "user agent": "user-agent",
    "sitemaps": "sitemap",
    "site-map": "sitemap",
    "crawl delay": "crawl-delay",
    "request rate": "request-rate",
    "visit time": "visit-time",
}
_KEYS = {"user-agent", "allow", "disallow", "crawl-delay", "request-rate", "visit-time", "sitemap", "host"}
_OF_GROUP = {"allow", "disallow", "crawl-delay", "request-rate"}
_WITHOUT_COLON = re.compile(rf"({'|'.join(sorted(_KEYS | set(_TYPOS), key=len, reverse=True))})(?:\s+(.*))?")


class Group:
    """A group's crawlers, their rules, and the values of other keys."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.rules: list[tuple[str, str]] = []
        self.values: dict[str, list[str]] = {}
        self.is_closed = False


class Lines:
    """A parsed robots.txt. With ``is_generous``, lines are read like Protego: misspelled keys and lines without a colon
    count, and any key that does not apply to the whole site ends a group's names. Otherwise they are read like
    ``urllib.robotparser``."""

    def __init__(self, lines: Iterable[str], is_generous: bool) -> None:
        self.groups: list[Group] = []
        self.sitemaps: list[str] = []
        self.host: str | None = None
        group = Group()
        for line in lines:
            line = line.partition("#")[0].strip()
            read = _generous(line) if is_generous else _strict(line)
            if read is None:
                continue
            key, value = read
            if key == "sitemap":
                self.sitemaps += [value] if value or not is_generous else []
            elif key == "host":
                self.host = value or self.host
            elif key == "user-agent":
                if group.is_closed or not group.names:
                    group = Group()
                    self.groups.append(group)
                if value:
                    group.names.append(value)
                if is_generous and value.replace("*", ""):
                    group.names += [value.replace("*", "")] if "*" in value else []
            elif is_generous or key in _OF_GROUP:
                group.is_closed = True
                if key in ("allow", "disallow"):
                    group.rules.append((key, value))
                else:
                    group.values.setdefault(key, []).append(value)
        self.groups = [group for group in self.groups if group.names]


def _strict(line: str) -> tuple[str, str] | None:
    key, colon, value = line.partition(":")
    return (key.strip().lower(), value.strip()) if colon else None


def _generous(line: str) -> tuple[str, str] | None:
    key, colon, value = line.partition(":")
    key = _TYPOS.get(key.strip().lower(), key.strip().lower())
    if key in _KEYS or colon and (not value or value[0].isspace()):
        return key, value.strip()
    found = _WITHOUT_COLON.fullmatch(" ".join(line.split()).lower())
    if found:
        # Take the value from the original line, which has the same words.
        words = line.split()[len(found[1].split()) :]
        return _TYPOS.get(found[1], found[1]), " ".join(words)
    return (key, value.strip()) if colon else None


def body(groups: Iterable[Group], tokens: dict[str, str]) -> str:
    """Returns the groups as a robots.txt, with their names replaced by ``tokens``, whose keys are in lower case."""
    made: list[str] = []
    room = MAX_BYTES
    for group in groups:
        lines = [f"user-agent: {tokens[name.lower()]}\n" for name in group.names]
        # Even a group without rules must end.
        lines += [f"{key}: {path}\n" for key, path in group.rules] or ["disallow:\n"]
        for line in lines:
            room -= len(line.encode("utf-8", "surrogatepass"))
            if room < 0:
                return "".join(made)
            made.append(line)
    return "".join(made)
