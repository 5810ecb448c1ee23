"""A filter for datatrove, the library used to build FineWeb and Apertus. Needs datatrove.

>>> from reptile.datatrove import RobotsFilter, refused_by_id                                         # doctest: +SKIP
>>> RobotsFilter("web.reptile", ["GPTBot", "CCBot"],                                                  # doctest: +SKIP
...              exclusion_writer=JsonlWriter("refused", adapter=refused_by_id))
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter

from . import _opened

if TYPE_CHECKING:
    import pyarrow

__all__ = ["RobotsFilter", "refused_by_id", "refused_schema"]

BATCH_SIZE = 1000
"""Default number of documents that are held in memory and decided at a time."""


class RobotsFilter(BaseFilter):
    """Keeps the documents that crawlers may fetch by the robots.txt files of a set, or tags every document.

    ``agents`` are crawler names, or groups such as "@ai-training". A document is kept if all of them may fetch its URL,
    or with ``any_of`` if at least one may. ``unknown`` and ``invalid`` specify what happens to documents whose origin
    is not in the set, and to documents without a valid URL. The defaults are those of the command ``reptile filter``.
    With ``mode="tag"``, every document is kept.

    The URL is in ``metadata[url_key]``. Each document, kept or not, gets two metadata fields: ``robots`` is "allow",
    "disallow", "unknown" or "invalid", and ``robots_refused`` lists the crawlers that may not fetch it. ``key``
    replaces ``robots`` in both names. The pipeline's statistics count verdicts, and disallowed documents for each crawler,
    including documents that are kept.

    The set is opened when the filter is made, so that a missing set or a misspelled name is an error at once. On a
    machine without the set, such as the login node of a cluster, ``check=False`` leaves this to the workers.

    Each worker maps the set file once. It must not be written to in the meantime, but a new file may be renamed over
    it. The filter itself pickles as the path.
    """

    name = "🤖 robots.txt"

    def __init__(
        self,
        set_path: str | os.PathLike[str],
        agents: str | Sequence[str],
        *,
        mode: Literal["keep", "tag"] = "keep",
        any_of: bool = False,
        unknown: Literal["keep", "drop"] = "drop",
        invalid: Literal["keep", "drop"] = "drop",
        url_key: str = "url",
        key: str = "robots",
        exact: bool = False,
        exclusion_writer: DiskWriter | None = None,
        batch_size: int = BATCH_SIZE,
        check: bool = True,
    ) -> None:
        for name, value, known in [
            ("mode", mode, ("keep", "tag")),
            ("unknown", unknown, ("keep", "drop")),
            ("invalid", invalid, ("keep", "drop")),
        ]:
            if value not in known:
                raise ValueError(f"{name}: expected {' or '.join(known)}, found {value!r}")
        if batch_size < 1:
            raise ValueError(f"batch_size: expected 1 or more, found {batch_size}")
        super().__init__(exclusion_writer, batch_size)
        # Workers may have another working folder.
        self.set_path = os.path.abspath(set_path)
        self.agents = (agents,) if isinstance(agents, str) else tuple(agents)
        if not self.agents:
            raise ValueError("no crawler is named; a name is, for example, 'GPTBot'")
        self.mode = mode
        self.any_of = any_of
        self.unknown = unknown
        self.invalid = invalid
        self.url_key = url_key
        self.key = key
        self.exact = exact
        if check:
            _opened.agents(self.set_path, self.agents, exact)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Tags a document. Returns whether it is kept, or why not."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Tags documents. Returns for each whether it is kept, or why not."""
        agents = _opened.agents(self.set_path, self.agents, self.exact)
        # There is already one worker process per processor.
        verdicts = agents.decide_many([_bytes(doc.metadata.get(self.url_key)) for doc in batch], "verdict,refused", parallel=False)
        # Unknown and invalid are the same for every crawler.
        of_first, refused = verdicts.column(verdicts.column_names[0]), verdicts["refused"]
        return [
            self._tagged(doc, "invalid" if first is None else str(first), names or [], len(agents))
            for doc, first, names in zip(batch, of_first, refused)
        ]

    def _tagged(self, doc: Document, of_first: str, refused: list[str], crawlers: int) -> bool | tuple[bool, str]:
        verdict = of_first
        if of_first in ("allow", "disallow"):
            verdict = "disallow" if len(refused) >= (crawlers if self.any_of else 1) else "allow"
        doc.metadata[self.key] = verdict
        doc.metadata[f"{self.key}_refused"] = refused
        self.stat_update(verdict, *(f"refused_{name}" for name in refused))
        keeps = {"allow": True, "disallow": False, "unknown": self.unknown == "keep", "invalid": self.invalid == "keep"}
        return True if self.mode == "tag" or keeps[verdict] else (False, f"{self.key}_{verdict}")


def _bytes(url: Any) -> bytes | None:
    return url.encode("utf-8", "surrogatepass") if isinstance(url, str) else None


def refused_by_id(writer: DiskWriter, document: Document) -> dict[str, Any]:
    """Returns the ID, verdict and disallowed crawlers of a document, without its text, for a writer with
    ``adapter=refused_by_id``.

    An ``exclusion_writer`` with this adapter lists the documents that were dropped; a writer after a filter with
    ``mode="tag"`` lists all documents. The list can be joined with any other copy of the documents. The tags must have
    their default names.
    """
    return {"id": document.id, **{name: document.metadata[name] for name in ("robots", "robots_refused")}}


def refused_schema() -> "pyarrow.Schema":
    """Returns the ``schema`` for a ``ParquetWriter`` with ``adapter=refused_by_id``. By default the writer infers types
    from the first document, which fails for an empty list. Needs pyarrow.
    """
    import pyarrow

    text = pyarrow.string()
    return pyarrow.schema([("id", text), ("robots", text), ("robots_refused", pyarrow.list_(text))])
