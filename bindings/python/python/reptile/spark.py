"""Verdicts and set compilation in Apache Spark. Needs PySpark, and pyarrow on every machine.

>>> from reptile import spark                                                      # doctest: +SKIP
>>> urls = session.read.parquet("urls")                                            # doctest: +SKIP
>>> decided = spark.verdicts(urls, "/mnt/web.reptile", ["GPTBot", "CCBot"])         # doctest: +SKIP

``verdicts`` adds columns to a DataFrame of URLs. ``compile_partitions`` compiles a DataFrame of captures to a set.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow

from . import _partitions
from ._native import Set, compile, merge
from ._native import open as open_set

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType
    from typing_extensions import Unpack

    from ._types import UsageOptions

__all__ = ["compile_partitions", "verdicts"]

MEMORY = 2 << 30
"""Default memory limit for merging on the driver, in bytes."""

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
"""The columns of captures with their allowed types."""


def verdicts(
    frame: DataFrame,
    set_path: str | os.PathLike[str],
    agents: str | Sequence[str],
    *,
    url_column: str = "url",
    columns: str | Sequence[str] = "verdict",
    exact: bool = False,
    **usage: Unpack[UsageOptions],
) -> DataFrame:
    """Returns the DataFrame with columns of verdicts added. They are null where the URL is null.

    ``set_path`` is a set file with this path on every machine, or the name of one that was shipped with
    ``SparkContext.addFile`` or ``--files``. Each worker process maps it once. It must not be written to, but a new file
    may be renamed over it. The driver opens it too, so that a missing set or a misspelled name is an error at once.

    ``agents`` are names, or groups such as "@ai-training". ``columns`` are, for each crawler, ``NAME:verdict``,
    ``NAME:line``, ``NAME:rule``, ``NAME:group``, ``NAME:reason`` and ``NAME:ruleset``, selected by their last word,
    ``capture_time``, and the disallowed crawlers as ``refused`` (a list) and ``mask``, which are null if the verdict is
    unknown or invalid. Spark has no unsigned numbers, so ``mask`` is limited to 63 crawlers. HOSTS.md lists the types.
    Spark runs nothing until the result is used. An error in a partition fails the job.

    ``usage`` are the options ``uses``, ``lines``, ``vocabulary``, ``purpose`` and ``unknown_usage`` of
    ``Set.decide_many``. A vocabulary file must have the same path on every machine.
    """
    from pyspark.sql.types import StructType

    found = [field for field in frame.schema.fields if field.name == url_column]
    if len(found) != 1 or found[0].dataType.typeName() not in ("string", "binary"):
        have = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields)
        raise ValueError(f"expected one column {url_column!r} with URLs as strings or bytes; the columns are {have}")
    place, is_shipped = _place(os.fspath(set_path))
    resolved = open_set(_partitions.path_of(place, is_shipped), map=True).agents(agents, exact=exact)
    columns = columns if isinstance(columns, str) else tuple(columns)
    schema = StructType(list(frame.schema.fields))
    for field in _partitions.structs_of(resolved, columns, usage).type:
        if field.name in frame.columns:
            raise ValueError(f"the DataFrame already has a column {field.name!r}; drop or rename it")
        schema.add(field.name, _type(field.type))
    decide = _partitions.Decide(place, is_shipped, tuple(resolved.names), columns, usage, url_column, exact)
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
    force: bool = False,
) -> Set:
    """Compiles a DataFrame of captures to a set file on the driver. Each partition becomes a part, and the driver
    merges the parts.

    The set is identical, byte for byte, to the command's output for the same captures, regardless of the partitioning.
    The columns are ``url`` (of the robots.txt) and, where known, ``body`` (string or binary, decoded), ``status``,
    ``time`` (a timestamp, or seconds since 1970), ``redirects``, ``error`` (a message if there was no response),
    ``truncated``, ``cache_control`` and ``content_type``. Other columns are ignored. The options are those of
    ``reptile.compile``. ``partitions`` repartitions the captures first.

    Workers compile in parallel, in memory. Executors keep the parts on disk until the driver has fetched them, one at a
    time, to temporary files next to ``path``. A part must be smaller than ``spark.driver.maxResultSize``. Merging needs
    about ``memory`` bytes.

    If a file with this path exists, ``FileExistsError`` is raised before the job starts, unless ``force`` is set. A
    capture that cannot be compiled fails the job. If ``on_error`` is given, such a capture is left out, and the driver
    calls ``on_error`` with its URL or origin and a message.
    """
    from pyspark import StorageLevel

    if not force and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "the file exists already; force=True replaces it", os.fspath(path))
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
    # Report invalid options now rather than in a job.
    compile({}, **options)
    captures = frame.select([name for name in _CAPTURES if name in types])
    if partitions is not None:
        captures = captures.repartition(partitions)
    work = _partitions.Compile(options, leaves_out=on_error is not None)
    path = os.path.abspath(path)
    # The temporary folder is on the disk that must have space for the set. If it cannot be created, nothing has run
    # yet.
    with tempfile.TemporaryDirectory(prefix=".reptile-parts-", dir=os.path.dirname(path)) as folder:
        parts = captures.mapInArrow(work, _partitions.PARTS).persist(StorageLevel.DISK_ONLY)
        try:
            # All partitions compile in parallel here; below they are fetched one at a time.
            parts.count()
            found = _partitions.fetched(parts.toLocalIterator(), folder, on_error)
        finally:
            parts.unpersist()
        return merge(found, path, memory=memory, force=force) if found else compile({}, path, force=force, **options)


def _type(kind: pyarrow.DataType) -> DataType:
    """Returns Spark's type for a column from a partition."""
    from pyspark.sql import types

    if pyarrow.types.is_list(kind):
        return types.ArrayType(types.StringType())
    if pyarrow.types.is_timestamp(kind):
        return types.TimestampType()
    return types.LongType() if pyarrow.types.is_integer(kind) else types.StringType()


def _place(path: str) -> tuple[str, bool]:
    """Returns where workers find a set: its path, or its name if it was shipped."""
    from pyspark import SparkContext, SparkFiles

    # Without a context in this process (Spark Connect), it is unknown which files were shipped.
    if not os.path.dirname(path) and SparkContext._active_spark_context and os.path.exists(SparkFiles.get(path)):
        return path, True
    return os.path.abspath(path), False
