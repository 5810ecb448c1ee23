"""Types shared by both halves of the package: verdicts, errors, lines, and answers about all paths."""

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any, Literal, NoReturn, TypedDict


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

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has no truth value: compare it, as in verdict == 'allow'")

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, format_spec: str) -> str:
        return format(str(self.value), format_spec)


@dataclasses.dataclass(frozen=True)
class Witness:
    """The answer to the question whether a path with some property exists.

    It has no truth value, so that "there is no such path" and "unproved" cannot be confused: compare ``state``.
    """

    state: Literal["none", "path", "unproved"]
    """``none``: proved, there is no such path. ``path``: there is one. ``unproved``: the proof stopped at its limit,
    and no such path was found."""
    path: str | bytes | None = None
    """A path with the property, as written in a URL, starting at the slash after the host; usually one of the shortest.
    It is ``bytes`` if it is not UTF-8. None in the other states."""

    def __bool__(self) -> NoReturn:
        raise TypeError("a witness has no truth value: compare its state, as in witness.state == 'none'")


@dataclasses.dataclass(frozen=True)
class Decision:
    """A verdict and its reason."""

    verdict: Verdict
    """The verdict."""
    line: int | None
    """The deciding rule's line, starting at 1; None if no rule decided."""
    reason: str
    """A short reason such as ``rule`` or ``no rule matches``."""


@dataclasses.dataclass(frozen=True)
class Counterexample:
    """A path for which a claim is false."""

    path: str | bytes
    """The path as written in a URL; ``bytes`` if it is not UTF-8."""
    decisions: list[Decision]
    """The decision for each crawler, or for each side of a comparison."""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The comparison over all paths of two crawlers' access, or of one crawler's access under two robots.txt files.

    It has no truth value: use ``equivalent`` or ``unproved``.
    """

    first_only: Witness
    """A path that only the first side allows."""
    second_only: Witness
    """A path that only the second side allows."""
    counterexamples: list[Counterexample] = dataclasses.field(default_factory=list, compare=False)
    """For each of these paths, the decisions of the first and the second side."""

    @property
    def relation(self) -> Literal["equal", "narrower", "wider", "different", "unproved"]:
        """How the first side relates to the second. ``narrower``: it allows less. ``wider``: it allows more.
        ``different``: each allows something that the other does not. ``unproved``: a proof was cut off."""
        if self.unproved:
            return "unproved"
        if self.first_only.state == "path":
            return "different" if self.second_only.state == "path" else "wider"
        return "narrower" if self.second_only.state == "path" else "equal"

    @property
    def equivalent(self) -> bool:
        """Whether both were proved to allow the same paths."""
        return self.first_only.state == self.second_only.state == "none"

    @property
    def unproved(self) -> bool:
        """Whether either question is unproved."""
        return "unproved" in (self.first_only.state, self.second_only.state)

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison has no truth value: use .equivalent or .unproved")


@dataclasses.dataclass(frozen=True)
class Access:
    """A crawler's access to an origin, over all its paths, with the values of ``reptile summarize``.

    It has no truth value, so that ``unknown`` and ``unproved`` cannot be mistaken for an answer: compare ``access``.
    """

    access: Literal["allowed", "disallowed", "partial", "unproved", "unknown", "invalid"]
    """``allowed`` and ``disallowed``: proved for every URL, except /robots.txt itself. ``partial``: some URLs are
    allowed and some are not. ``unproved``: one of these, but the proof would have taken too long. ``unknown``: no
    robots.txt is known for the origin. ``invalid``: not a URL."""
    group: Literal["named", "default", "none"]
    """Why the crawler obeys its group."""
    allow_rules: int
    """Number of Allow rules in the crawler's groups."""
    disallow_rules: int
    """Number of Disallow rules in the crawler's groups."""
    reason: str
    """A short reason such as ``rule``, ``no rule matches`` or ``404``."""
    allowed_path: str | bytes | None = None
    """For partial access a shortest allowed path as written in a URL, and for unproved access a path, if one is known.
    It is ``bytes`` if it is not UTF-8."""
    disallowed_path: str | bytes | None = None
    """The same for disallowed paths."""

    def __bool__(self) -> NoReturn:
        raise TypeError("an access has no truth value: compare it, as in found.access == 'allowed'")


class Directive(TypedDict):
    """A line that decides no URL, from ``Agent.directives``, ``Set.directives`` or ``Robots.directives``."""

    kind: str
    """The kind of line, such as ``crawl-delay``, ``sitemap`` or ``other``."""
    key: str
    """The key as written, or the kind."""
    value: str
    """The value as written."""
    line: int
    """The line's number, starting at 1."""
    counts: bool
    """Whether the line counts under the dialect."""


class UsageOptions(TypedDict, total=False):
    """The options for columns about uses of pages, as in ``Set.decide_many``."""

    uses: str | Sequence[str] | None
    lines: str
    vocabulary: str
    purpose: str | None
    unknown_usage: Literal["allow", "disallow", "unknown"] | None


class DecideOptions(UsageOptions, total=False):
    """The options of ``Set.decide_many`` that every function for queries passes on."""

    scope: Literal["origin", "scheme", "www", "domain"]


class FrameOptions(DecideOptions, total=False):
    """The options of ``Agents.decide_many``, for ``Agents.with_verdicts``."""

    url_column: str | None
    times: Any
    parallel: bool


class SetFrameOptions(FrameOptions, total=False):
    """The options of ``Set.decide_many``, for ``Set.with_verdicts``."""

    exact: bool


class IgnoredColumnWarning(UserWarning):
    """``compile`` ignored columns that captures do not have."""


class Error(Exception):
    """The base class of Reptile's errors. The message says what happened and what to do."""


class CrawlerError(Error, ValueError):
    """A crawler name cannot be resolved or is probably misspelled. The message suggests a correction."""


class FormatError(Error, ValueError):
    """The bytes are not a set in this format version, or are damaged."""
