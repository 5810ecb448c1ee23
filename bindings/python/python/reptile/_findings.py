"""Answers about one robots.txt: findings and fixes, and proved assertions."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Literal, NoReturn

from ._types import Counterexample, Error

Severity = Literal["error", "warning", "note"]


@dataclasses.dataclass(frozen=True)
class Edit:
    """A change to the file: ``text`` replaces the lines ``from_line`` to ``to_line``, both included."""

    from_line: int
    """The first line, starting at 1."""
    to_line: int
    """The last line."""
    text: str | None
    """The new lines without the last line end; None removes the lines with their line ends."""


@dataclasses.dataclass(frozen=True)
class Fix:
    """The remedy for a finding."""

    title: str
    """What to do, in words, or the line's replacement."""
    edit: Edit | None
    """The change to the file. None if the fix is only advice, if it may change the rules of crawlers other than the
    intended ones, or if it is a removal that is not proved to keep all verdicts."""
    keeps_verdicts: bool | None
    """Whether it is proved that this edit alone changes no verdict in any current dialect. None without an edit."""
    is_applied: bool
    """Whether ``Robots.fix`` makes this edit, even without the other edits."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A mistake in a robots.txt."""

    code: str
    """The kind of finding, such as ``hidden-rule``."""
    severity: Severity
    """``error``, ``warning`` or ``note``."""
    line: int
    """The line, starting at 1. A finding about the whole file has line 1."""
    message: str
    """What is wrong."""
    fix: Fix | None
    """The remedy, if there is one."""


class Findings(list[Finding]):
    """Findings in line order."""

    withheld: dict[str, int]
    """The number of unreported findings, by kind. These kinds are off by default; ``enable`` reports them."""

    def __init__(self, findings: Iterable[Finding] = (), withheld: Mapping[str, int] | None = None) -> None:
        super().__init__(findings)
        self.withheld = dict(withheld or {})


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of one assertion, or of one member of its group of crawlers.

    It has no truth value, so that "false" and "unproved" cannot be confused: use ``holds`` or ``proof``.
    """

    text: str
    """The assertion for these crawlers, without comments."""
    line: int
    """The assertion's line in the list, starting at 1."""
    crawlers: list[str]
    """The crawlers."""
    holds: bool
    """Whether it is proved for every URL."""
    proof: Literal["holds", "counterexample", "no-group", "unproved"]
    """``no-group``: no group names a crawler, so nothing was examined. ``unproved``: the proof was cut off."""
    counterexample: Counterexample | None
    """A path for which the assertion is false."""
    missing: str | None
    """The crawler that no group names, for ``no-group``."""

    def __bool__(self) -> NoReturn:
        raise TypeError("an outcome has no truth value: use .holds or compare .proof")


@dataclasses.dataclass(frozen=True)
class Mistake:
    """A mistake in a list of assertions."""

    line: int
    """The line in the list, starting at 1."""
    message: str
    """What is wrong."""


class AssertionsError(Error, ValueError):
    """A list of assertions has mistakes."""

    mistakes: list[Mistake]
    """The mistakes, up to 20."""

    def __init__(self, message: str, mistakes: Iterable[Mistake] = ()) -> None:
        super().__init__(message)
        self.mistakes = list(mistakes)

    def __reduce__(self) -> tuple[type["AssertionsError"], tuple[str, list[Mistake]]]:
        return type(self), (str(self), self.mistakes)
