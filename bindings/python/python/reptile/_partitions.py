"""Processes partitions in Spark's worker processes: functions from Arrow batches to Arrow batches.

They need pyarrow, but Spark only to find a file that it shipped. `spark.py` builds jobs from them.
"""

import dataclasses
import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow

from . import _opened, _times
from ._native import Agents, Set, compile, merge
from ._structs import Question, Structs
from ._types import DecideOptions

PIECE = 16 << 20
"""Bytes of a part in one row. A row must fit into an Arrow batch, and a few of them into memory."""

ROWS = 1000
"""Number of left-out captures, or of summarized origins, in one batch."""

PARTS = "is_first boolean, piece binary, origin string, error string"
"""The output schema of ``Compile`` in Spark's notation: pieces of a part, and captures that were left out."""

_SCHEMA = pyarrow.schema(
    [("is_first", pyarrow.bool_()), ("piece", pyarrow.binary()), ("origin", pyarrow.string()), ("error", pyarrow.string())]
)


def path_of(place: str, is_shipped: bool) -> str:
    """Returns a file's path on this machine."""
    if is_shipped:
        from pyspark import SparkFiles

        return SparkFiles.get(place)
    return place


MAX_MASK = 63
"""Maximum number of crawlers in a mask. Spark's numbers are signed."""


def spark_type(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Returns the type that Spark can take for a column of ``Set.decide_many``: signed numbers with 64 bits, times in
    microseconds, and texts. Spark reads the command's Parquet files with the same types, except for masks, which it
    reads as decimals."""
    if pyarrow.types.is_timestamp(kind):
        return pyarrow.timestamp("us", tz="UTC")
    if pyarrow.types.is_large_list(kind):
        return pyarrow.list_(pyarrow.string())
    return pyarrow.int64() if pyarrow.types.is_integer(kind) else pyarrow.string()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Crawlers:
    """A set on this machine, and crawlers."""

    place: str
    is_shipped: bool
    names: tuple[str, ...] | None
    """The crawlers, or None if rows name theirs."""
    exact: bool

    def opened(self) -> Agents | Set:
        """Returns the crawlers, or the set if rows name theirs. Each process maps the set once."""
        return _opened.opened(path_of(self.place, self.is_shipped), self.names, self.exact)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Query(Crawlers):
    """A question about each row."""

    columns: str | tuple[str, ...] | None
    options: DecideOptions
    has_times: bool
    headers: bool

    def structs(self, source: Agents | Set) -> Structs:
        """Returns structs with types that Spark supports."""
        # The schema does not depend on the type of the times.
        times = pyarrow.int64() if self.has_times else None
        question = Question(source, self.columns, self.options, times=times, headers=self.headers, exact=self.exact)
        crawlers = len(source) if isinstance(source, Agents) else 1
        if "mask" in question.schema.names and crawlers > MAX_MASK:
            raise ValueError(f"expected at most {MAX_MASK} crawlers for mask in Spark, found {crawlers}; use refused")
        return Structs(question, type_of=spark_type)


def _as_binary(texts: pyarrow.Array) -> pyarrow.Array:
    # Strings in Spark need not be valid UTF-8. Binary data may be anything, and the cast does not copy.
    return texts.cast(pyarrow.binary())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Decide(Query):
    """Adds columns of verdicts to each batch of a partition."""

    texts: tuple[str, ...]
    """The columns with URLs, and with crawlers if rows name theirs."""
    times: tuple[str, ...]
    """The column with times, if there is one."""

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        structs = self.structs(self.opened())
        names = [field.name for field in structs.type]
        for batch in batches:
            given = [_as_binary(batch.column(name)) for name in self.texts]
            added = structs(*given, *(batch.column(name) for name in self.times)).flatten()
            yield pyarrow.RecordBatch.from_arrays([*batch.columns, *added], names=[*batch.schema.names, *names])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Function(Query):
    """Returns a struct for each row: a function for SQL."""

    def robots(self, batches: Iterator[tuple[pyarrow.Array, ...]]) -> Iterator[pyarrow.Array]:
        """Decides a partition. Spark reads the method's types, and shows its name in plans."""
        structs = self.structs(self.opened())
        texts = 1 if self.names is not None else 2
        for batch in batches:
            # Spark passes a single argument without a tuple.
            columns = batch if isinstance(batch, tuple) else (batch,)
            yield structs(*map(_as_binary, columns[:texts]), *columns[texts:])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Summarize(Crawlers):
    """Summarizes a share of a set's origins for each number in a partition."""

    shares: int

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        crawlers, web = self.opened(), _opened.opened(path_of(self.place, self.is_shipped), None, self.exact)
        assert isinstance(crawlers, Agents) and isinstance(web, Set)
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            first, end = (len(web) * each // self.shares for each in (number, number + 1))
            origins = itertools.islice(web.origins(), first, end)
            while some := list(itertools.islice(origins, ROWS)):
                found = pyarrow.table(crawlers.summarize(some))
                schema = pyarrow.schema([(field.name, spark_type(field.type)) for field in found.schema])
                yield from found.cast(schema).combine_chunks().to_batches()


class Compile:
    """Compiles a partition's captures to a part, which is returned in pieces. An empty partition returns nothing."""

    def __init__(self, options: dict[str, Any], leaves_out: bool) -> None:
        self._options = options
        self._leaves_out = leaves_out

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="reptile-part-") as folder, _LeftOut(folder) as left_out:
            path = os.path.join(folder, "part.reptile")
            on_error = left_out.keep if self._leaves_out else None
            count = len(compile(captures(batches, on_error), path, on_error=on_error, **self._options))
            yield from left_out.batches()
            if count:
                yield from _pieces(path)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompileFiles:
    """Compiles a share of the files to a part for each number in a partition, with the command. Returns the parts in
    pieces, and the captures that were left out."""

    command: str
    is_shipped: bool
    arguments: tuple[str, ...]
    files: tuple[str, ...]
    shares: int
    leaves_out: bool

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            files = self.files[number :: self.shares]
            with tempfile.TemporaryDirectory(prefix="reptile-part-") as folder:
                path, fates = (os.path.join(folder, name) for name in ("part.reptile", "fates.parquet"))
                if files:
                    self._run(files, ["-o", path, "--fates", fates])
                    yield from _left_out_of(fates)
                    yield from _pieces(path)

    def _run(self, files: Sequence[str], outputs: Sequence[str]) -> None:
        names = b"".join(os.fsencode(file) + b"\0" for file in files)
        program = path_of(self.command, self.is_shipped)
        made = [program, "compile", "--quiet", *outputs, *self.arguments, "--files-from", "-"]
        ran = subprocess.run(made, input=names, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # 1: some captures were bad, and left out.
        if ran.returncode not in ((0, 1) if self.leaves_out else (0,)):
            text = ran.stderr.decode(errors="replace")
            raise ChildProcessError(f"{' '.join(made)}: exit code {ran.returncode}: {text}")


def _left_out_of(fates: str) -> Iterator[pyarrow.RecordBatch]:
    """Yields the captures that the command left out and named."""
    from pyarrow import parquet

    with parquet.ParquetFile(fates) as file:
        for batch in file.iter_batches(columns=["capture", "fate", "detail"]):
            rows = (row for row in batch.to_pylist() if row["fate"] in ("left-out", "bad"))
            if some := [(None, None, row["capture"], row["detail"]) for row in rows]:
                yield _batch(some)


class Merge:
    """Merges the parts in a partition's rows to one part, which is returned in pieces."""

    def __init__(self, memory: int) -> None:
        self._memory = memory

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="reptile-merge-") as folder, _LeftOut(folder) as left_out:
            rows = (row for batch in batches for row in batch.to_pylist())
            paths = fetched(rows, folder, left_out.keep)
            yield from left_out.batches()
            if paths:
                whole = os.path.join(folder, "whole.reptile")
                merge(paths, whole, memory=self._memory)
                yield from _pieces(whole)


class _LeftOut:
    """Left-out captures, in a temporary file, because there may be as many as there are rows."""

    def __init__(self, folder: str) -> None:
        self._file = open(os.path.join(folder, "left-out"), "w+", encoding="utf-8")

    def keep(self, origin: str, text: str) -> None:
        """Adds a capture."""
        print(json.dumps([origin, text]), file=self._file)

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yields all captures as rows."""
        self._file.seek(0)
        while some := [json.loads(line) for line in itertools.islice(self._file, ROWS)]:
            yield _batch([(None, None, origin, text) for origin, text in some])

    def __enter__(self) -> "_LeftOut":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _pieces(path: str) -> Iterator[pyarrow.RecordBatch]:
    is_first = True
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            yield _batch([(is_first, piece, None, None)])
            is_first = False


def _batch(rows: Sequence[tuple[bool | None, bytes | None, str | None, str | None]]) -> pyarrow.RecordBatch:
    columns = zip(*rows)
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, field.type) for column, field in zip(columns, _SCHEMA)], schema=_SCHEMA
    )


def captures(batches: Iterable[pyarrow.RecordBatch], on_error: Callable[[str, str], object] | None) -> Iterator[dict[str, Any]]:
    """Yields the rows as captures for ``reptile.compile``, one at a time because bodies may be large."""
    for batch in batches:
        names = batch.schema.names
        # Strings in Spark need not be valid UTF-8.
        columns = [
            column.cast(pyarrow.binary()) if name in ("url", "body") else column for name, column in zip(names, batch.columns)
        ]
        for row in zip(*columns):
            cells = {name: value for name, value in zip(names, row) if value.is_valid}
            try:
                capture = _capture(cells)
            except (ValueError, OverflowError) as error:
                url = cells["url"].as_py().decode(errors="replace") if "url" in cells else ""
                if on_error is None:
                    raise ValueError(f"{url}: {error}") from None
                on_error(url, str(error))
            else:
                yield capture


def _capture(cells: dict[str, pyarrow.Scalar]) -> dict[str, Any]:
    """Returns a row's capture. Raises ValueError, or OverflowError for a time that Python cannot represent."""
    if "url" not in cells:
        raise ValueError("a capture without url")
    fields = {name: cell.as_py() for name, cell in cells.items()}
    if not 100 <= fields.get("status", 200) <= 999:
        raise ValueError(f"expected a status, a number from 100 to 999, found {fields['status']}")
    if not 0 <= fields.get("redirects", 0) < 1 << 32:
        raise ValueError(f"expected the number of redirects, found {fields['redirects']}")
    if "time" in fields:
        fields["time"] = _times.seconds(fields["time"])
    truncated = fields.pop("truncated", False)
    if truncated not in (False, "false", ""):
        fields["truncated"] = "unspecified" if truncated in (True, "true") else truncated
        if fields["truncated"] not in _TRUNCATED:
            raise ValueError(f"expected true, false, {', '.join(_TRUNCATED)} for truncated, found {truncated!r}")
    return fields


_TRUNCATED = ("length", "time", "disconnect", "unspecified")

def fetched(rows: Iterable[Any], folder: str, on_error: Callable[[str, str], object] | None) -> list[str]:
    """Writes the parts in the rows from ``Compile`` to files in a folder, and returns their paths."""
    paths: list[str] = []
    for row in rows:
        if row["piece"] is None:
            if on_error is not None:
                on_error(row["origin"], row["error"])
            continue
        if row["is_first"]:
            paths.append(os.path.join(folder, f"{len(paths)}.reptile"))
        with open(paths[-1], "ab") as file:
            file.write(row["piece"])
    return paths
