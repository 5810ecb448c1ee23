"""Verdicts in DuckDB queries. Needs duckdb and pyarrow.

>>> from reptile.duckdb import register                                                  # doctest: +SKIP
>>> register(connection, "web.reptile", ["GPTBot", "CCBot"])                             # doctest: +SKIP
>>> connection.sql("select url, unnest(robots(url)) from 'urls.parquet'")                # doctest: +SKIP
>>> register(connection, "web.reptile", None, "verdict,line", name="each")               # doctest: +SKIP
>>> connection.sql("select url, unnest(each(url, agent)) from 'requests.parquet'")       # doctest: +SKIP
"""

import contextlib
import os
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
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
    verdict is unknown or invalid. HOSTS.md lists the types. Another call with the same ``name`` on this connection
    replaces the function.

    With ``agents=None``, the function is ``robots(url, agent)``, and each row names its crawler, as in
    ``Set.decide_each``, which also explains ``headers``; the default columns are ``verdict`` and ``agent``.

    With ``times``, the function has each row's time as its last argument: ``robots(url, time)`` or ``robots(url, agent,
    time)``. ``times`` is the argument's type: ``TIMESTAMPTZ``, ``TIMESTAMP`` (UTC), ``DATE``, or ``BIGINT`` for seconds
    since 1970. DuckDB itself converts a ``TIMESTAMP`` for a ``TIMESTAMPTZ`` argument, in the session's time zone.
    """
    types = {"agents": "VARCHAR", "times": times}
    # DuckDB knows which Arrow type it will pass.
    found = None if times is None else connection.cursor().sql(f"select null::{times} as time").to_arrow_table()
    kind = None if found is None else found.schema.field(0).type
    question = Question(source_of(web, agents, exact), columns, options, times=kind, headers=headers, exact=exact)
    structs = Structs(question)
    fields = ", ".join('"' + field.name.replace('"', '""') + '" ' + _type(field.type) for field in structs.type)
    inputs: list[Any] = ["VARCHAR", *(types[name] for name in question.row_values)]
    # DuckDB checks the number of the function's parameters.
    calls: list[Callable[..., pyarrow.StructArray]] = [
        lambda url: structs(url),
        lambda url, other: structs(url, other),
        lambda url, agent, time: structs(url, agent, time),
    ]
    call = calls[len(question.row_values)]
    _forget(connection, name)
    # DuckDB's stubs do not accept strings for its enumerations.
    create: Any = connection.create_function
    create(name, call, inputs, f"STRUCT({fields})", type="arrow", null_handling="special")
    _names(connection).add(name)


_registered: "weakref.WeakKeyDictionary[DuckDBPyConnection, set[str]]" = weakref.WeakKeyDictionary()
"""The names of the functions that were registered on each connection."""

_of_default: set[str] = set()
"""The names on DuckDB's default connection, whose Python object is short-lived."""


def _names(connection: "DuckDBPyConnection") -> set[str]:
    is_default = connection is duckdb.default_connection()
    return _of_default if is_default else _registered.setdefault(connection, set())


def _forget(connection: "DuckDBPyConnection", name: str) -> None:
    """Removes a function that ``register`` created. DuckDB does not replace functions."""
    names = _names(connection)
    if name in names:
        names.discard(name)
        # The caller may have removed it.
        with contextlib.suppress(duckdb.InvalidInputException):
            connection.remove_function(name)


def _type(kind: pyarrow.DataType) -> str:
    """Returns the type that DuckDB gives to a column of ``Set.decide_many``."""
    if pyarrow.types.is_timestamp(kind):
        return "TIMESTAMP WITH TIME ZONE"
    return _TYPES.get(kind) or ("VARCHAR[]" if pyarrow.types.is_large_list(kind) else "VARCHAR")


_TYPES = {pyarrow.uint32(): "UINTEGER", pyarrow.uint64(): "UBIGINT"}
