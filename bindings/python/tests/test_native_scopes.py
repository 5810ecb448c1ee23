"""Crawlers from headers, scopes, access, summaries and one-shot verdicts, compared with the command in REPTILE."""

import copy
import os
import pathlib
import pickle
import random
import subprocess
import tarfile

import pytest

import reptile

from conftest import SHOP, URLS

RULES = "user-agent: *\ndisallow: /a\n\nuser-agent: GPTBot\ndisallow: /\n"

CAPTURES = [
    {"url": "https://www.shop.example/robots.txt", "body": SHOP, "time": 1000},
    {"url": "http://plain.example/robots.txt", "body": RULES, "time": 1000},
    {"url": "https://registered.co.uk/robots.txt", "body": RULES, "time": 1000},
    {"url": "https://all.example/robots.txt", "body": "user-agent: *\ndisallow: /", "time": 1000},
    {"url": "https://down.example/robots.txt", "status": 503, "time": 1000},
    {"url": "https://gone.example/robots.txt", "status": 404, "time": 1000},
    {"url": "https://é.example/robots.txt", "body": "user-agent: *\ndisallow: /é", "time": 1000},
]

HEADERS = {
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)": "GPTBot",
    "Mozilla/5.0 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/1": "Googlebot",
    "MyOwnCrawler/2.0 (+https://example.com)": "MyOwnCrawler",
    "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0": None,
    "": None,
    "\xff": None,
}

SCOPES = ["origin", "scheme", "www", "domain"]
HOSTS = [
    "shop.example",
    "www.shop.example",
    "plain.example",
    "www.plain.example",
    "registered.co.uk",
    "a.b.registered.co.uk",
]
HOSTS += ["down.example", "gone.example", "é.example", "www.é.example", "no.example", "127.0.0.1", "all.example"]
ALL_URLS = [
    f"{scheme}://{host}{path}"
    for scheme in ("http", "https")
    for host in HOSTS
    for path in ("/", "/a", "/cart/help?x", "/é")
]
ALL_URLS += ["https://shop.example:8443/cart", "ftp://shop.example/", "nonsense", "https://shop.example/" + "x" * 300]
AGENTS = ["MyBot", "GPTBot"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scopes") / "web.reptile"
    reptile.compile(CAPTURES, path, by_time=True)
    return path


@pytest.fixture(scope="module")
def web(path):
    return reptile.open(path)


def command(*arguments, text=None):
    """Runs the command and returns what it prints."""
    program = os.environ.get("REPTILE")
    if not program:
        pytest.skip("REPTILE is not set: NOT compared with the command")
    made = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True, encoding="utf-8")
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.parametrize("resolver", ["set", "robots"])
def test_crawlers_of_headers(web, resolver):
    source = web if resolver == "set" else reptile.Robots(SHOP)
    for header, name in HEADERS.items():
        for given in (header, header.encode()):
            found = source.agent_of_header(given)
            assert (found and found.name) == name
            if found is not None:
                url = "https://www.shop.example/cart"
                assert (
                    found.decide(url) == source.agent(name).decide(url) == pickle.loads(pickle.dumps(found)).decide(url)
                )
                assert found.tokens == source.agent(name).tokens
    # A header of 4096 bytes is read, and a longer one names no crawler.
    header = "GPTBot/1.0 " + "x" * 4085
    assert [source.agent_of_header(text) is not None for text in (header[:-1], header, header + "x")] == [
        True,
        True,
        False,
    ]
    for wrong in (None, 7):
        with pytest.raises(TypeError, match="str or bytes"):
            source.agent_of_header(wrong)


def test_headers_of_named_crawlers():
    # A product that no list knows is a crawler if a robots.txt names it.
    robots = reptile.Robots("user-agent: quux\ndisallow: /")
    assert robots.agent_of_header("quux/1.0").decide("/") == "disallow"
    assert robots.agent_of_header("other/1.0") is None


@pytest.mark.parametrize("scope", SCOPES)
def test_scopes(web, path, scope, tmp_path):
    agents = web.agents(AGENTS)
    found = web.decide_many(AGENTS, ALL_URLS, "verdict,rule", scope=scope)
    singles = [[web.decide(name, url, scope=scope) for url in ALL_URLS] for name in AGENTS]
    assert [found[f"{name}:verdict"] for name in AGENTS] == singles
    assert agents.decide_many(ALL_URLS, "verdict,rule", scope=scope).to_pydict() == found.to_pydict()
    assert [agents.decide(url, scope=scope) for url in ALL_URLS] == [list(row) for row in zip(*singles)]
    for name, verdicts, rules in zip(AGENTS, singles, (found[f"{name}:rule"] for name in AGENTS)):
        agent = web.agent(name)
        for url, verdict, rule in zip(ALL_URLS, verdicts, rules):
            why = agent.explain(url, scope=scope)
            assert agent.decide(url, scope=scope) == why.verdict == verdict and why.rule == rule
            assert web.explain(name, url, scope=scope) == why == pickle.loads(pickle.dumps(why))
            # Another origin decides exactly where the URL's own origin is unknown.
            own = agent.explain(url)
            assert own.origin is None and (why.origin is None) == (own == why)
            if why.origin is not None:
                path_of = "/" + url.split("/", 3)[3]
                assert own.verdict == "unknown" and agent.explain(why.origin + path_of).rule == why.rule
            # At a time, the same origins decide.
            assert agent.decide(url, at=1000, scope=scope) == verdict
            assert agent.decide(url, at=999, scope=scope) in ("unknown", "invalid")
    text = "\n".join(ALL_URLS) + "\n"
    arguments = [f"--agent={name}" for name in AGENTS]
    printed = command("classify", "-q", path, "-", *arguments, "--scope", scope, "--columns", "verdict", text=text)
    assert [tuple(line.split("\t")) for line in printed.splitlines()] == [tuple(map(str, row)) for row in zip(*singles)]


def test_scopes_are_wider_and_wider(web):
    url = "http://a.b.registered.co.uk/a"
    assert [web.decide("MyBot", url, scope=scope) for scope in SCOPES] == ["unknown"] * 3 + ["disallow"]
    assert web.explain("MyBot", url, scope="domain").origin == "https://registered.co.uk"
    assert [web.decide("MyBot", "https://shop.example/cart", scope=scope) for scope in SCOPES] == ["unknown"] * 2 + [
        "disallow"
    ] * 2


def test_scopes_of_streams_and_times(web):
    pyarrow = pytest.importorskip("pyarrow")
    url = "https://shop.example/cart"
    stream = web.decide_stream("MyBot", pyarrow.array([url, None]), scope="www")
    assert pyarrow.table(stream)["MyBot:verdict"].to_pylist() == ["disallow", None]
    stream = web.agents(["MyBot"]).decide_stream([url, url], times=[999, 1000], scope="www")
    assert pyarrow.table(stream)["MyBot:verdict"].to_pylist() == ["unknown", "disallow"]


def test_unknown_scopes(web):
    text = 'unknown scope "host"; the scopes are origin, scheme, www, domain'
    agent, agents = web.agent("MyBot"), web.agents(["MyBot"])
    for call in (
        lambda: web.decide("MyBot", "x", scope="host"),
        lambda: web.explain("MyBot", "x", scope="host"),
        lambda: web.decide_many("MyBot", [], scope="host"),
        lambda: web.decide_stream("MyBot", [], scope="host"),
        lambda: agent.decide("x", scope="host"),
        lambda: agent.explain("x", scope="host"),
        lambda: agents.decide("x", scope="host"),
        lambda: agents.decide_many([], scope="host"),
        lambda: agents.decide_stream([], scope="host"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError):
        web.decide("MyBot", "x", scope=None)


def test_access(web):
    access = lambda origin, name: web.agent(name).access(origin)
    assert access("https://all.example/x", "MyBot") == reptile.Access("disallowed", "default", 0, 1, "rule")
    assert access("https://gone.example", "MyBot").access == "allowed"
    assert access("https://down.example", "MyBot") == reptile.Access("disallowed", "none", 0, 0, "503")
    assert access("http://plain.example", "GPTBot").access == "disallowed"
    assert (
        access("https://no.example", "GPTBot").access == "unknown" and access("nonsense", "GPTBot").access == "invalid"
    )
    found = access(b"https://www.shop.example/any", "MyBot")
    assert (found.access, found.group, found.allow_rules, found.disallow_rules) == ("partial", "default", 1, 2)
    for path, verdict in ((found.allowed_path, "allow"), (found.disallowed_path, "disallow")):
        assert web.decide("MyBot", "https://www.shop.example" + path) == verdict
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found and len({found, copy.copy(found)}) == 1
    with pytest.raises(TypeError, match="no truth value"):
        bool(found)
    with pytest.raises(AttributeError):
        found.access = "allowed"


def test_access_equals_decisions():
    # Over all short paths of a few letters.
    letters, paths = "ab", [""]
    for _ in range(6):
        paths += [path + letter for path in paths if len(path) == len(paths[-1]) for letter in letters]
    random.seed(27)
    for _ in range(200):
        pattern = lambda: "".join(random.choice("ab*$") for _ in range(random.randrange(4)))
        rules = [f"{random.choice(['allow', 'disallow'])}: /{pattern()}" for _ in range(random.randrange(4))]
        robots = reptile.Robots("user-agent: *\n" + "\n".join(rules))
        found = robots.agent("MyBot").access("/")
        verdicts = {robots.decide("MyBot", "/" + path) for path in paths}
        if found.access == "partial":
            assert robots.decide("MyBot", found.allowed_path) == "allow", rules
            assert robots.decide("MyBot", found.disallowed_path) == "disallow", rules
        else:
            assert found.access == {"allow": "allowed", "disallow": "disallowed"}[verdicts.pop()] and not verdicts, (
                rules
            )
        # Equal rules count once.
        kinds = [rule.split(":")[0] for rule in rules]
        for count, most in ((found.allow_rules, kinds.count("allow")), (found.disallow_rules, kinds.count("disallow"))):
            assert min(most, 1) <= count <= most, rules


# The type of words in Parquet.
WORDS = "dictionary<values=string, indices=int32, ordered=0>"

ORIGINS = [
    "all.example",
    "https://www.shop.example/x",
    "http://plain.example",
    "é.example",
    "no.example",
    "not a host",
    "",
]


def test_summaries(web):
    for origins in (None, ORIGINS, iter(ORIGINS), "all.example", [], web):
        known = list(ORIGINS if not isinstance(origins, (list, str, reptile.Set, type(None))) else origins or web)
        known = [origins] if isinstance(origins, str) else [] if origins == [] else known
        found = web.summarize(AGENTS, origins)
        assert found.column_names == [
            *(
                "url",
                "agent",
                "access",
                "group",
                "allow_rules",
                "disallow_rules",
                "reason",
                "allowed_path",
                "disallowed_path",
            )
        ]
        assert len(found) == len(known) * len(AGENTS) and found["agent"] == AGENTS * len(known)
        columns = found.to_pydict()
        for row, url in enumerate(columns["url"]):
            if columns["access"][row] != "invalid":
                one = web.agent(columns["agent"][row]).access(url)
                assert all(columns[name][row] == getattr(one, name) for name in found.column_names[2:]), url
    assert web.summarize("GPTBot", ORIGINS)["access"] == [
        "disallowed",
        "disallowed",
        "disallowed",
        "partial",
        "unknown",
        "invalid",
        "invalid",
    ]
    assert web.agents(AGENTS).summarize(ORIGINS).to_pydict() == web.summarize(AGENTS, ORIGINS).to_pydict()
    assert pickle.loads(pickle.dumps(found)).to_pydict() == found.to_pydict()
    with pytest.raises(reptile.CrawlerError, match="Googlebot"):
        web.summarize("Googelbot")
    assert len(web.summarize("Googelbot", exact=True)) == len(CAPTURES)
    for wrong in (7, [7], [None]):
        with pytest.raises(TypeError):
            web.summarize("GPTBot", wrong)


def test_summaries_equal_the_command(web, path, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "origins.txt").write_text("\n".join(origin for origin in ORIGINS if origin) + "\n")
    arguments = [f"--agent={name}" for name in AGENTS]
    for origins, input_ in ((None, []), ([origin for origin in ORIGINS if origin], [tmp_path / "origins.txt"])):
        output = tmp_path / "summary.parquet"
        command("summarize", "-q", path, *input_, *arguments, "--format", "parquet", "--output", output, "--force")
        written, own = parquet.read_table(output), pyarrow.table(web.summarize(AGENTS, origins))
        assert written.column_names == own.column_names and written.num_rows == own.num_rows > 0
        assert written.to_pydict() == own.to_pydict()
        plain = lambda kind: str(kind).replace("large_", "").replace(WORDS, "string")
        assert [plain(field.type) for field in written.schema] == [plain(field.type) for field in own.schema]


def test_many_summaries():
    captures = {
        f"https://{number}.example/robots.txt": f"user-agent: *\ndisallow: /{number % 9}" for number in range(8193)
    }
    web = reptile.compile(captures)
    for count in (8191, 8192, 8193):
        origins = [f"{number}.example" for number in range(count)]
        found = web.summarize("MyBot", origins)
        assert len(found) == count and found["disallowed_path"] == [f"/{number % 9}" for number in range(count)]
    assert found["url"] == [f"https://{number}.example/" for number in range(8193)]
    assert sorted(web.summarize("MyBot")["url"]) == sorted(found["url"])


BODIES = [
    SHOP,
    RULES,
    "",
    "user-agent: *\ndisallow: /é\nallow: /*?x=$",
    b"# \xff\nuser-agent: *\ndisallow: /\xff",
    "disalow: /",
]
BODIES += [
    "<html>",
    "user-agent: *\n" + "\n".join(f"disallow: /{number}*x" for number in range(3000)),
    "\ufeffuser-agent: *\ndisallow: /",
]


@pytest.mark.parametrize("dialect", reptile.dialects())
@pytest.mark.parametrize("name", ["MyBot", "GPTBot", "*", "Googlebot-Image", "Some>Chain>*"])
def test_single_questions(dialect, name):
    once = reptile.OneShot(name, dialect)
    for copied in (once, pickle.loads(pickle.dumps(once)), copy.deepcopy(once)):
        assert (copied.name, copied.dialect) == (name, dialect)
        for body in BODIES:
            robots = reptile.Robots(body, dialect)
            for url in (
                "/",
                "/cart",
                "/cart/help",
                "/12x",
                "/é",
                b"/\xff",
                "https://shop.example/a?x=",
                "nonsense",
                "",
            ):
                why = robots.explain(name, url)
                assert copied.decide(body, url) == (why.verdict, why.line), (body, url)
    assert isinstance(once.decide(b"", "/")[0], reptile.Verdict)


def test_errors_of_single_questions():
    with pytest.raises(reptile.CrawlerError, match="Googlebot"):
        reptile.OneShot("Googelbot")
    once = reptile.OneShot("Googelbot", exact=True)
    assert pickle.loads(pickle.dumps(once)).decide("user-agent: *\ndisallow: /", "/") == ("disallow", 2)
    for call, error, text in (
        (lambda: reptile.OneShot("@search"), ValueError, "one crawler, found the group"),
        (lambda: reptile.OneShot("MyBot", "gogle"), ValueError, "unknown dialect"),
        (lambda: once.decide(7, "/"), TypeError, "str or bytes, not int"),
        (lambda: once.decide("", None), TypeError, "str or bytes, not NoneType"),
        (lambda: once.decide(b"#" * ((16 << 20) + 1), "/"), reptile.Error, "16777217|16 MiB|16,777,216|16777216"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert once.decide(b"#" * (16 << 20), "/") == ("allow", None)


def test_single_questions_about_real_files():
    shared = os.environ.get("REPTILE_SHARED", "")
    path = pathlib.Path(shared, "corpora", "real", "robots.tar.gz")
    if not shared or not path.exists():
        pytest.skip("no real robots.txt files: NOT compared with them")
    once, count = reptile.OneShot("GPTBot"), 0
    with tarfile.open(path) as files:
        for file in files:
            if not file.isfile() or count == 1000:
                continue
            body, count = files.extractfile(file).read(), count + 1
            robots = reptile.Robots(body)
            for url in ("/", "/search?q=1", "/a/b.html"):
                why = robots.explain("GPTBot", url)
                assert once.decide(body, url) == (why.verdict, why.line), file
    assert count > 100


def test_scopes_do_not_change_the_shared_urls(web):
    assert web.decide_many("MyBot", URLS, scope="origin").to_pydict() == web.decide_many("MyBot", URLS).to_pydict()
