"""Verdicts in Apache Spark, and sets compiled by it. Needs PySpark, and pyarrow on every machine.

>>> from reptile import spark                                                      # doctest: +SKIP
>>> urls = session.read.parquet("urls")                                            # doctest: +SKIP
>>> decided = spark.verdicts(urls, "/mnt/web.reptile", ["GPTBot", "CCBot"])         # doctest: +SKIP

``verdicts`` adds columns to a DataFrame of URLs, ``compile_partitions`` makes a set of a DataFrame of captures.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _partitions
from ._native import Set, compile, merge
from ._native import open as open_set
from ._structs import Structs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["compile_partitions", "verdicts"]

MEMORY = 2 << 30
"""The bytes of memory that merging takes on the driver, unless the caller says another number."""

_WHOLE = ("byte", "short", "integer", "long")

_CAPTURES = {
    "url": ("string",),
    "body": ("string", "binary"),
    "status": _WHOLE,
    "time": (*_WHOLE, "timestamp", "timestamp_ntz", "date"),
    "redirects": _WHOLE,
    "error": ("string",),
    "truncated": ("boolean", "string"),
    "cache_control": ("string",),
    "content_type": ("string",),
}
"""The columns of captures and the types that they may have."""


def verdicts(
    frame: DataFrame,
    set_path: str | os.PathLike[str],
    agents: str | Sequence[str],
    *,
    url_column: str = "url",
    columns: str | Sequence[str] = "verdict",
    exact: bool = False,
) -> DataFrame:
    """The DataFrame with columns of verdicts added to each row, which is null where the URL is.

    ``set_path`` is a set file that every machine has at this path, or the name of one that was shipped with
    ``SparkContext.addFile`` or ``--files``. A worker process maps it once: nobody may write into it, and a new one may be renamed
    over it. The driver opens it too, so that a set that is absent and a name that is most likely misspelt are errors at once.

    ``agents`` are names, or groups such as "@ai-training". ``columns`` are, for each crawler, ``NAME:verdict``, ``NAME:line``,
    ``NAME:rule``, ``NAME:group`` and ``NAME:reason``, chosen by the last word, and ``refused``, the list of the crawlers that may
    not fetch the URL, null where that is unknown or the URL is invalid. Spark runs nothing until the result is used; an error of a
    partition is one of the job.
    """
    from pyspark.sql.types import ArrayType, IntegerType, StringType, StructType

    found = [field for field in frame.schema.fields if field.name == url_column]
    if len(found) != 1 or found[0].dataType.typeName() not in ("string", "binary"):
        have = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields)
        raise ValueError(f"expected one column {url_column!r} of URLs, texts or bytes; the columns are {have}")
    place, is_shipped = _place(os.fspath(set_path))
    resolved = open_set(_partitions.path_of(place, is_shipped), map=True).agents(agents, exact=exact)
    columns = columns if isinstance(columns, str) else tuple(columns)
    schema = StructType(list(frame.schema.fields))
    for field in Structs(resolved, columns).type:
        if field.name in frame.columns:
            raise ValueError(f"the DataFrame has a column {field.name!r} already; drop or rename it")
        kind = (
            ArrayType(StringType()) if field.name == "refused" else IntegerType() if field.name.endswith(":line") else StringType()
        )
        schema.add(field.name, kind)
    decide = _partitions.Decide(place, is_shipped, tuple(resolved.names), columns, url_column, exact)
    return frame.mapInArrow(decide, schema)


def compile_partitions(
    frame: DataFrame,
    path: str | os.PathLike[str],
    *,
    partitions: int | None = None,
    dialect: str = "google",
    profile: str | None = None,
    at: int | None = None,
    by_time: bool = False,
    line_numbers: bool = True,
    other_directives: bool = True,
    on_error: Callable[[str, str], object] | None = None,
    memory: int = MEMORY,
) -> Set:
    """Compiles a DataFrame of captures to a set file of the driver: a part from each partition, merged by the driver.

    The set is, byte for byte, the one that the command makes of the same captures, however they are spread. The columns are
    ``url`` (of the robots.txt) and, as far as known, ``body`` (text or bytes, decoded), ``status``, ``time`` (a timestamp, or
    seconds since 1970), ``redirects``, ``error`` (a text, if there was no answer), ``truncated``, ``cache_control`` and
    ``content_type``; others are left aside. The options are those of ``reptile.compile``. With ``partitions`` the captures are
    first spread over so many.

    Workers compile at the same time, each in memory. Executors keep the parts on disk until the driver has fetched them, one by
    one, to temporary files beside ``path``; a part has to be smaller than ``spark.driver.maxResultSize``. Merging takes about
    ``memory`` bytes.

    A capture that cannot be compiled is an error of the job, or is left out if ``on_error`` is given, which the driver
    calls with its URL or origin and a text.
    """
    from pyspark import StorageLevel

    types = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    if "url" not in types:
        raise ValueError(f"expected a column 'url' with the URLs of robots.txt files; the columns are {', '.join(frame.columns)}")
    if "body" not in types and "body_base64" in types:
        raise ValueError("the bodies are in 'body_base64': add a column 'body' with pyspark.sql.functions.unbase64")
    for name, known in _CAPTURES.items():
        if types.get(name, known[0]) not in known:
            raise ValueError(f"expected the column {name!r} to be {' or '.join(known)}, found {types[name]}")
    options: dict[str, Any] = {
        "dialect": dialect,
        "profile": profile,
        "at": at,
        "by_time": by_time,
        "line_numbers": line_numbers,
        "other_directives": other_directives,
    }
    # Wrong options are errors now, not those of a job.
    compile({}, **options)
    captures = frame.select([name for name in _CAPTURES if name in types])
    if partitions is not None:
        captures = captures.repartition(partitions)
    work = _partitions.Compile(options, leaves_out=on_error is not None)
    path = os.path.abspath(path)
    # The temporary folder is on the disk on which there has to be room for the set. If it cannot be made, nothing has run yet.
    with tempfile.TemporaryDirectory(prefix=".reptile-parts-", dir=os.path.dirname(path)) as folder:
        parts = captures.mapInArrow(work, _partitions.PARTS).persist(StorageLevel.DISK_ONLY)
        try:
            # All partitions compile at the same time here; below they are fetched one after the other.
            parts.count()
            found = _partitions.fetched(parts.toLocalIterator(), folder, on_error)
        finally:
            parts.unpersist()
        return merge(found, path, memory=memory) if found else compile({}, path, **options)


def _place(path: str) -> tuple[str, bool]:
    """Where workers find a set: its path, or its name if it was shipped."""
    from pyspark import SparkContext, SparkFiles

    # Without a context in this process (Spark Connect) nothing tells which files were shipped.
    if not os.path.dirname(path) and SparkContext._active_spark_context and os.path.exists(SparkFiles.get(path)):
        return path, True
    return os.path.abspath(path), False
