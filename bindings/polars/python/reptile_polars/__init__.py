"""Verdicts in Polars queries, by an expression plugin that runs without Python.

>>> from reptile_polars import robots                                                    # doctest: +SKIP
>>> urls = polars.scan_parquet("urls.parquet")                                           # doctest: +SKIP
>>> urls.with_columns(robots("url", "web.reptile", ["GPTBot"]).struct.unnest())          # doctest: +SKIP
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import polars
from polars.plugins import register_plugin_function

from ._plugin import VOCABULARIES

__all__ = ["robots", "usage"]
__version__ = "0.1.0"

_FOLDER = Path(__file__).parent


def robots(
    urls: str | polars.Expr,
    web: str | os.PathLike[str],
    agents: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
    *,
    agent_column: str | polars.Expr | None = None,
    times: str | polars.Expr | None = None,
    headers: bool = False,
    uses: str | Sequence[str] = (),
    lines: str = "usage,tokens",
    vocabulary: str = "aipref-08",
    purpose: str | None = None,
    unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
    scope: str = "origin",
    exact: bool = False,
) -> polars.Expr:
    """Returns an expression that decides a column of URLs, as a struct called ``robots``.

    ``urls`` is an expression or a column's name: ``String``, ``Binary`` or ``Categorical``. ``web`` is the path of a
    set file, which is mapped, and must not be modified in place. ``agents`` and ``columns`` are as in
    ``reptile.Set.decide_many``, and the fields have the same names and types as its columns; the default is
    ``verdict,refused``. All fields are null where the URL is null. ``scope`` (``origin``, ``scheme``, ``www`` or
    ``domain``) selects the other origins that may decide a URL whose own robots.txt is unknown. With ``exact``, names are
    used as given, even if they look misspelled.

    ``agent_column``, a column or an expression instead of ``agents``, has each row's crawler: a product token or a
    complete ``User-Agent`` header, as in ``reptile classify --agent '{COLUMN}'``. With ``headers``, every name is a
    header, even a single word, as in a log. A row without a crawler is ``unknown``. The fields have no crawler in front,
    and the default is ``verdict,agent``; ``agent`` is the crawler that was found.

    ``times``, a column or an expression, has each row's time, in a set by time: a ``Datetime`` (UTC if it has no zone),
    a ``Date``, or a whole number of seconds since 1970. A row without a time is ``invalid``.

    ``uses``, ``lines``, ``vocabulary``, ``purpose`` and ``unknown_usage`` are as in ``usage``. With ``purpose``,
    ``mask`` and ``refused`` follow its verdict.

    The expression is elementwise, so each engine may split the column. It contains only strings, so a lazy query with
    it can be serialized; the absolute paths of the set and of a vocabulary file must then exist where the query runs.
    The query fails with ``polars.exceptions.ComputeError`` if the set cannot be opened or is damaged, or if a crawler,
    a column or the scope is unknown; a lazy query fails when its schema is needed.
    """
    if columns is None:
        columns = "verdict,refused" if agent_column is None else "verdict,agent"
    names = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else list(columns)
    usage = _usage_options(uses, lines, vocabulary, purpose, unknown_usage)
    rows = {"agent_column": agent_column, "times": times, "headers": headers}
    return _decided(urls, web, agents, **rows, columns=names, scope=scope, exact=exact, **usage).alias("robots")


def usage(
    urls: str | polars.Expr,
    web: str | os.PathLike[str],
    agents: str | Sequence[str] | None,
    uses: str | Sequence[str],
    *,
    agent_column: str | polars.Expr | None = None,
    times: str | polars.Expr | None = None,
    headers: bool = False,
    lines: str = "usage,tokens",
    vocabulary: str = "aipref-08",
    purpose: str | None = None,
    unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
    scope: str = "origin",
    exact: bool = False,
) -> polars.Expr:
    """Returns an expression with the website's preference for each use of a page, as a struct called ``usage``.

    A crawler has a field ``NAME:USE`` for each of ``uses``, such as ``train-ai``: ``allowed``, ``disallowed``,
    ``unknown`` or ``not-applicable``. ``lines`` selects ``Content-Usage`` lines (``usage``), ``Content-Signal`` lines
    (``signals``), groups whose product token names a use (``tokens``), these groups and the groups for ``*``
    (``default-group``), or the first three (``all``). ``vocabulary`` is a name, or a file's path. ``purpose`` adds a
    field ``NAME:purpose``, a single verdict for the fetch and this use; ``unknown_usage`` is then required, the verdict
    for an unknown preference. The other arguments, nulls and errors are as in ``robots``; with ``agent_column``,
    ``agents`` is None.
    """
    options = _usage_options(uses, lines, vocabulary, purpose, unknown_usage)
    rows = {"agent_column": agent_column, "times": times, "headers": headers}
    return _decided(urls, web, agents, **rows, columns=[], scope=scope, exact=exact, **options).alias("usage")


def _usage_options(
    uses: str | Sequence[str], lines: str, vocabulary: str, purpose: str | None, unknown_usage: str | None
) -> dict[str, Any]:
    """Returns the plugin's arguments about uses."""
    listed = [uses] if isinstance(uses, str) else list(uses)
    # A serialized query may run in a different working folder.
    path = vocabulary if vocabulary in VOCABULARIES else os.path.abspath(vocabulary)
    return {"uses": listed, "lines": lines, "vocabulary": path, "purpose": purpose, "unknown_usage": unknown_usage}


def _decided(
    urls: str | polars.Expr,
    web: str | os.PathLike[str],
    agents: str | Sequence[str] | None,
    *,
    agent_column: str | polars.Expr | None,
    times: str | polars.Expr | None,
    headers: bool,
    **options: Any,
) -> polars.Expr:
    """Returns an expression with the chosen columns of ``Set.decide_many``, as a struct."""
    if (agents is None) == (agent_column is None):
        raise ValueError("expected either agents, the names of crawlers, or agent_column, a column with each row's crawler")
    if headers and agent_column is None:
        raise ValueError("headers: has no effect if crawlers are named; it is about the crawlers in agent_column")
    row = {"url": urls, "agent": agent_column, "time": times}
    parts = [_expression(part).alias(name) for name, part in row.items() if part is not None]
    return register_plugin_function(
        plugin_path=_FOLDER,
        function_name="robots",
        args=[polars.struct(parts) if len(parts) > 1 else _expression(urls)],
        kwargs={
            "set": os.path.abspath(os.fspath(web)),
            "agents": [agents] if isinstance(agents, str) else None if agents is None else list(agents),
            "headers": headers,
            "has_times": times is not None,
            **options,
        },
        is_elementwise=True,
    )


def _expression(column: str | polars.Expr) -> polars.Expr:
    return polars.col(column) if isinstance(column, str) else column
