"""The types that both halves of the package use: verdicts and errors."""

import enum


class Verdict(str, enum.Enum):
    """The verdict for one URL and one crawler.

    It equals its word: ``verdict == "allow"``. It is neither true nor false, because a word that is not empty would be true
    whatever it says.
    """

    ALLOW = "allow"
    """The rules allow the URL, or no rule matches it."""
    DISALLOW = "disallow"
    """A rule or a failed fetch disallows the URL."""
    UNKNOWN = "unknown"
    """No robots.txt is known for the origin of the URL. What to do with it is your choice."""
    INVALID = "invalid"
    """The text is not a valid URL."""

    def __bool__(self) -> bool:
        raise TypeError("a verdict is neither true nor false: compare it, as in verdict == 'allow'")

    def __str__(self) -> str:
        return str(self.value)

    __format__ = str.__format__


class Error(Exception):
    """An error of Reptile; the text says what happened and what to do."""


class CrawlerError(Error, ValueError):
    """The name of a crawler cannot be resolved or is most likely misspelt; the text says what to write."""


class FormatError(Error, ValueError):
    """The bytes are not a set of this format version, or they are damaged."""
