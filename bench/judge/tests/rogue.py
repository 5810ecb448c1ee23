"""An engine for the judge's tests: a small honest implementation, or one with a fault selected by the argument."""

import os
import sys
import time

MODE = sys.argv[1]
INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer
MODELS = ["one-shot", "parse", "decide", "fresh", "crawl"]
# Counts reported by the engine in the mode "remembers".
LAST = []


def read():
    fields = []
    while True:
        line = b""
        while not line.endswith(b":"):
            byte = INPUT.read(1)
            if byte == b"":
                return None
            if byte == b"\n" and line == b"":
                return fields
            line += byte
        length = b""
        while not length.endswith(b":"):
            length += INPUT.read(1)
        value = INPUT.read(int(length[:-1]))
        INPUT.read(1)
        fields.append((line[:-1].decode(), value))


def write(*fields):
    for key, value in fields:
        value = value if isinstance(value, bytes) else str(value).encode()
        OUTPUT.write(b"%s:%d:%s\n" % (key.encode(), len(value), value))
    OUTPUT.write(b"\n")
    OUTPUT.flush()


def parse(body):
    """Parses groups without wildcards, which is enough for the tests."""
    groups, agents, in_rules = {}, [], False
    for number, line in enumerate(body.splitlines(), 1):
        key, _, value = line.partition(b"#")[0].partition(b":")
        key, value = key.strip().lower(), value.strip()
        if key == b"user-agent":
            agents, in_rules = ([] if in_rules else agents) + [value.lower()], False
            for agent in agents:
                groups.setdefault(agent, [])
        elif key in (b"allow", b"disallow"):
            in_rules = True
            for agent in agents:
                groups[agent].append((value, key == b"allow", number))
    return groups


def path_of(url):
    after = url.partition(b"//")[2]
    return b"/" + after.partition(b"/")[2] if after else url


def decide(groups, agent, url):
    path = path_of(url)
    rules = groups.get(agent.lower(), groups.get(b"*", []))
    found = [(len(p), is_allow, -n) for p, is_allow, n in rules if p and path.startswith(p)]
    if MODE == "wrong" and b"x" in path:
        return "D", 0
    if not found:
        return "A", 0
    _, is_allow, line = max(found)
    return ("A" if is_allow else "D"), -line


def rows(fields):
    slot = agent = b""
    for key, value in fields:
        if key == "slot":
            slot = value
        elif key == "agent":
            agent = value
        elif key == "url":
            yield slot, agent, value


def trouble(url):
    """Misbehaves at a few rows in some modes."""
    if b"html" not in url and not url.endswith(b"/x"):
        return
    if MODE == "hang":
        time.sleep(3600)
    if MODE == "crash":
        sys.stderr.write("Segmentation fault of my own\n")
        sys.stderr.flush()
        os._exit(3)
    if MODE == "memory":
        kept = []
        while True:
            kept.append(bytearray(b"x" * 10_000_000))
    if MODE == "child":
        os.system("sleep 3600")
    if MODE == "escape":
        sys.stderr.write("\x1b[2J\x1b]0;owned\x07all is well\r\n")
        sys.stderr.flush()
        os._exit(3)


def bench(fields, slots):
    asked = dict(fields)
    model, budget = asked["model"].decode(), int(asked["budget"])
    if model not in MODELS:
        return write(("is", "skip"), ("why", "nothing like it"))
    questions = list(rows(fields))
    if model == "parse":
        first = {}
        questions = [first.setdefault(row[0], row) for row in questions if row[0] not in first]
    samples, total = [], 0
    if MODE == "remembers" and LAST:
        # Repeats the last request's count without reading the rows.
        return write(("is", "ok"), *[("sample", f"1000000 10 {10 * LAST[0]}")] * (budget // 1_000_000 + 1))
    if MODE == "no-work":
        # Decides each row once, and then only multiplies.
        count = sum(decide(slots[slot][2], agent, url)[0] == "D" for slot, agent, url in questions)
        passes = 5_000_000 // len(questions)
        end = time.monotonic_ns() + budget
        while time.monotonic_ns() < end:
            pass
        return write(("is", "ok"), *[("sample", f"1000000 {passes} {passes * count}")] * (budget // 1_000_000 + 1))
    while True:
        start, passes, disallowed = time.monotonic_ns(), 0, 0
        while True:
            for slot, agent, url in questions:
                groups = parse(slots[slot][1]) if model in ("one-shot", "parse") else slots[slot][2]
                disallowed += decide(groups, agent, url)[0] == "D"
            passes += 1
            if time.monotonic_ns() - start >= 1_000_000 or model == "fresh":
                break
        took = time.monotonic_ns() - start
        if MODE == "patient-liar":
            # Fills the budget by its own slow clock.
            took //= 10
        total += took
        if MODE == "fresh-liar" and model == "fresh":
            # By enough to be found out on a machine that is ten times slower for a moment.
            took //= 100
        if MODE == "many-passes" and model != "fresh":
            passes, disallowed = 100 * passes, 100 * disallowed
        if MODE == "lying-clock":
            took //= 100
        if MODE == "lying-count":
            disallowed = 0
        samples.append(("sample", f"{took} {passes} {disallowed}"))
        # A slow machine fills the budget with too few samples to judge their lengths.
        is_judged = MODE != "many-passes" or len(samples) >= 10
        if total >= budget and is_judged or model == "fresh":
            return write(("is", "ok"), *samples)


def main():
    slots = {}
    if MODE == "silent":
        time.sleep(3600)
    if MODE == "daemon":
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                with open("daemon.part", "w") as file:
                    file.write(str(os.getpid()))
                os.rename("daemon.part", "daemon.pid")
                for stream in 0, 1, 2:
                    os.close(stream)
                time.sleep(3600)
            os._exit(0)
        # Otherwise the judge could end both before the daemon has written its number.
        while not os.path.exists("daemon.pid"):
            time.sleep(0.01)
    if MODE == "deaf":
        # Never reads, so the judge's requests stay in the pipe.
        OUTPUT.write(b"is:2:ok\nname:4:deaf\nversion:1:1\ndialect:3:own\ncan:4:load\ncan:6:decide\n\n")
        OUTPUT.flush()
        time.sleep(3600)
    while (fields := read()) is not None:
        do = fields[0][1]
        if do == b"hello":
            dialect = "rfc9309"
            can = ["load", "decide"] + [f"bench:{model}" for model in MODELS]
            if MODE != "no-lines":
                can.append("lines")
            write(("is", "ok"), ("name", MODE), ("version", "1"), ("dialect", dialect), ("language", "Python"),
                  *(("can", thing) for thing in can))
        elif do == b"load":
            body = dict(fields)["body"]
            if MODE == "refuse" and b"pond" in body:
                write(("is", "refused"), ("why", "I do not like ponds"))
                continue
            slots[dict(fields)["slot"]] = (dict(fields)["origin"], body, parse(body))
            write(("is", "ok"))
        elif do == b"clear":
            slots.clear()
            write(("is", "ok"))
        elif do == b"decide":
            letters, lines = "", []
            for slot, agent, url in rows(fields):
                trouble(url)
                letter, line = decide(slots[slot][2], agent, url) if slot in slots else ("E", 0)
                letters += letter
                lines.append(str(line))
            LAST[:] = [letters.count("D")]
            if MODE == "garbage":
                OUTPUT.write(b"Traceback (most recent call last):\n  something\n")
                OUTPUT.flush()
            elif MODE == "endless":
                while True:
                    OUTPUT.write(b"is:2:ok\n")
            elif MODE == "few":
                write(("is", "ok"), ("verdicts", letters[:-1]))
            elif MODE == "twice":
                write(("is", "ok"), ("verdicts", letters))
                write(("is", "ok"), ("verdicts", letters))
            elif MODE == "no-lines":
                write(("is", "ok"), ("verdicts", letters))
            else:
                write(("is", "ok"), ("verdicts", letters), ("lines", " ".join(lines)))
        elif do == b"bench":
            bench(fields, slots)
        elif do == b"stop":
            return
        else:
            write(("is", "skip"), ("why", "unknown request"))


main()
