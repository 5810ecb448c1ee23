import datetime
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeVar, final

import pandas
import polars
import pyarrow
from typing_extensions import Unpack

from ._findings import Findings, Outcome, Severity
from ._rights import Rights
from ._types import Access, Comparison, Directive, FrameOptions, SetFrameOptions, Verdict, Witness

__all__ = [
    "FORMAT_VERSION",
    "PROFILES",
    "VERSION",
    "VOCABULARIES",
    "Agent",
    "Agents",
    "Explanation",
    "OneShot",
    "Origins",
    "Robots",
    "Set",
    "VerdictReader",
    "Verdicts",
    "_agent",
    "_agents",
    "_explanation",
    "_verdicts",
    "compile",
    "dialects",
    "merge",
    "open",
]

VERSION: Final[str]
FORMAT_VERSION: Final[int]
VOCABULARIES: Final[list[str]]
PROFILES: Final[list[str]]

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

_Frame = TypeVar("_Frame")
_Pairs = Iterable[tuple[str | bytes, str | bytes]]

class _Items(Protocol):
    def items(self) -> _Pairs: ...

_Headers = _Items | _Pairs

_Urls = _ArrowStream | _ArrowArray | Iterable[str | None] | Iterable[bytes | None]

_Scope = Literal["origin", "scheme", "www", "domain"]
_Moment = int | datetime.datetime
_Times = str | _ArrowStream | _ArrowArray | Iterable[_Moment | None]

_Row = tuple[str | bytes, str | bytes] | dict[str, Any]
_Captures = Mapping[str, str | bytes] | Iterable[_Row] | _ArrowStream | _ArrowArray

@final
class Explanation:
    @property
    def verdict(self) -> Verdict: ...
    @property
    def rule(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def group(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def allow(self) -> str | None: ...
    @property
    def disallow(self) -> str | None: ...
    @property
    def origin(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Verdicts:
    def __copy__(self) -> Verdicts: ...
    def __deepcopy__(self, _memo: dict[int, Any], /) -> Verdicts: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def column_names(self) -> list[str]: ...
    def column(self, name: str) -> list[Any]: ...
    def __getitem__(self, key: str, /) -> list[Any]: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def __len__(self) -> int: ...

@final
class VerdictReader:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Agent:
    def __copy__(self) -> Agent: ...
    def __deepcopy__(self, _memo: dict[int, Any], /) -> Agent: ...
    @property
    def name(self) -> str: ...
    @property
    def tokens(self) -> list[str]: ...
    @property
    def is_named(self) -> bool: ...
    def decide(self, url: str | bytes, *, at: _Moment | None = None, scope: _Scope = "origin") -> Verdict: ...
    def explain(self, url: str | bytes, *, at: _Moment | None = None, scope: _Scope = "origin") -> Explanation: ...
    def access(self, url: str | bytes) -> Access: ...
    def crawl_delay(self, url: str | bytes) -> float | None: ...
    def directives(self, url: str | bytes) -> list[Directive]: ...
    def usage(
        self,
        url: str | bytes,
        uses: str | Sequence[str],
        *,
        at: _Moment | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
    ) -> dict[str, Literal["allowed", "disallowed", "unknown", "not-applicable"]]: ...
    def usage_lines(self, url: str | bytes) -> list[Directive]: ...
    def rights(
        self,
        url: str | bytes,
        headers: _Headers | None,
        html: str | bytes | None,
        *,
        uses: str | Sequence[str] | None = None,
        profile: str = "all",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        at: _Moment | None = None,
        truncated: bool = False,
    ) -> Rights: ...
    def compare(self, other: Agent, url: str | bytes | None = None) -> Comparison: ...
    def permits_no_more_than(self, other: Agent, url: str | bytes | None = None) -> Witness: ...

@final
class Agents:
    def __copy__(self) -> Agents: ...
    def __deepcopy__(self, _memo: dict[int, Any], /) -> Agents: ...
    @property
    def names(self) -> list[str]: ...
    def decide(self, url: str | bytes, *, at: _Moment | None = None, scope: _Scope = "origin") -> list[Verdict]: ...
    def rights(
        self,
        url: str | bytes,
        headers: _Headers | None,
        html: str | bytes | None,
        *,
        uses: str | Sequence[str] | None = None,
        profile: str = "all",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        at: _Moment | None = None,
        truncated: bool = False,
    ) -> list[Rights]: ...
    def summarize(self, origins: str | Iterable[str] | None = None) -> Verdicts: ...
    def with_verdicts(
        self, frame: _Frame, columns: str | Sequence[str] | None = None, **options: Unpack[FrameOptions]
    ) -> _Frame: ...
    def decide_many(
        self,
        urls: _Urls,
        columns: str | Sequence[str] | None = None,
        *,
        url_column: str | None = None,
        uses: str | Sequence[str] | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        times: _Times | None = None,
        scope: _Scope = "origin",
        parallel: bool = True,
    ) -> Verdicts: ...
    def decide_stream(
        self,
        urls: _Urls,
        columns: str | Sequence[str] | None = None,
        *,
        url_column: str | None = None,
        uses: str | Sequence[str] | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        times: _Times | None = None,
        scope: _Scope = "origin",
        parallel: bool = True,
    ) -> VerdictReader: ...
    def __len__(self) -> int: ...

@final
class Robots:
    def __new__(cls, body: str | bytes, dialect: str = "google") -> Robots: ...
    @classmethod
    def parse(cls, body: str | bytes, dialect: str = "google") -> Robots: ...
    @property
    def dialect(self) -> str: ...
    @property
    def sitemaps(self) -> list[str]: ...
    @property
    def directives(self) -> list[Directive]: ...
    @property
    def diagnostics(self) -> list[tuple[int, str]]: ...
    def decide(self, agent: str, url: str | bytes, *, exact: bool = False) -> Verdict: ...
    def explain(self, agent: str, url: str | bytes, *, exact: bool = False) -> Explanation: ...
    def agent(self, name: str, *, exact: bool = False, verbatim: bool = False) -> Agent: ...
    def agents(self, names: str | Sequence[str], *, exact: bool = False) -> Agents: ...
    def agent_of_header(self, header: str | bytes) -> Agent | None: ...
    def compare(self, other: Robots, crawler: str, *, exact: bool = False) -> Comparison: ...
    def lint(
        self, *, host: str | None = None, enable: str | Sequence[str] | None = None, severity: Severity = "note"
    ) -> Findings: ...
    def fix(
        self,
        *,
        host: str | None = None,
        severity: Severity = "note",
        codes: str | Sequence[str] | None = None,
        lines: Sequence[int] | None = None,
    ) -> bytes: ...
    def prove(self, assertions: str, *, allow_default: bool = False) -> list[Outcome]: ...

@final
class OneShot:
    def __new__(cls, crawler: str, dialect: str = "google", *, exact: bool = False) -> OneShot: ...
    @property
    def name(self) -> str: ...
    @property
    def dialect(self) -> str: ...
    def decide(self, body: str | bytes, url: str | bytes) -> tuple[Verdict, int | None]: ...
    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, bool]]: ...

@final
class Origins(Iterator[str]):
    def __iter__(self) -> Origins: ...
    def __next__(self) -> str: ...

@final
class Set:
    def __copy__(self) -> Set: ...
    def __deepcopy__(self, _memo: dict[int, Any], /) -> Set: ...
    @property
    def dialect(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def time(self) -> int | None: ...
    @property
    def path(self) -> os.PathLike[str] | None: ...
    @property
    def crawlers(self) -> list[str]: ...
    def decide(
        self, agent: str, url: str | bytes, *, at: _Moment | None = None, exact: bool = False, scope: _Scope = "origin"
    ) -> Verdict: ...
    def explain(
        self, agent: str, url: str | bytes, *, at: _Moment | None = None, exact: bool = False, scope: _Scope = "origin"
    ) -> Explanation: ...
    def decide_many(
        self,
        agents: str | Sequence[str],
        urls: _Urls,
        columns: str | Sequence[str] | None = None,
        *,
        url_column: str | None = None,
        uses: str | Sequence[str] | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        times: _Times | None = None,
        scope: _Scope = "origin",
        parallel: bool = True,
        exact: bool = False,
    ) -> Verdicts: ...
    def decide_stream(
        self,
        agents: str | Sequence[str],
        urls: _Urls,
        columns: str | Sequence[str] | None = None,
        *,
        url_column: str | None = None,
        uses: str | Sequence[str] | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        times: _Times | None = None,
        scope: _Scope = "origin",
        parallel: bool = True,
        exact: bool = False,
    ) -> VerdictReader: ...
    def decide_each(
        self,
        urls: _Urls,
        agents: str | _Urls,
        columns: str | Sequence[str] | None = None,
        *,
        url_column: str | None = None,
        uses: str | Sequence[str] | None = None,
        lines: str = "usage,tokens",
        vocabulary: str = "aipref-08",
        purpose: str | None = None,
        unknown_usage: Literal["allow", "disallow", "unknown"] | None = None,
        times: _Times | None = None,
        scope: _Scope = "origin",
        headers: bool = False,
        parallel: bool = True,
        exact: bool = False,
    ) -> Verdicts: ...
    def with_verdicts(
        self,
        agents: str | Sequence[str],
        frame: _Frame,
        columns: str | Sequence[str] | None = None,
        **options: Unpack[SetFrameOptions],
    ) -> _Frame: ...
    def agent(self, name: str, *, exact: bool = False) -> Agent: ...
    def agents(self, names: str | Sequence[str], *, exact: bool = False) -> Agents: ...
    def agent_of_header(self, header: str | bytes) -> Agent | None: ...
    def summarize(
        self, agents: str | Sequence[str], origins: str | Iterable[str] | None = None, *, exact: bool = False
    ) -> Verdicts: ...
    def origins(self) -> Origins: ...
    def verify(self, *, deep: bool = False) -> None: ...
    def sitemaps(self, url: str | bytes) -> list[str] | None: ...
    def directives(self, url: str | bytes) -> list[Directive] | None: ...
    def __iter__(self) -> Origins: ...
    def __contains__(self, url: str | bytes, /) -> bool: ...
    def __len__(self) -> int: ...

def open(path: str | os.PathLike[str], map: bool = False) -> Set: ...
def compile(
    captures: _Captures,
    path: str | os.PathLike[str] | None = None,
    *,
    dialect: str = "google",
    profile: str | None = None,
    at: _Moment | None = None,
    by_time: bool = False,
    line_numbers: bool = True,
    other_directives: bool = True,
    on_error: Callable[[str, str], object] | None = None,
    force: bool = False,
) -> Set: ...
def merge(
    sets: Iterable[Set | str | os.PathLike[str]],
    path: str | os.PathLike[str] | None = None,
    *,
    memory: int = 2147483648,
    force: bool = False,
) -> Set: ...
def dialects() -> list[str]: ...

# Pickles contain references to these functions.
def _agent(resolver: Set | Robots, name: str, is_verbatim: bool, /) -> Agent: ...
def _agents(resolver: Set | Robots, names: Sequence[str], /) -> Agents: ...
def _explanation(
    verdict: Verdict,
    rule: str | None,
    line: int | None,
    group: str,
    reason: str,
    allow: str | None,
    disallow: str | None,
    origin: str | None,
    text: str,
    /,
) -> Explanation: ...
def _verdicts(columns: list[Any], metadata: dict[str, str], batches: list[Any], /) -> Verdicts: ...
