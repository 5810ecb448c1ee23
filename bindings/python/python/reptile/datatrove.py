"""A filter for datatrove, the library used to build FineWeb and Apertus. Needs datatrove.

>>> from reptile.datatrove import RobotsFilter, refused_by_id                                         # doctest: +SKIP
>>> RobotsFilter("web.reptile", ["GPTBot", "CCBot"],                                                  # doctest: +SKIP
...              exclusion_writer=JsonlWriter("refused", adapter=refused_by_id))
"""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter

from . import _opened, _times
from ._native import PROFILES, Agents, Robots
from ._paths import absolute, with_absolute_vocabulary
from ._types import DecideOptions

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
    replaces ``robots`` in both names. The pipeline's statistics count verdicts, and disallowed documents for each
    crawler, including documents that are kept.

    ``scope`` selects the other origins that may decide a URL whose own robots.txt is unknown, as in ``Set.decide``.
    ``purpose``, such as "train-ai", also requires that websites allow this use of their pages, with ``unknown_usage``,
    ``lines`` and ``vocabulary`` as in ``Set.decide_many``: the verdicts and the refused crawlers are then those for the
    fetch and the use.

    With ``rights``, a profile such as "all", the statements that arrived with the page count too, as in ``Agent.rights``,
    and ``purpose`` is required. ``html_key`` is the metadata field with the page's HTML, or "text" for the document's
    text, which is HTML until an extractor has run. ``headers_key`` is the field with the response's headers. A document
    without its HTML or its headers may have lost a statement that forbids the use: it is unknown, or disallowed with
    ``unknown_usage="disallow"``, unless the profile ignores them. datatrove's readers of WARC files keep no headers, and
    its extractors replace the HTML, so run the filter before them, or let a reader store both.

    In a set by time, ``time_key`` decides each document by the rules at its own time, in ``metadata[time_key]``: an ISO
    8601 text such as "2026-03-14T15:09:26Z", a ``datetime``, or an integer in seconds since 1970. A time without a zone
    is in UTC. A document without a valid time is invalid. A set that is not by time is an error.

    The set is opened when the filter is created, so that a missing set or a misspelled name is an error at once. On a
    machine without the set, such as the login node of a cluster, ``check=False`` leaves this to the workers.

    Each worker maps the set file once. It must not be written to in the meantime, but a new file may be renamed over
    it. The filter is pickled with the paths of the set and of vocabulary and profile files.
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
        time_key: str | None = None,
        scope: Literal["origin", "scheme", "www", "domain"] = "origin",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
        rights: str | None = None,
        html_key: str | None = None,
        headers_key: str | None = None,
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
        # datatrove does not annotate that it may be None.
        writer: Any = exclusion_writer
        super().__init__(writer, batch_size)
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
        self.time_key = time_key
        self.purpose = purpose
        self.unknown_usage: Literal["allow", "disallow", "unknown"] | None = unknown_usage
        self.options: DecideOptions = {
            "scope": scope,
            "purpose": purpose,
            "unknown_usage": unknown_usage,
            "lines": lines,
            "vocabulary": vocabulary,
        }
        self.html_key = html_key
        self.headers_key = headers_key
        # With a purpose, its verdict replaces the fetch's.
        self.columns: Sequence[str] = ["verdict"] if purpose is None else []
        # Report invalid options now rather than in a worker.
        Robots("").agents("*").decide_many([], self.columns, **self.options)
        if rights is not None:
            if (scope, lines, vocabulary) != ("origin", "usage,tokens", "aipref-08"):
                raise ValueError("rights: cannot be combined with scope, lines or vocabulary; the profile names the lines")
            if purpose is None:
                raise ValueError("rights: requires purpose, the use that kept pages must permit, and unknown_usage")
            Robots("").agent("*").rights("/", None, None, uses=[], profile=rights, purpose=purpose, unknown_usage=unknown_usage)
        elif html_key is not None or headers_key is not None:
            raise ValueError("html_key and headers_key: require rights, the profile that names the statements that count")
        # Workers may have a different working folder.
        self.set_path = os.path.abspath(set_path)
        self.options = with_absolute_vocabulary(self.options)
        self.rights = None if rights is None else absolute(rights, PROFILES)
        if check:
            _opened.agents(self.set_path, self.agents, exact)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Tags a document. Returns whether it is kept, or why not."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Tags documents. Returns for each whether it is kept, or why not."""
        agents = _opened.agents(self.set_path, self.agents, self.exact)
        urls = [_bytes(doc.metadata.get(self.url_key)) for doc in batch]
        times = None
        if self.time_key is not None:
            times = [_times.seconds_or_none(doc.metadata.get(self.time_key)) for doc in batch]
        if self.rights is not None:
            given = zip(batch, urls, times or [None] * len(batch))
            return [self._tagged(doc, agents.names, self._page_verdicts(agents, doc, url, time)) for doc, url, time in given]
        # There is already one worker process per processor.
        found = agents.decide_many(urls, self.columns, times=times, parallel=False, **self.options)
        of_each = zip(*map(found.column, found.column_names))
        return [self._tagged(doc, agents.names, verdicts) for doc, verdicts in zip(batch, of_each)]

    def _page_verdicts(self, agents: Agents, doc: Document, url: str | bytes | None, time: int | None) -> list[str]:
        """Returns each crawler's verdict for the fetch and the purpose, with the page's own statements."""
        if url is None or time is None and self.time_key is not None:
            return ["invalid"] * len(agents)
        html = doc.metadata.get(self.html_key, doc.text if self.html_key == "text" else None) if self.html_key else None
        headers = doc.metadata.get(self.headers_key) if self.headers_key else None
        profile, purpose, unknown_usage = self.rights or "", self.purpose, self.unknown_usage
        found = agents.rights(
            url, headers, html, uses=[], profile=profile, purpose=purpose, unknown_usage=unknown_usage, at=time
        )
        return [str(rights.purpose) for rights in found]

    def _tagged(self, doc: Document, names: list[str], of_each: Iterable[str | None]) -> bool | tuple[bool, str]:
        # A document without a URL has no verdict.
        verdicts = ["invalid" if each is None else str(each) for each in of_each]
        verdict = _together(verdicts, self.any_of)
        refused = [name for name, each in zip(names, verdicts) if each == "disallow"]
        doc.metadata[self.key] = verdict
        doc.metadata[f"{self.key}_refused"] = refused
        self.stat_update(verdict, *(f"refused_{name}" for name in refused))
        keeps = {"allow": True, "disallow": False, "unknown": self.unknown == "keep", "invalid": self.invalid == "keep"}
        return True if self.mode == "tag" or keeps[verdict] else (False, f"{self.key}_{verdict}")


def _together(verdicts: list[str], any_of: bool) -> str:
    """Returns the verdict over all crawlers, as in ``reptile filter``."""
    # If all crawlers count, one refused crawler decides; with `any_of`, one allowed crawler does.
    for verdict in ("allow", "invalid", "unknown") if any_of else ("disallow", "invalid", "unknown"):
        if verdict in verdicts:
            return verdict
    return "disallow" if any_of else "allow"


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
