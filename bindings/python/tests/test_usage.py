"""Usage preferences: the cases in corpora/usage, sets by time, lines and mistakes."""

import pathlib
import pickle
import random

import pytest

import reptile

tomllib = pytest.importorskip("tomllib")

HERE = pathlib.Path(__file__).resolve().parent
CASES_FILE = HERE / "usage.toml"
if not CASES_FILE.exists():
    # The tests run in the repository, not in a copy.
    CASES_FILE = HERE.parents[2] / "corpora" / "usage" / "cases.toml"
CASES = tomllib.loads(CASES_FILE.read_text(encoding="utf-8"))

BODY = """content-signal: search=yes
user-agent: *
disallow: /x
content-usage: train-ai=n
content-usage: /*.pdf train-ai=y, search=n
"""


def test_there_are_cases():
    assert (len(CASES["usage"]), len(CASES["signals"])) == (35, 7)


@pytest.mark.parametrize("lines", ["usage", "signals"])
def test_cases(lines, tmp_path):
    for case in CASES[lines]:
        expected = {"train-ai": case["train"], "search": case["search"]}
        url = "https://a.example" + case["path"]
        robots = reptile.Robots(case["body"])
        assert robots.agent(case["agent"]).usage(url, ["train-ai", "search"], lines=lines) == expected, case
        # Compiled to a file, and opened.
        path = tmp_path / "set"
        reptile.compile([("https://a.example/robots.txt", case["body"])], path, force=True)
        agent = reptile.open(path).agent(case["agent"])
        assert agent.usage(url.encode(), ["train-ai", "search"], lines=lines) == expected, case
        # As columns.
        agents = reptile.open(path).agents(case["agent"])
        found = agents.decide_many([url, None], [], uses=["train-ai", "search"], lines=lines).to_pydict()
        assert found == {f"{case['agent']}:{name}": [word, None] for name, word in expected.items()}, case


def test_preferences_at_a_time(tmp_path):
    captures = [
        {"url": "https://a.example/robots.txt", "time": 100, "status": 200, "body": "user-agent: *\ncontent-usage: train-ai=y\n"},
        {"url": "https://a.example/robots.txt", "time": 200, "status": 200, "body": BODY},
    ]
    reptile.compile(captures, tmp_path / "set", by_time=True)
    agent = reptile.open(tmp_path / "set").agent("Bot")
    found = [agent.usage("https://a.example/1", "train-ai", at=at) for at in (150, 250)]
    assert found == [{"train-ai": "allowed"}, {"train-ai": "disallowed"}]
    web = reptile.open(tmp_path / "set")
    purpose = {"purpose": "train-ai", "unknown_usage": "allow"}
    found = web.decide_many("Bot", ["https://a.example/1"] * 4, uses="train-ai", **purpose, times=[150, 250, None, 50])
    assert found.to_pydict() == {
        "Bot:verdict": ["allow", "allow", "invalid", "unknown"],
        "Bot:train-ai": ["allowed", "disallowed", "unknown", "unknown"],
        "Bot:purpose": ["allow", "disallow", "invalid", "unknown"],
    }


PATHS = ["/", "/a", "/a/b", "/a/b.pdf", "/x", "/x/a", ""]
LINES = [
    "content-usage: train-ai=n",
    "content-usage: / search=y",
    "content-usage: /a train-ai=y, search=n",
    "content-usage: /*.pdf$ train-ai=n",
    "content-usage: /a Train-AI=n",
    "content-signal: search=no, ai-train=yes",
    "disallow: /x",
    "allow: /x/a",
    "user-agent: gptbot",
    "user-agent: *",
]


def test_columns_equal_single_answers_on_random_rules():
    seed = random.randrange(1 << 32)
    numbers = random.Random(seed)
    words = set()
    for _ in range(100):
        captures = {
            f"https://{host}.example/robots.txt": "user-agent: *\n" + "\n".join(numbers.choices(LINES, k=8)) for host in "abc"
        }
        web = reptile.compile(captures)
        urls = [f"https://{host}.example{path}" for host in "abcd" for path in PATHS] + ["none", ""]
        numbers.shuffle(urls)
        lines = numbers.choice(["usage", "signals", "usage,tokens", "all"])
        options = {"uses": ["search", "train-ai"], "lines": lines}
        found = web.decide_many(["GPTBot", "Bot"], urls, numbers.choice([None, "line", "verdict,mask"]), **options).to_pydict()
        for name in ("GPTBot", "Bot"):
            agent = web.agent(name)
            for use in options["uses"]:
                column = found[f"{name}:{use}"]
                assert column == [agent.usage(url, use, lines=lines)[use] for url in urls], (seed, captures)
                words.update(column)
    assert words == {"allowed", "disallowed", "unknown", "not-applicable"}


def test_a_purpose_is_one_verdict():
    agents = reptile.Robots(BODY).agents(["Bot"])
    urls = ["/1", "/1.pdf", "/x"]
    for unknown, verdict in [("allow", "allow"), ("disallow", "disallow"), ("unknown", "unknown")]:
        found = agents.decide_many(urls, [], purpose="search", unknown_usage=unknown)
        assert found.column_names == ["Bot:purpose"]
        assert found["Bot:purpose"] == [verdict, "disallow", "disallow"]
    found = agents.decide_many(urls, uses="search", lines="signals", purpose="train-ai", unknown_usage="allow")
    assert found["Bot:search"] == ["allowed", "allowed", "not-applicable"]
    assert found["Bot:purpose"] == ["allow", "allow", "disallow"]
    assert pickle.loads(pickle.dumps(found)).to_pydict() == found.to_pydict()


def test_refused_crawlers_follow_the_purpose():
    agents = reptile.Robots(BODY).agents(["Bot"])
    urls = ["/1", "/1.pdf", "/x", "none", None]
    by_unknown = {
        None: [[], [], ["Bot"], None, None],
        "allow": [[], ["Bot"], ["Bot"], None, None],
        "disallow": [["Bot"], ["Bot"], ["Bot"], None, None],
        "unknown": [None, ["Bot"], ["Bot"], None, None],
    }
    for unknown, expected in by_unknown.items():
        purpose = {} if unknown is None else {"purpose": "search", "unknown_usage": unknown}
        for columns in ("verdict,refused,mask", "refused,line,mask"):
            found = agents.decide_many(urls, columns, **purpose)
            assert found["refused"] == expected, unknown
            assert found["mask"] == [None if names is None else len(names) for names in expected], unknown


def test_streams_have_the_same_columns():
    pyarrow = pytest.importorskip("pyarrow")
    agents = reptile.Robots(BODY).agents(["Bot", "Other"])
    urls = pyarrow.chunked_array([["/1", None], ["/1.pdf"], ["/x"] * 3])
    options = {"uses": ["train-ai", "search"], "lines": "all"}
    read = pyarrow.RecordBatchReader.from_stream(agents.decide_stream(urls, "url,verdict", **options)).read_all()
    assert read == pyarrow.table(agents.decide_many(urls, "url,verdict", **options))
    assert read.column_names == ["url", *(f"{name}:{column}" for name in agents.names for column in ("verdict", "train-ai", "search"))]


def test_a_wider_scope_also_states_preferences():
    web = reptile.compile({"https://www.a.example/robots.txt": BODY})
    for scope, word in [("origin", "unknown"), ("www", "disallowed")]:
        assert web.decide_many("Bot", ["https://a.example/"], uses="train-ai", scope=scope)["Bot:train-ai"] == [word]


@pytest.mark.parametrize("name", ["polars", "duckdb", "datafusion"])
def test_query_functions_check_their_options(name, web):
    pytest.importorskip(name)
    pytest.importorskip("pyarrow")
    module = __import__(f"reptile.{name}", fromlist=["robots"])
    add = getattr(module, "register", None) or module.robots
    with pytest.raises(ValueError, match="has no use"):
        add("url", web, "GPTBot", uses="train")
    with pytest.raises(TypeError, match="usage"):
        add("url", web, "GPTBot", usage="train-ai")


def test_lines_and_vocabularies(tmp_path):
    agent = reptile.Robots(BODY).agent("Bot")
    assert [line["line"] for line in agent.usage_lines("/1.pdf")] == [1, 5]
    assert agent.usage("/1.pdf", "search") == {"search": "disallowed"}
    assert agent.usage("/1.pdf", "search", lines="signals") == {"search": "allowed"}
    assert agent.usage("/1.pdf", "search", lines="all") == {"search": "disallowed"}
    assert agent.usage("/x", ["search"]) == {"search": "not-applicable"}
    ours = tmp_path / "ours"
    ours.write_text("training = train-ai train-genai | ai-train\n")
    assert agent.usage("/1", "training", vocabulary=str(ours)) == {"training": "disallowed"}
    # Order of the answer.
    assert list(agent.usage("/1", ["search", "train-ai"])) == ["search", "train-ai"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"uses": "train"}, "has no use \"train\"; expected train-ai, search, ai-use"),
        ({"uses": "search", "lines": "both"}, "lines: no statements are called \"both\"; expected usage, signals, tokens, default-group, all"),
        ({"uses": "search", "vocabulary": "none"}, "expected aipref-08, aipref-07, legacy, any, or a file"),
        ({"uses": "ai-use", "vocabulary": "aipref-07"}, "has no use \"ai-use\""),
    ],
)
def test_mistakes_are_errors(options, says):
    with pytest.raises(ValueError, match=says):
        reptile.Robots(BODY).agent("Bot").usage("/1", **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"uses": ["train"]}, "has no use \"train\"; expected train-ai, search, ai-use"),
        ({"uses": ["search", "search"]}, "search: is given twice"),
        ({"uses": ["search"], "lines": "both"}, "lines: no statements are called \"both\"; expected usage, signals, tokens, default-group, all"),
        ({"uses": ["search"], "vocabulary": "none"}, "expected aipref-08, aipref-07, legacy, any, or a file"),
        ({"lines": "all"}, "have no effect without uses or purpose"),
        ({"purpose": "search"}, "purpose: needs unknown_usage"),
        ({"purpose": "search", "unknown_usage": "yes"}, "unknown unknown_usage \"yes\"; expected allow, disallow, unknown"),
        ({"unknown_usage": "allow"}, "has no effect without purpose"),
    ],
)
def test_mistakes_about_columns_are_errors(options, says):
    agents = reptile.Robots(BODY).agents("Bot")
    for decide in (agents.decide_many, agents.decide_stream):
        with pytest.raises(ValueError, match=says):
            decide(["/1"], **options)
