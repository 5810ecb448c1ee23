"""Types shared by both halves of the package: verdicts and errors."""

import enum


class Verdict(str, enum.Enum):
    """The verdict for one URL and one crawler.

    It equals its word: ``verdict == "allow"``. It has no truth value, because every nonempty string would be true.
    """

    ALLOW = "allow"
    """The rules allow the URL, or no rule matches it."""
    DISALLOW = "disallow"
    """A rule or a failed fetch disallows the URL."""
    UNKNOWN = "unknown"
    """The robots.txt for the URL's origin is not in the set. What to do is up to you."""
    INVALID = "invalid"
    """The string is not a valid URL."""

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value: compare it, as in verdict == 'allow'")

    def __str__(self) -> str:
        return str(self.value)

    __format__ = str.__format__


class Error(Exception):
    """The base class of Reptile's errors. The message says what happened and what to do."""


class CrawlerError(Error, ValueError):
    """A crawler name cannot be resolved or is probably misspelled. The message suggests a correction."""


class FormatError(Error, ValueError):
    """The bytes are not a set in this format version, or are damaged."""
