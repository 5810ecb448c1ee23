"""Verdicts in eager and lazy Polars queries. Needs polars and pyarrow.

>>> from reptile.polars import robots                                                    # doctest: +SKIP
>>> urls = polars.scan_parquet("urls.parquet")                                           # doctest: +SKIP
>>> urls.with_columns(robots("url", "web.reptile", ["GPTBot"]).struct.unnest())          # doctest: +SKIP
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars
import pyarrow

from ._native import Set
from ._structs import COLUMNS, Structs, resolved

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import UsageOptions

__all__ = ["robots"]


def robots(
    urls: str | polars.Expr,
    web: Set | str | os.PathLike[str],
    agents: str | Sequence[str],
    columns: str | Sequence[str] = COLUMNS,
    *,
    exact: bool = False,
    **usage: "Unpack[UsageOptions]",
) -> polars.Expr:
    """Returns an expression that decides a column of URLs, as a struct with the columns of ``Set.decide_many``.

    ``web`` is a ``Set`` or the path of a set file, which is mapped. ``usage`` are the options ``uses``, ``lines``,
    ``vocabulary``, ``purpose`` and ``unknown_usage`` of ``Set.decide_many``.
    """
    structs = Structs(resolved(web, agents, exact), columns, usage, is_whole=True)
    kind = polars.Series(pyarrow.array([], structs.type)).dtype
    expression = polars.col(urls) if isinstance(urls, str) else urls
    # Rows are independent, so the streaming engine may split columns.
    return expression.map_batches(_Decide(structs), return_dtype=kind, is_elementwise=True).alias("robots")


class _Decide:
    """Decides a part of a column. It pickles, and so does a lazy query."""

    def __init__(self, structs: Structs) -> None:
        self._structs = structs

    def __call__(self, part: polars.Series) -> polars.Series:
        # A column without any value may have no type.
        texts = part.cast(polars.String) if part.dtype == polars.Null else part
        return polars.Series(part.name, self._structs(texts))
