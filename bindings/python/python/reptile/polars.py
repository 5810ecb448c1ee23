"""Verdicts in eager and lazy Polars queries. Needs polars and pyarrow.

>>> from reptile.polars import robots                                                    # doctest: +SKIP
>>> urls = polars.scan_parquet("urls.parquet")                                           # doctest: +SKIP
>>> urls.with_columns(robots("url", "web.reptile", ["GPTBot"]).struct.unnest())          # doctest: +SKIP
>>> urls.with_columns(robots("url", "web.reptile", agent_column="agent"))                # doctest: +SKIP
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars
import pyarrow

from ._native import Set
from ._structs import Question, Structs, source_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import DecideOptions

__all__ = ["robots"]


def robots(
    urls: str | polars.Expr,
    web: Set | str | os.PathLike[str],
    agents: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    agent_column: str | polars.Expr | None = None,
    times: str | polars.Expr | None = None,
    headers: bool = False,
    exact: bool = False,
    **options: "Unpack[DecideOptions]",
) -> polars.Expr:
    """Returns an expression that decides a column of URLs, as a struct with the columns of ``Set.decide_many``, by
    default ``verdict`` and ``refused``.

    ``web`` is a ``Set`` or the path of a set file, which is mapped. ``options`` are the options ``uses``, ``lines``,
    ``vocabulary``, ``purpose``, ``unknown_usage`` and ``scope`` of ``Set.decide_many``.

    ``agent_column``, a column or an expression instead of ``agents``, has each row's crawler, as in
    ``Set.decide_each``, which also explains ``headers``; the default columns are then ``verdict`` and ``agent``.
    ``times``, a column or an expression, has each row's time, in a set by time: a Datetime (UTC if it has no zone), a
    Date, or a whole number of seconds since 1970.
    """
    if (agents is None) == (agent_column is None):
        raise ValueError("expected either agents, which are names, or agent_column, a column with each row's crawler")
    time_type = None if times is None else pyarrow.int64()
    question = Question(source_of(web, agents, exact), columns, options, times=time_type, headers=headers, exact=exact)
    structs = Structs(question, is_whole=True)
    kind = polars.Series(pyarrow.array([], structs.type)).dtype
    row = [urls, *(each for each in (agent_column, times) if each is not None)]
    expressions = [polars.col(each) if isinstance(each, str) else each for each in row]
    joined = polars.struct(*(each.alias(str(number)) for number, each in enumerate(expressions)))
    part = joined if question.row_values else expressions[0]
    # Rows are independent, so the streaming engine may split columns.
    return part.map_batches(_Decide(structs, bool(question.row_values)), return_dtype=kind, is_elementwise=True).alias("robots")


class _Decide:
    """Decides a part of a column, or with ``has_values`` of a struct with the URL and the row's values. It can be
    pickled, and so can a lazy query."""

    def __init__(self, structs: Structs, has_values: bool) -> None:
        self._structs = structs
        self._has_values = has_values

    def __call__(self, part: polars.Series) -> polars.Series:
        columns = part.struct.unnest().get_columns() if self._has_values else [part]
        if isinstance(columns[0].dtype, polars.Struct):
            # Elsewhere, a struct with a field `url` is a table.
            raise TypeError(f"urls: expected texts, found {columns[0].dtype}; select a field, as in col(...).struct.field(...)")
        # A column without any value may have no type.
        texts = columns[0].cast(polars.String) if columns[0].dtype == polars.Null else columns[0]
        return polars.Series(part.name, self._structs(texts, *columns[1:]))
