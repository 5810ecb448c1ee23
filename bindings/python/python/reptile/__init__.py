"""The Robots Exclusion Protocol, compiled.

>>> import reptile
>>> web = reptile.compile({"https://example.com/robots.txt": "user-agent: *\\ndisallow: /private"})
>>> web.decide("GPTBot", "https://example.com/private/notes")
<Verdict.DISALLOW: 'disallow'>
>>> web.explain("GPTBot", "https://example.com/private/notes").line
2
>>> web.decide_many("GPTBot", ["https://example.com/", "https://example.org/"])["GPTBot:verdict"]
[<Verdict.ALLOW: 'allow'>, <Verdict.UNKNOWN: 'unknown'>]
>>> robots = reptile.Robots("user-agent: *\\ndisallow: /cart\\n\\nuser-agent: GPTBot\\ndisallow: /images")
>>> robots.agent("GPTBot").permits_no_more_than(robots.agent("*")).path
'/cart'
>>> robots = reptile.Robots("user-agent: *\\ndisallow: /cart\\ndisallow: /cart/help")
>>> [(finding.line, finding.code) for finding in robots.lint()]
[(3, 'shadowed-rule')]
>>> robots.fix()
b'user-agent: *\\ndisallow: /cart\\n'
>>> robots.prove("disallow * /cart/*", allow_default=True)[0].holds
True

``open`` opens a set file, and ``Robots`` parses one robots.txt. ``OneShot`` answers a single question about a file in a
few microseconds. ``reptile.robotparser``, ``reptile.protego`` and ``reptile.scrapy`` replace ``urllib.robotparser``,
Protego and Scrapy's parsers. ``reptile.spark``, ``reptile.datatrove``, ``reptile.duckdb``, ``reptile.polars`` and
``reptile.datafusion`` decide URLs inside these engines.
"""

from ._findings import AssertionsError, Edit, Finding, Findings, Fix, Mistake, Outcome
from ._native import (
    FORMAT_VERSION,
    Agent,
    Agents,
    Explanation,
    OneShot,
    Origins,
    Robots,
    Set,
    VerdictReader,
    Verdicts,
    compile,
    dialects,
    merge,
    open,
)
from ._native import VERSION as __version__
from ._rights import Rights
from ._types import (
    Access,
    Comparison,
    Counterexample,
    CrawlerError,
    Decision,
    Directive,
    Error,
    FormatError,
    IgnoredColumnWarning,
    Verdict,
    Witness,
)

__all__ = [
    "FORMAT_VERSION",
    "Access",
    "Agent",
    "Agents",
    "AssertionsError",
    "Comparison",
    "Counterexample",
    "CrawlerError",
    "Decision",
    "Directive",
    "Edit",
    "Error",
    "Explanation",
    "Finding",
    "Findings",
    "Fix",
    "FormatError",
    "IgnoredColumnWarning",
    "Mistake",
    "OneShot",
    "Origins",
    "Outcome",
    "Rights",
    "Robots",
    "Set",
    "Verdict",
    "VerdictReader",
    "Verdicts",
    "Witness",
    "__version__",
    "compile",
    "dialects",
    "merge",
    "open",
]
