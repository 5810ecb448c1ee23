#!/usr/bin/env python3
"""Runs other people's test suites on Reptile, and compares the differences with reasons.toml.

    bench/suites/suites.py --reptile target/debug/reptile --suite NAME=FOLDER [--suite ...]

NAME is a suite in reasons.toml, which has its repository and commit, and FOLDER is a checkout. This repository contains no
suite. A suite's files are read as data, and none of its code runs; `readers.py` has a reader for each suite.

For each suite and dialect, the program prints the numbers of checks and equal answers, and each difference with its
reason. A question that the command does not accept, such as one about a name that no group can have, is refused, and
needs a reason too. The exit code is 1 if a difference has no reason, if a reason has more or fewer differences than it
states, or if a suite has more or fewer checks than reasons.toml states. A reader therefore cannot lose checks
unnoticed. `--table` prints only the table.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor

from readers import READERS, Access, Dictionary, Verdict

COLUMNS = ("suite", "commit", "dialect", "checks", "equal", "refused", "different")
HERE = pathlib.Path(__file__).resolve().parent


class Reptile:
    """Asks the command."""

    def __init__(self, program, room):
        self.program, self.room = program, room

    def run(self, *arguments):
        """Returns the command's lines, or its error message."""
        ran = subprocess.run([self.program, *arguments], capture_output=True, check=False)
        if ran.returncode not in (0, 1):
            return "refused: " + ran.stderr.decode("utf-8", "replace").strip().splitlines()[0].removeprefix("reptile: ")
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def folder(self, bodies):
        """Returns a new folder with a robots.txt for each body, named by a host with the body's number."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.room))
        for number, body in enumerate(bodies):
            (folder / f"{number}.example").write_bytes(body)
        return folder

    def verdicts(self, questions, dialect):
        """Yields the answer to each question about a URL. Questions about one file and crawler share a process."""
        together = {}
        for place, question in enumerate(questions):
            together.setdefault((question.body, question.agent), []).append(place)
        folder = self.folder(body for body, _ in together)

        def ask(file, agent, places):
            urls = [questions[place].url.encode("utf-8", "surrogateescape") for place in places]
            # With a status, the command accepts any text. If it rejects one of the URLs, each URL is asked separately.
            options = ["test", file, "--agent", agent, "--dialect", dialect, "--status", "200", "--json", "--"]
            answers = self.run(*options, *urls)
            if isinstance(answers, str) and len(urls) > 1:
                return [ask(file, agent, [place])[0] for place in places]
            return [answers] if isinstance(answers, str) else [answer["verdict"] for answer in answers]

        answers = {}
        with ThreadPoolExecutor() as pool:
            jobs = [
                (places, pool.submit(ask, folder / f"{number}.example", agent, places))
                for number, ((_, agent), places) in enumerate(together.items())
            ]
            for places, job in jobs:
                answers |= zip(places, job.result(), strict=True)
        return [answers[place] for place in range(len(questions))]

    def dictionaries(self, questions, dialect):
        """Returns for each dictionary the members that are `y` or `n`, or the kind of failure."""
        bodies = [b"User-agent: *\nContent-Usage: " + question.text + b"\n" for question in questions]
        options = ["fields", self.folder(bodies), "--kind", "content-usage", "--dialect", dialect, "--json"]
        found = {}
        for line in self.run(*options):
            number = int(re.search(r"//(\d+)\.example", line["origin"])[1])
            means = line["means"]
            words = {"allowed": "y", "disallowed": "n", "unknown": "other"}
            statement = {key: words[value] for key, value in (means["statement"] or {}).items()}
            found[number] = "not a dictionary" if means["error"] else statement if means["path"] is None else "a path"
        return [found.get(number, "left out") for number in range(len(questions))]

    def accesses(self, questions, dialect):
        """Returns for each file and crawler how many of its URLs are disallowed: all, some or none."""
        words = {"allowed": "none", "disallowed": "all", "partial": "some"}
        folder = self.folder(question.body for question in questions)

        def ask(place):
            file, agent = self.folder([(folder / f"{place}.example").read_bytes()]), questions[place].agent
            rows = self.run("summarize", file, "--agent", agent, "--dialect", dialect, "--format", "jsonl")
            return rows if isinstance(rows, str) else words[rows[0]["access"]]

        with ThreadPoolExecutor() as pool:
            return list(pool.map(ask, range(len(questions))))


ASK = {Verdict: Reptile.verdicts, Dictionary: Reptile.dictionaries, Access: Reptile.accesses}


class Reasons:
    """The suites and the reasons for differences in reasons.toml."""

    def __init__(self, path):
        with open(path, "rb") as file:
            content = tomllib.load(file)
        self.suites = {suite["name"]: suite for suite in content["suite"]}
        self.reasons = content.get("difference", [])
        self.hits = collections.Counter()

    def of(self, suite, dialect, case, found):
        """Returns the reason for a difference, or None if no reason covers this answer."""
        for place, reason in enumerate(self.reasons):
            is_about = reason["suite"] == suite and dialect in reason["dialects"] and str(found).startswith(reason["found"])
            if is_about and any(fnmatch.fnmatchcase(case, pattern) for pattern in reason["cases"]):
                self.hits[place, dialect] += 1
                return reason["why"]
        return None

    def vanished(self, suite):
        """Yields a message for each reason with more or fewer differences than it states."""
        for place, reason in enumerate(self.reasons):
            for dialect in reason["dialects"] if reason["suite"] == suite else ():
                if (found := self.hits[place, dialect]) != reason["count"]:
                    yield f"{suite}, {dialect}: {found} differences, not {reason['count']}: {reason['why']}"


def run_suite(name, folder, reptile, reasons, table_only):
    """Prints a suite's results. Returns the table's rows and the number of faults."""
    suite = reasons.suites.get(name)
    if suite is None:
        sys.exit(f"--suite {name}: expected one of {', '.join(reasons.suites)}")
    checks, unread = READERS[name](folder)
    rows, faults = [], 0
    expected = (suite["checks"], suite["unread"])
    if (len(checks), unread) != expected:
        print(f"{name}: {len(checks)} checks and {unread} assertions that are not read; its version has {expected[0]} and {expected[1]}")
        faults += 1
    for dialect in suite["dialects"]:
        answers = [None] * len(checks)
        for kind, ask in ASK.items():
            places = [place for place, check in enumerate(checks) if isinstance(check.question, kind)]
            asked = ask(reptile, [checks[place].question for place in places], dialect) if places else []
            for place, answer in zip(places, asked, strict=True):
                answers[place] = answer
        explained, counts = {}, collections.Counter()
        for check, found in zip(checks, answers, strict=True):
            if found == check.expected:
                continue
            counts[str(found).startswith("refused")] += 1
            why = reasons.of(name, dialect, check.case, found)
            if why is None:
                faults += 1
                print(f"{name}, {dialect}, {check.case}: expected {check.expected}, found {found}: NOT TRACED\n  {check.question}")
            else:
                explained.setdefault(why, []).append(check.case)
        rows.append((name, suite["commit"][:7], dialect, len(checks), len(checks) - counts.total(), counts[True], counts[False]))
        for why, cases in () if table_only else explained.items():
            print(f"{name}, {dialect}: {len(cases)}: {why}\n  {', '.join(cases)}")
    for fault in reasons.vanished(name):
        faults += 1
        print(fault)
    return rows, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", required=True, metavar="NAME=FOLDER", help="a suite and its checkout; can be repeated")
    parser.add_argument("--reptile", required=True, metavar="FILE", help="the command")
    parser.add_argument("--reasons", type=pathlib.Path, default=HERE / "reasons.toml", metavar="FILE", help="the suites and reasons")
    parser.add_argument("--table", action="store_true", help="print only the table, and faults")
    options = parser.parse_args()
    reasons = Reasons(options.reasons)
    rows, faults = [COLUMNS, ("---",) * 3 + ("---:",) * 4], 0
    with tempfile.TemporaryDirectory() as room:
        reptile = Reptile(options.reptile, room)
        for text in options.suite:
            name, _, folder = text.partition("=")
            if not pathlib.Path(folder).is_dir():
                parser.error(f"--suite {text}: expected NAME=FOLDER with an existing folder")
            suite_rows, suite_faults = run_suite(name, pathlib.Path(folder), reptile, reasons, options.table)
            rows, faults = rows + suite_rows, faults + suite_faults
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    if faults:
        sys.exit(f"{faults} faults")


if __name__ == "__main__":
    main()
