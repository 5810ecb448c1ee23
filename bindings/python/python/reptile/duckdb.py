"""Verdicts in DuckDB queries. Needs duckdb and pyarrow.

>>> from reptile.duckdb import register                                                  # doctest: +SKIP
>>> register(connection, "web.reptile", ["GPTBot", "CCBot"])                             # doctest: +SKIP
>>> connection.sql("select url, unnest(robots(url)) from 'urls.parquet'")                # doctest: +SKIP
>>> register(connection, "web.reptile", None, "verdict,line", name="each")               # doctest: +SKIP
>>> connection.sql("select url, unnest(each(url, agent)) from 'requests.parquet'")       # doctest: +SKIP
"""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow

from ._native import Set
from ._structs import Question, Structs, source_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from typing_extensions import Unpack

    from ._types import DecideOptions

__all__ = ["register"]


def register(
    connection: "DuckDBPyConnection",
    web: Set | str | os.PathLike[str],
    agents: str | Sequence[str] | None,
    columns: str | Sequence[str] | None = None,
    *,
    times: str | None = None,
    headers: bool = False,
    name: str = "robots",
    exact: bool = False,
    **options: "Unpack[DecideOptions]",
) -> None:
    """Registers a function ``robots(url)`` that returns a struct with the columns of ``Set.decide_many``, by default
    ``verdict`` and ``refused``.

    ``web`` is a ``Set`` or the path of a set file, which is mapped. ``options`` are the options ``uses``, ``lines``,
    ``vocabulary``, ``purpose``, ``unknown_usage`` and ``scope`` of ``Set.decide_many``. DuckDB calls the function for
    2,048 rows at a time. All fields are NULL where the URL is NULL; ``refused`` and ``mask`` are also NULL where the
    verdict is unknown or invalid. HOSTS.md lists the types.

    With ``agents=None``, the function is ``robots(url, agent)``, and each row names its crawler, as in
    ``Set.decide_each``, which also explains ``headers``; the default columns are ``verdict`` and ``agent``.

    With ``times``, the function has each row's time as its last argument: ``robots(url, time)`` or ``robots(url, agent,
    time)``. ``times`` is the argument's type: ``TIMESTAMPTZ``, ``TIMESTAMP`` (UTC), ``DATE``, or ``BIGINT`` for seconds
    since 1970. DuckDB itself converts a ``TIMESTAMP`` for a ``TIMESTAMPTZ`` argument, by the session's time zone.
    """
    types = {"agents": "VARCHAR", "times": times}
    # DuckDB knows which Arrow type it will pass.
    found = None if times is None else connection.cursor().sql(f"select null::{times} as time").to_arrow_table()
    kind = None if found is None else found.schema.field(0).type
    question = Question(source_of(web, agents, exact), columns, options, times=kind, headers=headers, exact=exact)
    structs = Structs(question)
    fields = ", ".join('"' + field.name.replace('"', '""') + '" ' + _type(field.type) for field in structs.type)
    inputs: list[Any] = ["VARCHAR", *(types[name] for name in question.row_values)]
    # DuckDB counts a function's parameters.
    calls: list[Callable[..., pyarrow.StructArray]] = [
        lambda url: structs(url),
        lambda url, other: structs(url, other),
        lambda url, agent, time: structs(url, agent, time),
    ]
    call = calls[len(question.row_values)]
    connection.create_function(name, call, inputs, f"STRUCT({fields})", type="arrow", null_handling="special")


def _type(kind: pyarrow.DataType) -> str:
    """Returns the type that DuckDB gives to a column of ``Set.decide_many``."""
    if pyarrow.types.is_timestamp(kind):
        return "TIMESTAMP WITH TIME ZONE"
    return _TYPES.get(kind) or ("VARCHAR[]" if pyarrow.types.is_large_list(kind) else "VARCHAR")


_TYPES = {pyarrow.uint32(): "UINTEGER", pyarrow.uint64(): "UBIGINT"}
