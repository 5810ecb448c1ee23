"""Absolute paths, for workers with a different working folder."""

import os
from collections.abc import Sequence

from ._native import VOCABULARIES
from ._types import DecideOptions


def absolute(name: str, shipped: Sequence[str]) -> str:
    """Returns the absolute path of a vocabulary or a profile, or the name of one that ships with the package."""
    return name if name in shipped else os.path.abspath(name)


def with_absolute_vocabulary(options: DecideOptions) -> DecideOptions:
    """Returns options whose vocabulary, if it is a file, has an absolute path."""
    name = options.get("vocabulary")
    return options if name is None else {**options, "vocabulary": absolute(name, VOCABULARIES)}
