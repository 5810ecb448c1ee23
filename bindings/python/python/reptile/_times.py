"""Converts times to seconds since 1970. Dates, and times without a zone, are in UTC."""

import datetime
import re
from typing import Any

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ].+)?")
"""Python's parser accepts any character between a date and a time."""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_FIRST = -62_135_596_800
"""The first second of the year 1."""
_LAST = 253_402_300_800
"""The first second after the year 9999."""


def seconds(time: int | datetime.date) -> int:
    """Converts a time to seconds since 1970. Raises ValueError for one outside the years 1 to 9999."""
    if isinstance(time, datetime.datetime):
        known = time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)
        return (known - _EPOCH) // datetime.timedelta(seconds=1)
    if isinstance(time, datetime.date):
        return (time - _EPOCH.date()).days * 86_400
    if not _FIRST <= time < _LAST:
        raise ValueError(f"expected a time in seconds since 1970, in the years 1 to 9999, found {time}")
    return time


def seconds_or_none(time: Any) -> int | None:
    """Converts a time, or an ISO 8601 text such as "2026-03-14T15:09:26Z". Returns None for another value."""
    try:
        if isinstance(time, str):
            text = time.strip()
            # Python 3.10 does not know the letter Z.
            is_iso = _ISO.fullmatch(text) is not None
            return seconds(datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))) if is_iso else None
        is_time = isinstance(time, (int, datetime.date)) and not isinstance(time, bool)
        return seconds(time) if is_time else None
    except (ValueError, OverflowError):
        return None
