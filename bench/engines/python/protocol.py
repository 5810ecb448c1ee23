"""The protocol of `bench/judge/PROTOCOL.md` for Python engines: messages, the request loop, and timed passes.

An engine is a subclass of `Engine` in a separate file in this folder, followed by a call to `serve`.
"""

import os
import platform
import sys
import time
from urllib.parse import urlsplit

# The supported version of the protocol.
PROTOCOL = b"1"

# Minimum duration of a sample in nanoseconds.
SAMPLE_NS = 1_000_000


class Refused(Exception):
    """The implementation rejects this robots.txt."""


class Skip(Exception):
    """The implementation does not support the request."""


class Engine:
    """Describes an implementation and calls it.

    An implementation without a reusable parsed form sets `parses` to False and defines `one_shot`. Others define `parse`
    and `decider`.
    """

    name = ""
    dialect = "own"
    notes = ()
    parses = True

    def version(self):
        """Returns the version of the installed implementation."""
        raise NotImplementedError

    def parse(self, body, origin):
        """Parses a robots.txt into a reusable form. Raises `Refused`."""
        raise NotImplementedError

    def decider(self, parsed, agent):
        """Returns a function that decides whether the crawler may fetch a URL."""
        raise NotImplementedError

    def one_shot(self, body, origin, agent, url):
        """Returns whether the crawler may fetch the URL, starting from the robots.txt bytes."""
        return self.decider(self.parse(body, origin), agent)(url)

    # Engines that know line numbers define this: (body, origin, agent, url) -> (allowed, line). The line is 0 without a
    # deciding rule.
    explain = None


class Slot:
    """A loaded robots.txt, with a cached decider for each requested crawler."""

    def __init__(self, engine, origin, body):
        self.engine, self.origin, self.body = engine, origin, body
        self.parsed = engine.parse(body, origin) if engine.parses else None
        self.deciders = {}

    def decider(self, agent):
        found = self.deciders.get(agent)
        if found is None:
            if self.engine.parses:
                found = self.engine.decider(self.parsed, agent)
            else:
                found = lambda url: self.engine.one_shot(self.body, self.origin, agent, url)  # noqa: E731
            self.deciders[agent] = found
        return found


def read_message(file):
    """Returns the fields of the next message as keys and bytes, or None at the end of the input."""
    fields = []
    while line := file.readline():
        if line == b"\n":
            return fields
        key, _, rest = line.partition(b":")
        digits, _, value = rest.partition(b":")
        if not digits.isdigit():
            raise ValueError(f"expected key:length:value, found {line[:60]!r}")
        size = int(digits)
        # The line ends at the value's first newline, or at the newline after it.
        value += file.read(max(0, size + 1 - len(value)))
        if len(value) != size + 1 or value[-1:] != b"\n":
            raise ValueError(f"expected {size} bytes and a newline after the key {key!r}, found {len(value)} bytes")
        fields.append((key.decode("ascii"), value[:-1]))
    if fields:
        raise ValueError("the input ends within a message")
    return None


def write_message(file, fields):
    """Writes a message from keys and values, which are text or bytes."""
    for key, value in fields:
        value = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        file.write(b"%s:%d:%s\n" % (key.encode("ascii"), len(value), value))
    file.write(b"\n")
    file.flush()


def text_of(value):
    """Returns text for an interface that does not accept bytes, or None if it is not UTF-8."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def rows_of(fields):
    """Yields a request's rows: index of the `slot` field, slot, agent, URL."""
    slot, agent, number = None, None, -1
    for key, value in fields:
        if key == "slot":
            slot, number = int(value), number + 1
        elif key == "agent":
            agent = text_of(value)
        elif key == "url":
            yield number, slot, agent, text_of(value)


def origin_of(url):
    """Returns a URL's origin, verbatim."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class Session:
    """The state between requests: the loaded files."""

    def __init__(self, engine):
        self.engine = engine
        self.slots = {}

    def hello(self, fields):
        asked = dict(fields).get("protocol")
        if asked != PROTOCOL:
            raise Skip(f"this engine supports version {PROTOCOL.decode()} of the protocol, not {asked!r}")
        engine = self.engine
        can = ["load", "decide", "bench:one-shot"]
        can += ["lines"] if engine.explain else []
        can += ["bench:" + model for model in PREPARE if model != "one-shot"] if engine.parses else []
        reply = [("name", engine.name), ("version", engine.version()), ("dialect", engine.dialect)]
        reply.append(("language", f"{platform.python_implementation()} {platform.python_version()}"))
        return reply + [("can", ability) for ability in can] + [("note", note) for note in engine.notes]

    def load(self, fields):
        field = dict(fields)
        slot = int(field["slot"])
        self.slots.pop(slot, None)
        try:
            self.slots[slot] = Slot(self.engine, field["origin"].decode("utf-8"), field["body"])
        except (Refused, Skip):
            raise
        except Exception as error:
            raise Refused(f"{type(error).__name__}: {error}") from error
        return []

    def clear(self, _):
        self.slots.clear()
        return []

    def decide(self, fields):
        verdicts, lines = [], []
        for _, slot, agent, url in rows_of(fields):
            verdict, line = self.row(self.slots.get(slot), agent, url)
            verdicts.append(verdict)
            lines.append(line)
        reply = [("verdicts", "".join(verdicts))]
        return reply + [("lines", " ".join(lines))] if self.engine.explain else reply

    def row(self, slot, agent, url):
        if slot is None:
            return "E", "-"
        if agent is None or url is None:
            return "U", "-"
        try:
            if self.engine.explain:
                allowed, line = self.engine.explain(slot.body, slot.origin, agent, url)
                return ("A" if allowed else "D"), str(line)
            return ("A" if slot.decider(agent)(url) else "D"), "-"
        except Skip:
            return "U", "-"
        except Exception:
            return "E", "-"

    def bench(self, fields):
        field = dict(fields)
        model, budget = field["model"].decode("utf-8"), int(field["budget"])
        if model not in PREPARE:
            raise Skip(f"the model {model} is not supported")
        if model != "one-shot" and not self.engine.parses:
            raise Skip("the implementation parses the file again for each URL")
        rows = [row for row in rows_of(fields) if row[1] in self.slots and None not in row]
        one_pass = PREPARE[model](self, rows)
        return [("sample", f"{elapsed} {passes} {disallowed}") for elapsed, passes, disallowed in samples(one_pass, model, budget)]

    def prepare_one_shot(self, rows):
        one_shot = self.engine.one_shot
        return pass_over_files(one_shot, [(self.slots[slot].body, self.slots[slot].origin, agent, url) for _, slot, agent, url in rows])

    def prepare_parse(self, rows):
        first = {}
        for row in rows:
            first.setdefault(row[0], row)
        engine = self.engine

        def parse_and_decide(body, origin, agent, url):
            return engine.decider(engine.parse(body, origin), agent)(url)

        return pass_over_files(
            parse_and_decide, [(self.slots[slot].body, self.slots[slot].origin, agent, url) for _, slot, agent, url in first.values()]
        )

    def prepare_decide(self, rows):
        bound = []
        for _, slot, agent, url in rows:
            try:
                bound.append((self.slots[slot].decider(agent), url))
            except Exception:
                continue

        def one_pass():
            disallowed = 0
            for decide, url in bound:
                try:
                    disallowed += not decide(url)
                except Exception:
                    continue
            return disallowed

        return one_pass

    def prepare_crawl(self, rows):
        sites = {}
        for slot in self.slots.values():
            for agent in {agent for _, _, agent, _ in rows}:
                try:
                    sites[slot.origin, agent] = slot.decider(agent)
                except Exception:
                    continue
        questions = [(agent, url) for _, _, agent, url in rows]

        def one_pass():
            disallowed = 0
            for agent, url in questions:
                try:
                    decide = sites.get((origin_of(url), agent))
                    disallowed += decide is not None and not decide(url)
                except Exception:
                    continue
            return disallowed

        return one_pass


# The function that prepares each model.
PREPARE = {
    "one-shot": Session.prepare_one_shot,
    "parse": Session.prepare_parse,
    "decide": Session.prepare_decide,
    "fresh": Session.prepare_decide,
    "crawl": Session.prepare_crawl,
}


def pass_over_files(decide, questions):
    """Returns a pass that parses a file for each question."""

    def one_pass():
        disallowed = 0
        for body, origin, agent, url in questions:
            try:
                disallowed += not decide(body, origin, agent, url)
            except Exception:
                continue
        return disallowed

    return one_pass


def samples(one_pass, model, budget):
    """Times passes as the protocol specifies: nanoseconds, passes, and disallowed rows."""
    clock = time.perf_counter_ns
    if model == "fresh":
        start = clock()
        disallowed = one_pass()
        return [(clock() - start, 1, disallowed)]
    one_pass()
    taken, total = [], 0
    while True:
        passes = disallowed = 0
        start = clock()
        while True:
            disallowed += one_pass()
            passes += 1
            if clock() - start >= SAMPLE_NS:
                break
        elapsed = clock() - start
        taken.append((elapsed, passes, disallowed))
        total += elapsed
        if total >= budget:
            return taken


def reply_to(session, request):
    """Returns the reply's fields."""
    asked = request[0][1].decode("utf-8", "replace") if request and request[0][0] == "do" else None
    answer = {"hello": session.hello, "load": session.load, "clear": session.clear, "decide": session.decide, "bench": session.bench}.get(asked)
    try:
        if answer is None:
            raise Skip(f"no such request: {asked}")
        return [("is", "ok")] + answer(request[1:])
    except Refused as why:
        return [("is", "refused"), ("why", why)]
    except Skip as why:
        return [("is", "skip"), ("why", why)]
    except Exception as error:
        return [("is", "error"), ("why", f"{type(error).__name__}: {error}")]


def serve(engine):
    """Answers requests until `stop` or the end of the input."""
    # Redirect the implementation's output to standard error.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    session = Session(engine)
    while (request := read_message(sys.stdin.buffer)) is not None:
        if request[:1] == [("do", b"stop")]:
            return
        write_message(replies, reply_to(session, request))
