"""The event that started the job, annotations, and the comment."""

import json
import os
import re
import urllib.error
import urllib.request

from report import Report, Stop, marker, visible

MAX_ANNOTATIONS = 10
"""Maximum number of annotations of each level. GitHub shows no more for a step."""
MAX_COMMENT_PAGES = 30
"""Maximum number of pages, of 100 comments each, that the action searches for its comment."""
REQUEST_SECONDS = 30
"""Seconds without an answer after which a request fails."""

AUTHOR = "github-actions[bot]"
"""The account of a job's token. A comment by another account is never changed, whatever its text."""


class Event:
    """The event that started the job."""

    def __init__(self) -> None:
        self.name = os.environ["GITHUB_EVENT_NAME"]
        with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            event = json.load(file)
        self.pull_request: dict | None = event.get("pull_request")
        self.commit: str = self.pull_request["head"]["sha"] if self.pull_request else os.environ["GITHUB_SHA"]
        if not re.fullmatch("[0-9a-f]{40,64}", self.commit):
            raise Stop("the event names no commit")

    @property
    def is_fork(self) -> bool:
        """Whether the pull request is from another repository, or from a deleted one."""
        head = self.pull_request["head"]["repo"] if self.pull_request else None
        return self.pull_request is not None and (head is None or head["full_name"] != os.environ["GITHUB_REPOSITORY"])


def stop(message: str) -> None:
    """Writes the reason why the check did not run."""
    print(f"::error title=Check robots.txt::{escaped(message)}")


def annotate(report: Report) -> None:
    """Writes annotations, which GitHub shows next to the lines of the files."""
    left = {"error": MAX_ANNOTATIONS, "warning": MAX_ANNOTATIONS, "notice": MAX_ANNOTATIONS}
    for level, file, line, title, message in annotations(report):
        if left[level] > 0:
            left[level] -= 1
            file, title = escaped(file, is_property=True), escaped(visible(title), is_property=True)
            print(f"::{level} file={file},line={line},title={title}::{escaped(visible(message))}")


def annotations(report: Report):
    """Yields the level, the file, the line, the title and the message of each annotation."""
    for outcome in report.proofs.objects if report.proofs else []:
        if not outcome["passed"]:
            # At the first deciding rule, or else at the assertion.
            line = next((verdict["line"] for verdict in outcome["verdicts"] if verdict["line"]), 0)
            file, line = (report.robots, line) if line else (report.assertions, outcome["line"])
            yield "error", file, line, outcome["assertion"], outcome["message"]
    for change in report.comparisons():
        for kind in ("closes", "opens"):
            example = change.get(kind)
            if example and example["new"].get("line"):
                names = ", ".join(change["agents"])
                yield "notice", report.robots, example["new"]["line"], f"{kind} {example['path']}", f"for {names}"
    for finding in report.findings():
        level = "notice" if finding["severity"] == "note" else finding["severity"]
        yield level, report.robots, finding["line"], finding["code"], finding["message"]


def escaped(text: str, is_property: bool = False) -> str:
    """Escapes text for a workflow command. Properties also end at commas and colons."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text


def comment(event: Event, token: str, robots: str, text: str, is_changed: bool) -> None:
    """Writes the action's comment, or updates it.

    Writes no comment if there is none and the pull request does not change the files. The job does not depend on the
    comment, because some tokens cannot write.
    """
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
    number = int(event.pull_request["number"])
    try:
        old = own_comment(f"{repository}/issues/{number}/comments", token, marker(robots))
        if old is None and is_changed:
            request("POST", f"{repository}/issues/{number}/comments", token, {"body": text})
        elif old is not None and old["body"] != text:
            request("PATCH", f"{repository}/issues/comments/{int(old['id'])}", token, {"body": text})
    except urllib.error.HTTPError as error:
        if error.code not in (401, 403, 404):
            print(f"::warning title=Check robots.txt::The comment was not written: GitHub answered {error.code}.")
        elif event.is_fork:
            print("::notice title=Check robots.txt::The token of a pull request from a fork cannot comment. See the job's summary.")
        else:
            print("::warning title=Check robots.txt::The token cannot comment. Give the job the permission pull-requests: write.")
    except (OSError, ValueError):
        print("::warning title=Check robots.txt::The comment was not written: GitHub did not answer.")


def own_comment(url: str, token: str, first_line: str) -> dict | None:
    """Returns the comment that an earlier run wrote."""
    for page in range(1, MAX_COMMENT_PAGES + 1):
        comments = request("GET", f"{url}?per_page=100&page={page}", token)
        for old in comments:
            # A deleted account is null.
            if (old["user"] or {}).get("login") == AUTHOR and old["body"].startswith(first_line):
                return old
        if len(comments) < 100:
            return None
    return None


def request(method: str, url: str, token: str, content: dict | None = None):
    """Sends a request, and returns the answer."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if content is None else json.dumps(content).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=REQUEST_SECONDS) as answer:
        return json.load(answer)
