"""Processes partitions in Spark's worker processes: functions from Arrow batches to Arrow batches.

They need pyarrow, but Spark only to find a file that it shipped. `spark.py` builds jobs from them.
"""

import dataclasses
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow

from . import _opened, _times
from ._native import Agents, Set, compile
from ._structs import Question, Structs
from ._types import DecideOptions

PIECE = 16 << 20
"""Bytes of a part in one row. A row must fit into an Arrow batch, and a few of them into memory."""

ROWS = 1000
"""Number of left-out captures in one batch."""

PARTS = "is_first boolean, piece binary, origin string, error string"
"""The output schema of ``Compile`` in Spark's notation: pieces of a part, and captures that were left out."""

_SCHEMA = pyarrow.schema(
    [("is_first", pyarrow.bool_()), ("piece", pyarrow.binary()), ("origin", pyarrow.string()), ("error", pyarrow.string())]
)


def path_of(place: str, is_shipped: bool) -> str:
    """Returns a set's path on this machine."""
    if is_shipped:
        from pyspark import SparkFiles

        return SparkFiles.get(place)
    return place


MAX_MASK = 63
"""Maximum number of crawlers in a mask. Spark's numbers are signed."""


def _type(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Returns the type that Spark can take for a column of ``Set.decide_many``: signed numbers with 64 bits, times in
    microseconds, and texts. Spark reads the command's Parquet files with the same types, except for masks, which it
    reads as decimals."""
    if pyarrow.types.is_timestamp(kind):
        return pyarrow.timestamp("us", tz="UTC")
    if pyarrow.types.is_large_list(kind):
        return pyarrow.list_(pyarrow.string())
    return pyarrow.int64() if pyarrow.types.is_integer(kind) else pyarrow.string()


@dataclasses.dataclass(frozen=True)
class Decide:
    """Adds columns of verdicts to each batch of a partition."""

    place: str
    is_shipped: bool
    names: tuple[str, ...] | None
    """The crawlers, or None if rows name theirs."""
    columns: str | tuple[str, ...]
    options: DecideOptions
    url_column: str
    exact: bool
    agent_column: str | None = None
    time_column: str | None = None
    headers: bool = False

    def structs(self, source: Agents | Set) -> Structs:
        """Returns structs with types that Spark supports."""
        # The schema does not depend on the type of the times.
        times = None if self.time_column is None else pyarrow.int64()
        question = Question(source, self.columns, self.options, times=times, headers=self.headers, exact=self.exact)
        crawlers = len(source) if isinstance(source, Agents) else 1
        if "mask" in question.schema.names and crawlers > MAX_MASK:
            raise ValueError(f"expected at most {MAX_MASK} crawlers for mask in Spark, found {crawlers}; use refused")
        return Structs(question, type_of=_type)

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        source = _opened.opened(path_of(self.place, self.is_shipped), self.names, self.exact)
        structs = self.structs(source)
        names = [field.name for field in structs.type]
        texts = [name for name in (self.url_column, self.agent_column) if name is not None]
        times = [name for name in (self.time_column,) if name is not None]
        for batch in batches:
            # Strings in Spark need not be valid UTF-8. Binary data may be anything, and the cast does not copy.
            given = [batch.column(name).cast(pyarrow.binary()) for name in texts]
            added = structs(*given, *(batch.column(name) for name in times)).flatten()
            yield pyarrow.RecordBatch.from_arrays([*batch.columns, *added], names=[*batch.schema.names, *names])


class Compile:
    """Compiles a partition's captures to a part, which is returned in pieces. An empty partition returns nothing."""

    def __init__(self, options: dict[str, Any], leaves_out: bool) -> None:
        self._options = options
        self._leaves_out = leaves_out

    def __call__(self, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="reptile-part-") as folder:
            path = os.path.join(folder, "part.reptile")
            with open(os.path.join(folder, "left-out"), "w+", encoding="utf-8") as left_out:
                # Use a file, because there may be as many as rows.
                keep = lambda origin, text: print(json.dumps([origin, text]), file=left_out)
                on_error = keep if self._leaves_out else None
                count = len(compile(captures(batches, on_error), path, on_error=on_error, **self._options))
                left_out.seek(0)
                yield from _left_out(left_out)
            if count:
                yield from _pieces(path)


def _left_out(lines: Iterable[str]) -> Iterator[pyarrow.RecordBatch]:
    lines = iter(lines)
    while some := [json.loads(line) for line in itertools.islice(lines, ROWS)]:
        yield _batch([(None, None, origin, text) for origin, text in some])


def _pieces(path: str) -> Iterator[pyarrow.RecordBatch]:
    is_first = True
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            yield _batch([(is_first, piece, None, None)])
            is_first = False


def _batch(rows: list[tuple[bool | None, bytes | None, str | None, str | None]]) -> pyarrow.RecordBatch:
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
