"""The rights to use a page."""

import dataclasses
from typing import Literal, NoReturn

from ._types import Verdict

Permission = Literal["allowed", "disallowed", "unknown", "not-applicable", "unavailable"]
"""The combined answer about a use of a page."""


@dataclasses.dataclass(frozen=True)
class Rights:
    """A crawler's rights to use a page, from ``Agent.rights``, with the values of ``reptile classify --rights``.

    It has no truth value: compare ``verdict``, a permission or ``purpose``.
    """

    verdict: Verdict
    """Whether the page may be fetched."""
    permissions: dict[str, Permission]
    """The permission for each use. ``unknown``: the website says nothing about it, or its statements cannot be read.
    ``not-applicable``: the page must not be fetched. ``unavailable``: the headers or the text are missing, so that the
    website may have forbidden the use."""
    purpose: Verdict | None
    """The single verdict for the fetch and the purpose; None without a purpose."""
    stated: dict[str, dict[str, Literal["allowed", "disallowed"]]]
    """The preferences of each channel that counts and states a preference, such as ``{"x-robots-tag": {"train-ai":
    "disallowed"}}``."""
    conflicts: list[str]
    """The uses that one channel allows and another disallows."""
    statements: dict[str, list[str] | None]
    """The page's own statements by channel, unchanged; None if the channel is missing."""

    def __bool__(self) -> NoReturn:
        raise TypeError("rights have no truth value: compare a permission, as in rights.permissions['train-ai'] == 'allowed'")
