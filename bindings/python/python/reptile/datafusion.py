"""Verdicts in DataFusion queries. Needs datafusion and pyarrow.

>>> from reptile.datafusion import register                                              # doctest: +SKIP
>>> register(context, "web.reptile", ["GPTBot", "CCBot"])                                # doctest: +SKIP
>>> context.sql("select url, robots(url)['refused'] from urls")                          # doctest: +SKIP
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow

from ._native import Set
from ._structs import COLUMNS, Structs, resolved

if TYPE_CHECKING:
    from datafusion import SessionContext
    from typing_extensions import Unpack

    from ._types import UsageOptions

__all__ = ["register"]


def register(
    context: "SessionContext",
    web: Set | str | os.PathLike[str],
    agents: str | Sequence[str],
    columns: str | Sequence[str] = COLUMNS,
    *,
    name: str = "robots",
    exact: bool = False,
    **usage: "Unpack[UsageOptions]",
) -> None:
    """Registers a function ``robots(url)`` that returns a struct with the columns of ``Set.decide_many``.

    ``web`` is a ``Set`` or the path of a set file, which is mapped. ``usage`` are the options ``uses``, ``lines``,
    ``vocabulary``, ``purpose`` and ``unknown_usage`` of ``Set.decide_many``.
    """
    from datafusion import udf

    structs = Structs(resolved(web, agents, exact), columns, usage)
    # Strings of other types are cast to views, the type that tables of files use.
    context.register_udf(udf(structs, [pyarrow.string_view()], structs.type, "stable", name))
