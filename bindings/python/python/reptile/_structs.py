"""Builds verdicts as one column of structs, which a query function can return. Needs pyarrow.

The engine-specific code is in `spark.py`, `duckdb.py`, `polars.py` and `datafusion.py`.
"""

import os
from collections.abc import Sequence
from typing import Any

import pyarrow

from ._native import Agents, Set
from ._native import open as open_set

COLUMNS = "verdict,refused"
"""Default columns of a struct."""

SMALL = 50_000
"""Maximum number of URLs in a whole column that are decided on the calling thread."""


def resolved(web: Set | str | os.PathLike[str], agents: str | Sequence[str], exact: bool) -> Agents:
    """Resolves crawlers by a set or a set file, which is mapped."""
    return (web if isinstance(web, Set) else open_set(web, map=True)).agents(agents, exact=exact)


class Structs:
    """Decides arrays of URLs for some crawlers. Returns a struct for each URL, whose fields are all null where the URL
    is null.

    The work runs on the calling thread, because engines that split columns process several parts in parallel. With
    ``is_large``, an array may be a whole column: it may hold more than 2 GB of text, and all processors decide it.
    """

    def __init__(self, agents: Agents, columns: str | Sequence[str], is_large: bool = False) -> None:
        self._agents = agents
        self._columns = columns
        self._is_large = is_large
        text = pyarrow.large_string() if is_large else pyarrow.string()
        texts = pyarrow.large_list(text) if is_large else pyarrow.list_(text)

        def plain(kind: pyarrow.DataType) -> pyarrow.DataType:
            """Returns a type that every engine supports. Line numbers fit because files have at most 16 MiB."""
            return pyarrow.int32() if pyarrow.types.is_uint32(kind) else texts if pyarrow.types.is_large_list(kind) else text

        schema = pyarrow.schema(agents.decide_many([], columns))
        self.type = pyarrow.struct([(field.name, plain(field.type)) for field in schema])

    def __call__(self, urls: Any) -> pyarrow.StructArray:
        is_parallel = self._is_large and len(urls) > SMALL
        decided = pyarrow.table(self._agents.decide_many(urls, self._columns, parallel=is_parallel))
        arrays = [decided.column(field.name).cast(field.type).combine_chunks() for field in self.type]
        return pyarrow.StructArray.from_arrays(arrays, fields=list(self.type))
