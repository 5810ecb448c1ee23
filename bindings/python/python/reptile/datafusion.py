"""Verdicts in DataFusion queries. Needs datafusion and pyarrow.

>>> from reptile.datafusion import register                                              # doctest: +SKIP
>>> register(context, "web.reptile", ["GPTBot", "CCBot"])                                # doctest: +SKIP
>>> context.sql("select url, robots(url)['refused'] from urls")                          # doctest: +SKIP
>>> register(context, "web.reptile", None, "verdict,line", name="each")                  # doctest: +SKIP
>>> context.sql("select url, each(url, agent)['line'] from requests")                    # doctest: +SKIP
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow

from ._native import Set
from ._structs import Question, Structs, source_of

if TYPE_CHECKING:
    from datafusion import SessionContext
    from typing_extensions import Unpack

    from ._types import DecideOptions

__all__ = ["register"]


def register(
    context: "SessionContext",
    web: Set | str | os.PathLike[str],
    agents: str | Sequence[str] | None,
    columns: str | Sequence[str] | None = None,
    *,
    times: bool = False,
    headers: bool = False,
    name: str = "robots",
    exact: bool = False,
    **options: "Unpack[DecideOptions]",
) -> None:
    """Registers a function ``robots(url)`` that returns a struct with the columns of ``Set.decide_many``, by default
    ``verdict`` and ``refused``.

    ``web`` is a ``Set`` or the path of a set file, which is mapped. ``options`` are the options ``uses``, ``lines``,
    ``vocabulary``, ``purpose``, ``unknown_usage`` and ``scope`` of ``Set.decide_many``.

    With ``agents=None``, the function is ``robots(url, agent)``, and each row names its crawler, as in
    ``Set.decide_each``, which also explains ``headers``; the default columns are ``verdict`` and ``agent``. With
    ``times``, the function has each row's time as its last argument: ``robots(url, time)`` or ``robots(url, agent,
    time)``. DataFusion converts timestamps, dates and texts; a timestamp without a zone is in UTC. Whole numbers need
    ``to_timestamp_seconds``.
    """
    from datafusion import udf

    # Strings of other types are cast to views, the type that tables of files use.
    types = {"agents": pyarrow.string_view(), "times": pyarrow.timestamp("us", "UTC")}
    kind = types["times"] if times else None
    question = Question(source_of(web, agents, exact), columns, options, times=kind, headers=headers, exact=exact)
    structs = Structs(question)
    inputs = [pyarrow.string_view(), *(types[each] for each in question.row_values)]
    context.register_udf(udf(structs, inputs, structs.type, "stable", name))
