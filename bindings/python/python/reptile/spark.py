"""Verdicts and set compilation in Apache Spark. Needs PySpark, and pyarrow on every machine.

>>> from reptile import spark                                                      # doctest: +SKIP
>>> urls = session.read.parquet("urls")                                            # doctest: +SKIP
>>> decided = spark.verdicts(urls, "/mnt/web.reptile", ["GPTBot", "CCBot"])         # doctest: +SKIP
>>> each = spark.verdicts(requests, "/mnt/web.reptile", agent_column="agent")        # doctest: +SKIP
>>> robots = spark.register(session, "/mnt/web.reptile", ["GPTBot", "CCBot"])       # doctest: +SKIP
>>> session.sql("select id, robots(url).refused from pages")                       # doctest: +SKIP

``verdicts`` adds columns to a DataFrame of URLs, and ``register`` makes a function for SQL. ``summarize`` returns the
access to each of a set's origins. ``compile_partitions`` compiles a DataFrame of captures to a set, and
``compile_files`` compiles files of captures.
"""

from __future__ import annotations

import errno
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pyarrow

from . import _partitions
from ._native import Agents, Set, compile, merge
from ._paths import with_absolute_vocabulary
from ._structs import source_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType
    from typing_extensions import Unpack

    from ._types import DecideOptions

__all__ = ["compile_files", "compile_partitions", "register", "summarize", "verdicts"]

MEMORY = 2 << 30
"""Default memory limit for a merge, in bytes."""

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
    ``capture_time``, ``capture``, and the disallowed crawlers as ``refused`` (a list) and ``mask``, which are null if the
    verdict is unknown or invalid. Spark has no unsigned numbers, so ``mask`` is limited to 63 crawlers. HOSTS.md lists the types.
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
    source, crawlers = _crawlers(set_path, agents, exact)
    decide = _partitions.Decide(
        **crawlers,
        columns=columns if isinstance(columns, str) else tuple(columns),
        options=with_absolute_vocabulary(options),
        has_times=times is not None,
        headers=headers,
        texts=tuple(name for name in (url_column, agent_column) if name is not None),
        times=() if times is None else (times,),
    )
    added = _schema(decide.structs(source).type)
    for name in added.names:
        if name in frame.columns:
            raise ValueError(f"the DataFrame already has a column {name!r}; drop or rename it")
    return frame.mapInArrow(decide, StructType([*frame.schema.fields, *added.fields]))


def register(
    session: SparkSession,
    set_path: str | os.PathLike[str],
    agents: str | Sequence[str] | None,
    columns: str | Sequence[str] | None = None,
    *,
    times: bool = False,
    headers: bool = False,
    name: str = "robots",
    exact: bool = False,
    **options: Unpack[DecideOptions],
) -> Callable[..., Any]:
    """Registers a function ``robots(url)`` in a session's SQL. It returns a struct with the columns of ``verdicts``, by
    default ``verdict`` and ``refused``. Needs Spark 4.1.

    ``set_path``, ``headers``, ``exact`` and ``options`` are as in ``verdicts``. Only the function's arguments pass
    through Python; other columns stay in the JVM, and Spark does not read columns that the query does not use. The
    struct is never null, but its fields are null where the URL is null.

    With ``agents=None``, the function is ``robots(url, agent)``, and each row names its crawler; the default columns
    are ``verdict`` and ``agent``. With ``times``, the function's last argument is the row's time: ``robots(url, time)``
    or ``robots(url, agent, time)``. Another call with the same ``name`` replaces the function.

    Returns the function for DataFrames: ``frame.select("id", robots("url"))``.
    """
    from pyspark.sql.pandas.functions import arrow_udf

    source, crawlers = _crawlers(set_path, agents, exact)
    function = _partitions.Function(
        **crawlers,
        columns=columns if columns is None or isinstance(columns, str) else tuple(columns),
        options=with_absolute_vocabulary(options),
        has_times=times,
        headers=headers,
    )
    # PySpark's stubs do not include functions that return structs.
    make: Any = arrow_udf
    found: Callable[..., Any] = make(function.robots, _schema(function.structs(source).type))
    session.udf.register(name, found)
    return found


def summarize(
    session: SparkSession,
    set_path: str | os.PathLike[str],
    agents: str | Sequence[str],
    *,
    tasks: int,
    exact: bool = False,
) -> DataFrame:
    """Returns the access to each origin of a set, with the rows and columns of ``Set.summarize`` and of ``reptile
    summarize``: ``url``, ``agent``, ``access``, ``group``, and so on.

    ``set_path`` and ``agents`` are as in ``verdicts``. Each task summarizes about the same number of origins. The rows
    are in the set's order.
    """
    source, crawlers = _crawlers(set_path, agents, exact)
    assert isinstance(source, Agents)
    _expect_tasks("tasks", tasks)
    schema = _schema(pyarrow.schema(source.summarize([])))
    work = _partitions.Summarize(**crawlers, shares=tasks)
    return session.range(0, tasks, 1, tasks).mapInArrow(work, schema)


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
    merge_tasks: int | None = None,
    memory: int = MEMORY,
    force: bool = False,
) -> Set:
    """Compiles a DataFrame of captures to a set file on the driver. Each partition becomes a part, and the driver
    merges the parts. With ``merge_tasks``, this number of tasks merges the parts first, so that the driver merges only
    their results.

    The set is identical, byte for byte, to the command's output for the same captures, regardless of the partitioning.
    The columns are ``url`` (of the robots.txt) and, where known, ``body`` (string or binary, decoded), ``status``,
    ``time`` (a timestamp, or seconds since 1970), ``redirects``, ``error`` (a message if there was no response),
    ``truncated``, ``cache_control`` and ``content_type``. Other columns are ignored. The options are those of
    ``reptile.compile``. ``partitions`` repartitions the captures first.

    Workers compile in parallel, in memory. Executors keep the parts on disk until the driver has fetched them, one at a
    time, to temporary files next to ``path``. A part must be smaller than ``spark.driver.maxResultSize``, and so must
    the result of a merging task. Each merge needs about ``memory`` bytes, on the driver or in a task.

    If a file with this path exists, ``FileExistsError`` is raised before the job starts, unless ``force`` is set. A
    capture that cannot be compiled fails the job. If ``on_error`` is given, such a capture is left out, and the driver
    calls ``on_error`` with its URL or origin and a message.
    """
    _expect_new(path, force)
    if merge_tasks is not None:
        _expect_tasks("merge_tasks", merge_tasks)
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
    parts = captures.mapInArrow(work, _partitions.PARTS)
    found = _merged(parts, path, merge_tasks, on_error, memory, force)
    # No partition had a capture.
    return compile({}, path, force=force, **options) if found is None else found


def compile_files(
    session: SparkSession,
    files: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    tasks: int,
    command: str | os.PathLike[str] = "reptile",
    arguments: Sequence[str] = (),
    on_error: Callable[[str, str], object] | None = None,
    merge_tasks: int | None = None,
    memory: int = MEMORY,
    force: bool = False,
) -> Set:
    """Compiles files of captures, such as WARC files, to a set file on the driver. Each task compiles its share of the
    files to a part with the command ``reptile compile``, and the parts are merged as in ``compile_partitions``.

    ``files`` are any inputs that the command accepts, as paths or URLs that every executor can read. ``command`` is the
    command's name or path on every executor, or the name of a file that was shipped with ``SparkContext.addFile``.
    ``arguments`` are options of ``reptile compile``, such as ``["--dialect=rfc9309", "--memory=1G"]``.

    The set is identical, byte for byte, to the command's output for all files, except for redirects and revisits in
    WARC files whose target is in another task's file, and captures that the command leaves out. ``on_error`` is called
    with each such capture's name and the reason. Without ``on_error``, a bad capture fails the job, and a warning
    states the number of missing targets.
    """
    _expect_new(path, force)
    for name, count in (("tasks", tasks), ("merge_tasks", 1 if merge_tasks is None else merge_tasks)):
        _expect_tasks(name, count)
    if not files:
        raise ValueError("files: expected the files to compile, found none")
    names = [os.fspath(file) for file in files]
    # A name without a folder, if it was not shipped, is looked up in each executor's PATH.
    program = os.fspath(command)
    work = _partitions.CompileFiles(
        command=os.path.abspath(program) if os.path.dirname(program) else program,
        is_shipped=_is_shipped(program),
        arguments=tuple(arguments),
        files=tuple(name if "://" in name else os.path.abspath(name) for name in names),
        shares=tasks,
        leaves_out=on_error is not None,
    )
    left_out: list[tuple[str, str]] = []
    parts = session.range(0, tasks, 1, tasks).mapInArrow(work, _partitions.PARTS)
    found = _merged(parts, path, merge_tasks, on_error or (lambda *each: left_out.append(each)), memory, force)
    assert found is not None
    if left_out:
        name, text = left_out[0]
        warnings.warn(f"{len(left_out):,} captures were left out, such as {name}: {text}", stacklevel=2)
    return found


def _merged(
    parts: DataFrame,
    path: str | os.PathLike[str],
    merge_tasks: int | None,
    on_error: Callable[[str, str], object] | None,
    memory: int,
    force: bool,
) -> Set | None:
    """Merges parts to a set file on the driver. Returns None if there are no parts."""
    path = os.path.abspath(path)
    # The temporary folder is on the disk that must have space for the set. If it cannot be created, nothing has run
    # yet.
    with tempfile.TemporaryDirectory(prefix=".reptile-parts-", dir=os.path.dirname(path)) as folder:
        with _kept(parts) as compiled:
            with _kept(_by_tasks(compiled, merge_tasks, memory)) if merge_tasks else nullcontext(compiled) as few:
                found = _partitions.fetched(few.toLocalIterator(), folder, on_error)
        return merge(found, path, memory=memory, force=force) if found else None


def _by_tasks(parts: DataFrame, tasks: int, memory: int) -> DataFrame:
    # A task reads its partitions sequentially, so nothing is shuffled.
    return parts.coalesce(tasks).mapInArrow(_partitions.Merge(memory), _partitions.PARTS)


@contextmanager
def _kept(frame: DataFrame) -> Iterator[DataFrame]:
    """Computes all partitions in parallel, and keeps them on the executors' disks. They are fetched one at a time."""
    from pyspark import StorageLevel

    kept = frame.persist(StorageLevel.DISK_ONLY)
    try:
        kept.count()
        yield kept
    finally:
        kept.unpersist()


def _expect_new(path: str | os.PathLike[str], force: bool) -> None:
    if not force and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "the file exists already; force=True replaces it", os.fspath(path))


def _expect_tasks(name: str, count: int) -> None:
    if count < 1:
        raise ValueError(f"{name}: expected at least 1 task, found {count}")


def _schema(fields: Iterable[pyarrow.Field]) -> StructType:
    """Returns Spark's type for columns from a partition."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(field.name, _type(field.type)) for field in fields])


def _type(kind: pyarrow.DataType) -> DataType:
    """Returns Spark's type for a column from a partition."""
    from pyspark.sql import types

    if pyarrow.types.is_list(kind):
        return types.ArrayType(types.StringType())
    if pyarrow.types.is_timestamp(kind):
        return types.TimestampType()
    return types.LongType() if pyarrow.types.is_integer(kind) else types.StringType()


def _crawlers(
    set_path: str | os.PathLike[str], agents: str | Sequence[str] | None, exact: bool
) -> tuple[Agents | Set, dict[str, Any]]:
    """Opens a set on the driver. Returns its crawlers, and the fields of ``_partitions.Crawlers``."""
    place, is_shipped = _place(os.fspath(set_path))
    source = source_of(_partitions.path_of(place, is_shipped), agents, exact)
    names = tuple(source.names) if isinstance(source, Agents) else None
    return source, {"place": place, "is_shipped": is_shipped, "names": names, "exact": exact}


def _place(path: str) -> tuple[str, bool]:
    """Returns a file's place for workers: its path, or its name if it was shipped."""
    is_shipped = _is_shipped(path)
    return (path, True) if is_shipped else (os.path.abspath(path), False)


def _is_shipped(path: str) -> bool:
    from pyspark import SparkContext, SparkFiles

    # Without a context in this process (Spark Connect), it is unknown which files were shipped.
    return not os.path.dirname(path) and bool(SparkContext._active_spark_context) and os.path.exists(SparkFiles.get(path))
