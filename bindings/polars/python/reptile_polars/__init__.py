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

__all__ = ["robots", "usage"]
__version__ = "0.1.0"

COLUMNS = "verdict,refused"
"""Default columns of the struct."""

_FOLDER = Path(__file__).parent


def robots(
    urls: str | polars.Expr,
    web: str | os.PathLike[str],
    agents: str | Sequence[str],
    columns: str | Sequence[str] = COLUMNS,
    *,
    scope: str = "origin",
    exact: bool = False,
) -> polars.Expr:
    """Returns an expression that decides a column of URLs, as a struct called ``robots``.

    ``urls`` is an expression or a column's name: ``String``, ``Binary`` or ``Categorical``. ``web`` is the path of a
    set file, which is mapped, and must not be modified in place. ``agents`` and ``columns`` are as in
    ``reptile.Set.decide_many``, and the fields have the same names and types as its columns. All fields are null where
    the URL is null. ``scope`` (``origin``, ``scheme``, ``www`` or ``domain``) selects the other origins that may decide
    a URL whose own robots.txt is unknown. With ``exact``, names are used as given, even if they look misspelled.

    The expression is elementwise, so each engine may split the column. It contains only strings, so a lazy query with
    it can be serialized; the set's absolute path must then exist where the query runs. The query fails with
    ``polars.exceptions.ComputeError`` if the set cannot be opened or is damaged, or if a crawler, a column or the scope
    is unknown; a lazy query fails when its schema is needed.
    """
    names = [name.strip() for name in columns.split(",")] if isinstance(columns, str) else list(columns)
    return _decided(urls, web, agents, columns=names, scope=scope, exact=exact).alias("robots")


def usage(
    urls: str | polars.Expr,
    web: str | os.PathLike[str],
    agents: str | Sequence[str],
    uses: str | Sequence[str],
    *,
    lines: Literal["usage", "signals", "both"] = "usage",
    vocabulary: str = "aipref-08",
    purpose: str | None = None,
    unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
    scope: str = "origin",
    exact: bool = False,
) -> polars.Expr:
    """Returns an expression with the website's preference for each use of a page, as a struct called ``usage``.

    A crawler has a field ``NAME:USE`` for each of ``uses``, such as ``train-ai``: ``allowed``, ``disallowed``,
    ``unknown`` or ``not-applicable``. ``lines`` selects ``Content-Usage`` lines (``usage``), ``Content-Signal`` lines
    (``signals``) or both (``both``), and ``vocabulary`` is a name, or a file's path. ``purpose`` adds a field
    ``NAME:purpose``, a single verdict for the fetch and this use; ``unknown_usage`` is then required, the verdict for an
    unknown preference. The other arguments, nulls and errors are as in ``robots``.
    """
    options = {"lines": lines, "vocabulary": vocabulary, "purpose": purpose, "unknown_usage": unknown_usage}
    names = [uses] if isinstance(uses, str) else list(uses)
    return _decided(urls, web, agents, uses=names, scope=scope, exact=exact, **options).alias("usage")


def _decided(
    urls: str | polars.Expr,
    web: str | os.PathLike[str],
    agents: str | Sequence[str],
    **options: Any,
) -> polars.Expr:
    """Returns an expression with the chosen columns of ``Set.decide_many``, as a struct."""
    defaults = {"columns": [], "uses": [], "lines": "usage", "vocabulary": "aipref-08", "purpose": None, "unknown_usage": None}
    names = [agents] if isinstance(agents, str) else list(agents)
    return register_plugin_function(
        plugin_path=_FOLDER,
        function_name="robots",
        args=[polars.col(urls) if isinstance(urls, str) else urls],
        kwargs={"set": os.path.abspath(os.fspath(web)), "agents": names, **defaults, **options},
        is_elementwise=True,
    )
