"""Builds verdicts as one column of structs, which a query function can return. Needs pyarrow.

The engine-specific code is in `spark.py`, `duckdb.py`, `polars.py` and `datafusion.py`.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow

from ._native import Agents, Set
from ._native import open as open_set
from ._types import UsageOptions

COLUMNS = "verdict,refused"
"""Default columns of a struct."""

SMALL = 50_000
"""Maximum number of URLs in a whole column that are decided on the calling thread."""


def resolved(web: Set | str | os.PathLike[str], agents: str | Sequence[str], exact: bool) -> Agents:
    """Resolves crawlers by a set or a set file, which is mapped."""
    return (web if isinstance(web, Set) else open_set(web, map=True)).agents(agents, exact=exact)


class Structs:
    """Decides arrays of URLs for some crawlers. Returns a struct for each URL, whose fields are all null where the URL
    is null. The fields have the types of ``Set.decide_many``, or those that ``type_of`` returns for them.

    The work runs on the calling thread, because engines that split columns process several parts in parallel. With
    ``is_whole``, an array may be a whole column, which all processors decide.
    """

    def __init__(
        self,
        agents: Agents,
        columns: str | Sequence[str],
        usage: UsageOptions,
        *,
        is_whole: bool = False,
        type_of: Callable[[pyarrow.DataType], pyarrow.DataType] | None = None,
    ) -> None:
        self._agents = agents
        self._columns = columns
        self._usage = usage
        self._is_whole = is_whole
        schema = pyarrow.schema(agents.decide_many([], columns, **usage))
        self.type = pyarrow.struct([(field.name, type_of(field.type) if type_of else field.type) for field in schema])

    def __call__(self, urls: Any) -> pyarrow.StructArray:
        is_parallel = self._is_whole and len(urls) > SMALL
        decided = pyarrow.table(self._agents.decide_many(urls, self._columns, parallel=is_parallel, **self._usage))
        arrays = [decided.column(field.name).cast(field.type).combine_chunks() for field in self.type]
        return pyarrow.StructArray.from_arrays(arrays, fields=list(self.type))
