"""The report as Markdown. Untrusted text appears only in code spans."""

import re
import urllib.parse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

MAX_COMMENT_BYTES = 65_536
"""Maximum size of a report. GitHub accepts comments of 65,536 characters, and a character has at least one byte."""
MAX_ITEMS = 25
"""Maximum number of items in a list. The heading counts all."""
MAX_QUOTED_CHARACTERS = 300
"""Maximum number of characters shown of a text."""
MAX_CRAWLERS = 8
"""Maximum number of crawlers named in an item."""

GUIDE = "https://github.com/reptile-robots/reptile/blob/main/cli/guide/ci.md"
CUT = "\nThe rest of the report is too long for a comment.\n"


class Stop(Exception):
    """The check cannot run. The message is not from the pull request."""


@dataclass
class Answer:
    """The result of a command: its exit code (0 nothing found, 1 something found, 2 error), objects and messages."""

    code: int
    objects: list[dict]
    messages: list[str]


@dataclass
class Report:
    """The results for a pull request or a commit. An answer is None if its question was not asked."""

    robots: str
    assertions: str
    existed: bool
    exists: bool
    robots_changed: bool
    assertions_changed: bool
    lint: Answer | None = None
    proofs: Answer | None = None
    changes: Answer | None = None
    known: set[str] = field(default_factory=set)
    """The product tokens of the known crawlers, in lower case."""
    lost_assertions: bool = False
    was_unreadable: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether the pull request changes one of the files."""
        return self.robots_changed or self.assertions_changed

    def findings(self) -> list[dict]:
        """Returns the linter's findings, the most severe first."""
        order = ("error", "warning", "note")
        return sorted(self.lint.objects if self.lint else [], key=lambda finding: (order.index(finding["severity"]), finding["line"]))

    def comparisons(self) -> list[dict]:
        """Returns the comparisons with changes and known crawlers first, so that a list of invented names hides neither."""

        def is_invented(name: str) -> bool:
            return name != "*" and name.lower() not in self.known

        found = [change | {"agents": sorted(change["agents"] or [], key=is_invented)} for change in (self.changes.objects if self.changes else [])]
        return sorted(found, key=lambda change: (change["equal"] is True, all(map(is_invented, change["agents"]))))

    def failures(self) -> list[str]:
        """Returns the reasons why the check fails."""
        errors = sum(finding["severity"] == "error" for finding in self.findings())
        failed = sum(not outcome["passed"] for outcome in self.proofs.objects) if self.proofs else 0
        questions = {"file not linted": self.lint, "assertions not checked": self.proofs, "versions not compared": self.changes}
        return [
            *([counted(errors, "error")] if errors else []),
            *([counted(failed, "failed assertion")] if failed else []),
            *(["assertions deleted"] if self.lost_assertions else []),
            *(name for name, answer in questions.items() if answer and answer.code == 2),
        ]


def visible(text: str) -> str:
    """Returns the start of a text. Characters that are invisible, change its direction or end a line are escaped."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: MAX_QUOTED_CHARACTERS + 1])
    return shown if len(shown) <= MAX_QUOTED_CHARACTERS else shown[:MAX_QUOTED_CHARACTERS] + "..."


def code(text: str) -> str:
    """Returns a text as a code span. GitHub reads no Markdown, HTML, mention or link in it."""
    shown = visible(text)
    # A span ends at the first run of backticks with the length of its opening run.
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    # The space next to each fence is not part of the span.
    pad = " " if not shown or shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown.strip() else "(empty)"


def marker(robots: str) -> str:
    """Returns the first line of the comment about a file. Later runs find the comment by it."""
    # Quoted like this, no path ends an HTML comment.
    return f"<!-- reptile check {urllib.parse.quote(robots, safe='/').replace('-', '%2D')} -->\n"


def render(report: Report, commit: str) -> str:
    """Returns the report, with the most important part first, and its end cut if necessary."""
    title = f"### {code(report.robots)}: {', '.join(report.failures()) or 'passed'}\n"
    parts = [marker(report.robots) + title, *changes(report), *proofs(report), *findings(report)]
    end = f"\n<sub>Commit {code(commit)}, checked by [Reptile]({GUIDE})</sub>\n"
    return fitting(parts, end, MAX_COMMENT_BYTES)


def fitting(parts: Iterable[str], end: str, limit: int) -> str:
    """Joins parts and the end within `limit` bytes. Leaves out the last parts if necessary, and adds a remark."""
    parts = list(parts)
    if size("".join(parts) + end) <= limit:
        return "".join(parts) + end
    text = ""
    for part in parts:
        if size(text + part + CUT + end) > limit:
            break
        text += part
    return text + CUT + end


def size(text: str) -> int:
    """Returns a text's size in bytes."""
    return len(text.encode())


def changes(report: Report) -> Iterator[str]:
    """Yields the paths that open and close."""
    if report.changes is None:
        return
    robots = code(report.robots)
    yield "\n**What changes for crawlers**\n\n"
    if not report.exists:
        yield f"This pull request deletes {robots}. Without it, crawlers may fetch everything.\n\n"
    elif not report.existed:
        yield f"{robots} is new. Without it, crawlers may fetch everything.\n\n"
    if report.was_unreadable:
        yield "The old version is not a robots.txt, so it is compared as an empty file.\n\n"
    if report.changes.code == 2:
        yield from listed(f"- {code(message)}\n" for message in report.changes.messages)
        return
    # Crawlers with the same result are listed together.
    rows: dict[str, tuple[dict, list[str]]] = {}
    for change in report.comparisons():
        key = repr([change["equal"], change.get("opens"), change.get("closes"), change.get("unproved")])
        rows.setdefault(key, (change, []))[1].extend(change["agents"])
    yield from listed(line for change, names in rows.values() for line in change_lines(change, crawlers(names)))
    if any(change["equal"] is False for change, _ in rows.values()):
        yield "\nEach path is a shortest example, and others may change too.\n"


def change_lines(change: dict, names: str) -> Iterator[str]:
    """Yields the items about one comparison."""
    if change["equal"]:
        yield f"- Nothing changes for {names}: proved for every URL.\n"
        return
    for kind in ("closes", "opens"):
        if example := change.get(kind):
            yield f"- {code(example['path'])} {kind} for {names}. Before: {side(example['old'])}. Now: {side(example['new'])}.\n"
        elif kind in change.get("unproved", []):
            yield f"- Whether another path {kind} for {names} is unproved: the rules are too complex.\n"
    if "opens" not in change:
        text = "Some path changes" if change["equal"] is False else "Whether any path changes is unproved"
        yield f"- {text} for {names}: the files are too complex for an example.\n"


def side(explanation: dict) -> str:
    """Returns a verdict with the deciding rule and its line, or with the reason without a rule."""
    rule, reason = explanation.get("rule"), explanation["reason"]
    if rule is not None:
        reason = f"line {explanation['line']}, {code(rule)}"
    elif not re.fullmatch("[A-Za-z ]+", reason):
        reason = code(reason)
    return f"{explanation['verdict']}, {reason}"


def crawlers(names: list[str]) -> str:
    """Returns the first crawlers of a list."""
    if not names:
        return "any crawler"
    shown = [code(name) for name in names[:MAX_CRAWLERS]]
    if more := len(names) - len(shown):
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def proofs(report: Report) -> Iterator[str]:
    """Yields the assertions, failed ones first."""
    name = code(report.assertions)
    if report.lost_assertions:
        yield f"\n**Assertions**\n\nThis pull request deletes {name}, so no assertion was checked.\n"
    if report.proofs is None:
        return
    if report.proofs.code == 2:
        yield f"\n**Assertions** in {name}: not checked\n\n"
        yield from listed(f"- {code(message)}\n" for message in report.proofs.messages)
        return
    outcomes = sorted(report.proofs.objects, key=lambda outcome: (outcome["passed"], outcome["line"]))
    failed = sum(not outcome["passed"] for outcome in outcomes)
    yield f"\n**Assertions** in {name}: {len(outcomes) - failed} proved, {failed} failed\n\n"
    if report.assertions_changed:
        yield f"This pull request changes {name} too.\n\n"
    yield from listed(outcome_line(outcome) for outcome in outcomes)


def outcome_line(outcome: dict) -> str:
    """Returns an assertion with its result."""
    place = f"- Line {outcome['line']}, {code(outcome['assertion'])},"
    if outcome["result"] == "holds":
        return f"{place} holds.\n"
    why = "".join(f" {code(verdict['crawler'])}: {side(verdict)}." for verdict in outcome["verdicts"])
    message = outcome["message"]
    if not why:
        # The action has no options such as --allow-default.
        message = message.partition("; --")[0]
    return f"{place} {'is unproved' if outcome['result'] == 'unproved' else 'fails'}: {code(message)}.{why}\n"


def findings(report: Report) -> Iterator[str]:
    """Yields the linter's findings."""
    if report.lint is None:
        return
    if report.lint.code == 2:
        yield "\n**Findings**: not linted\n\n"
        yield from listed(f"- {code(message)}\n" for message in report.lint.messages)
        return
    found = report.findings()
    counts = [(severity, sum(finding["severity"] == severity for finding in found)) for severity in ("error", "warning", "note")]
    yield f"\n**Findings**: {', '.join(counted(count, severity) for severity, count in counts if count) or 'none'}\n"
    yield "\n" if found else ""
    yield from listed(finding_line(finding) for finding in found)


def finding_line(finding: dict) -> str:
    """Returns a finding with its fix."""
    fix = f" Fix: {code(finding['fix'])}." if finding["fix"] else ""
    return f"- Line {finding['line']}, {finding['severity']} {code(finding['code'])}: {code(finding['message'])}.{fix}\n"


def listed(items: Iterable[str]) -> Iterator[str]:
    """Yields the first items of a list, and the number of remaining items."""
    items = list(items)
    yield from items[:MAX_ITEMS]
    if len(items) > MAX_ITEMS:
        yield f"- and {len(items) - MAX_ITEMS} more\n"


def counted(count: int, noun: str) -> str:
    """Returns a number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
