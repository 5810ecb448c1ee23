"""Verdicts in DuckDB queries. Needs duckdb and pyarrow.

>>> from reptile.duckdb import register                                                  # doctest: +SKIP
>>> register(connection, "web.reptile", ["GPTBot", "CCBot"])                             # doctest: +SKIP
>>> connection.sql("select url, unnest(robots(url)) from 'urls.parquet'")                # doctest: +SKIP
"""

import contextlib
import os
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb
import pyarrow

from ._native import Set
from ._structs import COLUMNS, Structs, resolved

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from typing_extensions import Unpack

    from ._types import UsageOptions

__all__ = ["register"]


def register(
    connection: "DuckDBPyConnection",
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
    ``vocabulary``, ``purpose`` and ``unknown_usage`` of ``Set.decide_many``. DuckDB calls the function for 2,048 rows at a time.
    Another call with the same ``name`` on this connection replaces the function.

    All fields are NULL where the URL is NULL; ``refused`` and ``mask`` are also NULL where the verdict is unknown or
    invalid. HOSTS.md lists the types.
    """
    structs = Structs(resolved(web, agents, exact), columns, usage)
    fields = ", ".join('"' + field.name.replace('"', '""') + '" ' + _type(field.type) for field in structs.type)
    _forget(connection, name)
    connection.create_function(name, structs, ["VARCHAR"], f"STRUCT({fields})", type="arrow", null_handling="special")
    _registered.setdefault(connection, set()).add(name)


_registered: "weakref.WeakKeyDictionary[DuckDBPyConnection, set[str]]" = weakref.WeakKeyDictionary()
"""The names of the functions that were registered on each connection."""


def _forget(connection: "DuckDBPyConnection", name: str) -> None:
    """Removes a function that ``register`` created. DuckDB does not replace functions."""
    names = _registered.get(connection, set())
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
