"""Builds verdicts as one column of structs, which a query function can return. Needs pyarrow.

The engine-specific code is in `spark.py`, `duckdb.py`, `polars.py` and `datafusion.py`.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow

from ._native import Agents, Set, Verdicts
from ._native import open as open_set
from ._paths import with_absolute_vocabulary
from ._types import DecideOptions

SMALL = 50_000
"""Maximum number of URLs in a whole column that are decided on the calling thread."""


def source_of(web: Set | str | os.PathLike[str], agents: str | Sequence[str] | None, exact: bool) -> Agents | Set:
    """Returns crawlers resolved by a set or by a mapped set file, or the set if rows name their crawlers."""
    web = web if isinstance(web, Set) else open_set(web, map=True)
    return web if agents is None else web.agents(agents, exact=exact)


class Question:
    """Decides arrays of URLs for some crawlers, or for the crawler in each row, and at the time in each row."""

    def __init__(
        self,
        source: Agents | Set,
        columns: str | Sequence[str] | None,
        options: DecideOptions,
        *,
        times: pyarrow.DataType | None = None,
        headers: bool = False,
        exact: bool = False,
    ) -> None:
        """If the source is a set, rows name their crawlers, and ``headers`` and ``exact`` are as in
        ``Set.decide_each``. ``times`` is the type of the rows' times, if they have times."""
        is_named = isinstance(source, Agents)
        if is_named and headers:
            raise ValueError("headers: has no effect if crawlers are named; it is about the crawlers in rows")
        self._source = source
        self._columns = columns if columns is not None else "verdict,refused" if is_named else "verdict,agent"
        self._options: dict[str, Any] = {**options} if is_named else {**options, "headers": headers, "exact": exact}
        self.row_values = (() if is_named else ("agents",)) + (() if times is None else ("times",))
        """The values that a row has after its URL, in this order."""
        empty = {"agents": pyarrow.array([], pyarrow.string()), "times": pyarrow.array([], times or pyarrow.int64())}
        self.schema = pyarrow.schema(self.decide([], *(empty[name] for name in self.row_values)))
        """The result's columns."""
        # A pickled query may run in a different working folder.
        self._options.update(with_absolute_vocabulary(options))

    def decide(self, urls: Any, *values: Any, parallel: bool = False) -> Verdicts:
        """Decides an array of URLs, with an array for each name in ``self.row_values``."""
        named: dict[str, Any] = {**dict(zip(self.row_values, values, strict=True)), **self._options}
        decide = self._source.decide_many if isinstance(self._source, Agents) else self._source.decide_each
        return decide(urls, columns=self._columns, parallel=parallel, **named)


class Structs:
    """Decides arrays of URLs. Returns a struct for each URL, whose fields are all null where the URL is null. The
    fields have the types of ``Set.decide_many``, or those that ``type_of`` returns for them.

    The work runs on the calling thread, because engines that split columns process several parts in parallel. With
    ``is_whole``, an array may be a whole column, which all processors decide.
    """

    def __init__(
        self,
        question: Question,
        *,
        is_whole: bool = False,
        type_of: Callable[[pyarrow.DataType], pyarrow.DataType] | None = None,
    ) -> None:
        self._question = question
        self._is_whole = is_whole
        self.type = pyarrow.struct(
            [(field.name, type_of(field.type) if type_of else field.type) for field in question.schema]
        )

    def __call__(self, urls: Any, *values: Any) -> pyarrow.StructArray:
        is_parallel = self._is_whole and len(urls) > SMALL
        decided = pyarrow.table(self._question.decide(urls, *values, parallel=is_parallel))
        arrays = [decided.column(field.name).cast(field.type).combine_chunks() for field in self.type]
        return pyarrow.StructArray.from_arrays(arrays, fields=list(self.type))
