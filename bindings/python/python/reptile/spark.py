"""Verdicts and set compilation in Apache Spark. Needs PySpark, and pyarrow on every machine.

>>> from reptile import spark                                                      # doctest: +SKIP
>>> urls = session.read.parquet("urls")                                            # doctest: +SKIP
>>> decided = spark.verdicts(urls, "/mnt/web.reptile", ["GPTBot", "CCBot"])         # doctest: +SKIP
>>> each = spark.verdicts(requests, "/mnt/web.reptile", agent_column="agent")        # doctest: +SKIP

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
from ._native import Agents, Set, compile, merge
from ._paths import with_absolute_vocabulary
from ._structs import source_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType
    from typing_extensions import Unpack

    from ._types import DecideOptions

__all__ = ["compile_partitions", "verdicts"]

MEMORY = 2 << 30
"""Default memory limit for merging on the driver, in bytes."""

_WHOLE = ("byte", "short", "integer", "long")
_TEXTS = ("string", "binary")
_TIMES = (*_WHOLE, "timestamp", "timestamp_ntz", "date")

_CAPTURES = {
    "url": ("string",),
    "body": _TEXTS,
    "status": _WHOLE,
    "time": _TIMES,
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
    agents: str | Sequence[str] | None = None,
    *,
    url_column: str = "url",
    agent_column: str | None = None,
    times: str | None = None,
    columns: str | Sequence[str] = "verdict",
    headers: bool = False,
    exact: bool = False,
    **options: Unpack[DecideOptions],
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

    ``agent_column``, a column of strings instead of ``agents``, has each row's crawler, as in ``Set.decide_each``,
    which also explains ``headers``. The added columns are then ``verdict``, ``line``, ``agent`` and so on. A name in a
    row that is probably misspelled fails the job, unless ``exact`` is set or the names are headers.

    ``times`` is a column with each row's time, in a set by time: a timestamp, a date, or a whole number of seconds
    since 1970.

    ``options`` are the options ``uses``, ``lines``, ``vocabulary``, ``purpose``, ``unknown_usage`` and ``scope`` of
    ``Set.decide_many``. A vocabulary file must have the same path on every machine.
    """
    from pyspark.sql.types import StructType

    if (agents is None) == (agent_column is None):
        raise ValueError("expected either agents, which are names, or agent_column, a column with each row's crawler")
    _expect_column(frame, url_column, "URLs as strings or bytes", _TEXTS)
    if agent_column is not None:
        _expect_column(frame, agent_column, "crawlers as strings or bytes", _TEXTS)
    if times is not None:
        _expect_column(frame, times, "times as timestamps, dates or whole numbers", _TIMES)
    place, is_shipped = _place(os.fspath(set_path))
    source = source_of(_partitions.path_of(place, is_shipped), agents, exact)
    decide = _partitions.Decide(
        place=place,
        is_shipped=is_shipped,
        names=tuple(source.names) if isinstance(source, Agents) else None,
        columns=columns if isinstance(columns, str) else tuple(columns),
        options=with_absolute_vocabulary(options),
        url_column=url_column,
        agent_column=agent_column,
        time_column=times,
        headers=headers,
        exact=exact,
    )
    schema = StructType(list(frame.schema.fields))
    for field in decide.structs(source).type:
        if field.name in frame.columns:
            raise ValueError(f"the DataFrame already has a column {field.name!r}; drop or rename it")
        schema.add(field.name, _type(field.type))
    return frame.mapInArrow(decide, schema)


def _expect_column(frame: DataFrame, name: str, expected: str, types: Sequence[str]) -> None:
    found = [field for field in frame.schema.fields if field.name == name]
    if len(found) != 1 or found[0].dataType.typeName() not in types:
        have = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields)
        raise ValueError(f"expected one column {name!r} with {expected}; the columns are {have}")


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
