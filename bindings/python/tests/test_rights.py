"""The rights to use a page: the cases in corpora/rights, and the pages of archives, compared with the command in REPTILE."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import reptile

tomllib = pytest.importorskip("tomllib")

HERE = pathlib.Path(__file__).resolve().parent
CORPORA = HERE if (HERE / "rights.toml").exists() else HERE.parents[2] / "corpora"


def corpus(name, copied):
    """Returns a file of the corpora, or its copy next to the tests."""
    return HERE / copied if CORPORA == HERE else CORPORA / name


CASES = tomllib.loads(corpus("rights/cases.toml", "rights.toml").read_text(encoding="utf-8"))["case"]
WORDS = {"y": "allowed", "n": "disallowed", "-": "unknown", "x": "not-applicable", "?": "unavailable"}
USES = ["train-ai", "search", "ai-use"]


def page_of(case):
    """Returns the headers and the text of a case's page."""
    headers = [tuple(header.split(": ", 1)) for header in case.get("headers", [])]
    if not any(name == "Content-Type" for name, _ in headers):
        headers.append(("Content-Type", "text/html; charset=utf-8"))
    return headers, "<!doctype html><title>A page</title>" + case.get("html", "")


def test_every_case():
    for case in CASES:
        agent = reptile.Robots(case.get("robots", "")).agent("CCBot")
        headers, html = page_of(case)
        expected = [WORDS[answer] for answer in case["answers"]]
        in_bytes = [(name.encode(), value.encode()) for name, value in headers]
        is_mapping = len(dict(headers)) == len(headers)
        for given in (headers, in_bytes, tuple(headers), *([dict(headers)] if is_mapping else [])):
            for text in (html, html.encode()):
                for url in ("https://a.example/page", "/page"):
                    rights = agent.rights(url, given, text, uses=USES)
                    assert list(rights.permissions.values()) == expected, case["name"]
                    assert rights.conflicts == case.get("conflict", []), case["name"]
    assert len(CASES) == 31


def test_what_is_missing_is_unavailable():
    agent = reptile.Robots("user-agent: *\ncontent-usage: train-ai=y, search=n\n").agent("CCBot")
    html = "<meta name=robots content=noindex>"
    for headers, text, options, expected in [
        ([], html, {}, ["allowed", "disallowed", "unknown"]),
        ([], "", {}, ["allowed", "disallowed", "unknown"]),
        (None, html, {}, ["unavailable", "disallowed", "unavailable"]),
        ([], None, {}, ["unavailable", "disallowed", "unavailable"]),
        ([], html, {"truncated": True}, ["unavailable", "disallowed", "unavailable"]),
        (None, None, {"profile": "robots"}, ["allowed", "disallowed", "unknown"]),
        (None, None, {"profile": "aipref"}, None),
        # Images have no elements, so that their text is not missing.
        ([("content-type", "image/png")], None, {}, ["allowed", "disallowed", "unknown"]),
    ]:
        uses = USES if expected else ["train-ai"]
        rights = agent.rights("/", headers, text, uses=uses, **options)
        assert list(rights.permissions.values()) == (expected or ["unavailable"]), (headers, text, options)
    rights = agent.rights("/", None, html, uses="search")
    assert rights.statements["x-robots-tag"] is None and rights.statements["meta-robots"] == ["noindex"]
    assert rights.stated == {"robots": {"search": "disallowed"}, "meta-robots": {"search": "disallowed"}}
    assert agent.rights("/", None, None).permissions.keys() >= set(USES)


def test_a_long_text_is_read_up_to_its_limit():
    agent = reptile.Robots("").agent("CCBot")
    element = '<meta name="robots" content="noai">'
    for size, is_read in [((64 << 10) - 1, True), (64 << 10, True), ((64 << 10) + 1, False)]:
        html = "<!doctype html><head>" + " " * (size - len(element) - 21) + element
        assert len(html) == size
        for text in (html, html.encode()):
            rights = agent.rights("/", [("content-type", "text/html")], text, uses="train-ai")
            assert rights.permissions == {"train-ai": "disallowed" if is_read else "unavailable"}, size


def test_texts_and_encodings():
    agent = reptile.Robots("").agent("CCBot")
    html = "<meta name=robots content=noai>"
    utf16 = [("content-type", "text/html; charset=utf-16le")]
    disallowed = {"train-ai": "disallowed"}
    assert agent.rights("/", utf16, html.encode("utf-16le"), uses="train-ai").permissions == disallowed
    # A str is decoded already, so that the header's encoding does not matter.
    assert agent.rights("/", utf16, html, uses="train-ai").permissions == disallowed
    assert agent.rights("/", utf16, html + "\udc80", uses="train-ai").permissions == disallowed
    assert agent.rights("/", [("content-type", "text/plain")], html, uses="train-ai").permissions == {"train-ai": "unknown"}


def test_a_purpose_is_one_verdict():
    agents = reptile.Robots("user-agent: *\ndisallow: /no\n\nuser-agent: GPTBot\ncontent-usage: train-ai=n\nallow: /").agents(["CCBot", "GPTBot"])
    for url, headers, unknown, expected in [
        ("/", [], "allow", ["allow", "disallow"]),
        ("/", [], "unknown", ["unknown", "disallow"]),
        ("/", [], "disallow", ["disallow", "disallow"]),
        ("/", None, "allow", ["unknown", "disallow"]),
        ("/no", [], "allow", ["disallow", "disallow"]),
        ("no", [], "allow", ["invalid", "invalid"]),
    ]:
        found = agents.rights(url, headers, "", purpose="train-ai", unknown_usage=unknown)
        assert [rights.purpose for rights in found] == expected, (url, headers, unknown)
    rights = agents.rights("/", [], "", uses=["search"], purpose="train-ai", unknown_usage="allow")[1]
    assert rights.permissions == {"search": "unknown"} and rights.purpose == "disallow"
    assert agents.rights("/", [], "")[0].purpose is None
    both = agents.rights("/", [("x-robots-tag", "noai")], "<meta name=tdm-reservation content=0>", uses="train-ai", purpose="train-ai", unknown_usage="allow")[0]
    assert both.conflicts == ["train-ai"] and both.permissions == {"train-ai": "disallowed"}
    with pytest.raises(TypeError, match="no truth value"):
        bool(rights)


def test_sets_and_times():
    captures = [
        {"url": "https://a.example/robots.txt", "body": f"user-agent: *\ncontent-usage: train-ai={value}", "time": time}
        for value, time in (("y", 1000), ("n", 2000))
    ]
    agent = reptile.compile(captures, by_time=True).agent("CCBot")
    for time, expected in [(1500, "allowed"), (2500, "disallowed")]:
        assert agent.rights("https://a.example/", [], "", uses="train-ai", at=time).permissions == {"train-ai": expected}
    assert agent.rights("https://b.example/", [], "", uses="train-ai", at=1500).verdict == "unknown"


def test_invalid_arguments(tmp_path):
    agent = reptile.Robots("").agent("CCBot")
    for options, error, text in [
        ({"profile": "everything"}, ValueError, "^profile: "),
        ({"profile": str(tmp_path / "none")}, ValueError, "^profile: "),
        ({"uses": "nothing"}, ValueError, "^uses: .*nothing"),
        ({"purpose": "train-ai"}, ValueError, "^purpose: needs unknown_usage"),
        ({"purpose": "train-ai", "unknown_usage": "maybe"}, ValueError, "^unknown unknown_usage .maybe.; expected allow, disallow, unknown"),
        ({"unknown_usage": "allow"}, ValueError, "^unknown_usage: has no effect without purpose"),
        ({"headers": "X-Robots-Tag: noai"}, TypeError, "^headers: expected a mapping, or pairs"),
        ({"headers": [("a", 1)]}, TypeError, "^headers: expected"),
        ({"headers": 7}, TypeError, "^headers: expected"),
        ({"html": 7}, TypeError, "^html: expected str, bytes or None, found int"),
    ]:
        with pytest.raises(error, match=text):
            agent.rights(**{"url": "/", "headers": [], "html": "", **options})
    profile = tmp_path / "ours.txt"
    for token in ("noai", "other"):
        profile.write_text(f"x-robots-tag {token} = training=n\n")
        found = agent.rights("/", {"X-Robots-Tag": "noai"}, None, profile=str(profile)).permissions
        assert found == {"training": "disallowed" if token == "noai" else "unknown"}


def test_files_are_parsed_once_for_each_version(tmp_path, monkeypatch):
    agent = reptile.Robots("user-agent: *\ncontent-usage: train-ai=n, search=y").agent("CCBot")
    profile, vocabulary = tmp_path / "profile.txt", tmp_path / "words.txt"

    def write(use, time):
        profile.write_text(f"content-usage train-ai = {use}\n")
        vocabulary.write_text(f"{use} = train-ai\n")
        for file in (profile, vocabulary):
            os.utime(file, (time, time))

    def accepts(use, files=(profile, vocabulary)):
        found = []
        for ask in (lambda: agent.rights("/", [], "", uses=use, profile=str(files[0])), lambda: agent.usage("/", use, vocabulary=str(files[1]))):
            try:
                found.append(ask() is not None)
            except ValueError:
                found.append(False)
        return found

    write("first", 1000)
    assert accepts("first") == [True, True]
    # A changed file is not noticed if its size and time stay the same.
    write("other", 1000)
    assert accepts("first") == [True, True]
    write("other", 2000)
    assert accepts("first") == [False, False] and accepts("other") == [True, True]
    write("longer", 2000)
    assert accepts("other") == [False, False] and accepts("longer") == [True, True]
    # Relative paths refer to the current folder.
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    assert accepts("longer", (profile.name, vocabulary.name)) == [True, True]
    monkeypatch.chdir(tmp_path / "folder")
    assert accepts("longer", (profile.name, vocabulary.name)) == [False, False]


def test_other_threads_run_while_pages_are_parsed():
    agent = reptile.Robots("").agent("CCBot")
    page = "<meta name=robots content=noai>" + "<p>" * 20_000
    done, ticks = threading.Event(), []

    def tick():
        while not done.is_set():
            ticks.append(None)
            time.sleep(0)

    thread = threading.Thread(target=tick)
    thread.start()
    before = sys.getswitchinterval()
    # No thread is interrupted, so another one runs only if this one releases the interpreter.
    sys.setswitchinterval(1000)
    try:
        start = len(ticks)
        for _ in range(200):
            agent.rights("/", [], page, uses="train-ai")
        ticked = len(ticks) - start
    finally:
        sys.setswitchinterval(before)
        done.set()
        thread.join()
    assert ticked > 0


def pages_of(archive):
    """Yields each response's URL, headers and decoded body."""
    iterator = pytest.importorskip("warcio.archiveiterator").ArchiveIterator
    with open(archive, "rb") as file:
        for record in iterator(file):
            if record.rec_type == "response":
                body = record.content_stream().read()
                yield record.rec_headers["WARC-Target-URI"], record.http_headers.headers, body


def write_archive(path, tmp_path):
    """Writes the cases' pages as an archive, and a robots.txt for each."""
    (tmp_path / "robots").mkdir()
    with open(path, "wb") as file:
        for number, case in enumerate(CASES):
            host = f"case{number}.example"
            (tmp_path / "robots" / host).write_text(case.get("robots", ""))
            headers, html = page_of(case)
            block = "HTTP/1.1 200 OK\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n" + html
            fields = {"WARC-Type": "response", "WARC-Target-URI": f"https://{host}/page", "WARC-Record-ID": f"<urn:{number}>"}
            fields |= {"WARC-Date": "2026-03-01T00:00:00Z", "Content-Type": "application/http; msgtype=response"}
            fields["Content-Length"] = len(block.encode())
            file.write(("WARC/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n").encode())
            file.write(block.encode() + b"\r\n\r\n")


def test_archives_equal_the_command(tmp_path):
    command = os.environ.get("REPTILE")
    if not command:
        pytest.skip("REPTILE is not set: NOT compared with the command")
    write_archive(tmp_path / "cases.warc", tmp_path)
    subprocess.run([command, "compile", "-q", "-o", tmp_path / "set", tmp_path / "robots"], check=True)
    agents = reptile.open(tmp_path / "set", map=True).agents(["CCBot", "GPTBot"])
    compared = 0
    for archive in (tmp_path / "cases.warc", corpus("rights/pages.warc", "pages.warc")):
        options = ["--agent=CCBot", "--agent=GPTBot", "--rights=all", "--usage=" + ",".join(USES), "--purpose=train-ai"]
        options += ["--treat=unknown-usage=disallow", "--format=jsonl"]
        printed = subprocess.run(
            [command, "classify", "-q", tmp_path / "set", archive, *options], capture_output=True, text=True, check=True
        ).stdout
        rows = list(map(json.loads, printed.splitlines()))
        pages = list(pages_of(archive))
        assert len(rows) == len(pages)
        for row, (url, headers, body) in zip(rows, pages):
            found = agents.rights(url, headers, body, uses=USES, purpose="train-ai", unknown_usage="disallow")
            assert row["url"] == url
            for name, rights in zip(agents.names, found):
                assert row[f"{name}:verdict"] == rights.verdict and row[f"{name}:purpose"] == rights.purpose, url
                assert {use: row[f"{name}:{use}"] for use in USES} == rights.permissions, url
                for channel in ("robots", "signal"):
                    letters = {"allowed": "y", "disallowed": "n"}
                    stated = ", ".join(f"{use}={letters[word]}" for use, word in rights.stated.get(channel, {}).items())
                    assert row[f"{name}:{channel}"] == stated, url
                assert [part.partition(":")[0] for part in row[f"{name}:conflict"].split("; ") if part] == rights.conflicts
                for channel, statements in rights.statements.items():
                    assert row[channel] == ("unavailable" if statements is None else " | ".join(statements)), (url, channel)
                compared += 1
    assert compared > 2 * len(CASES)
