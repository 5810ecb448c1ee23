"""Usage preferences: the cases in corpora/usage, sets by time, lines and mistakes."""

import pathlib

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


def test_preferences_at_a_time(tmp_path):
    captures = [
        {"url": "https://a.example/robots.txt", "time": 100, "status": 200, "body": "user-agent: *\ncontent-usage: train-ai=y\n"},
        {"url": "https://a.example/robots.txt", "time": 200, "status": 200, "body": BODY},
    ]
    reptile.compile(captures, tmp_path / "set", by_time=True)
    agent = reptile.open(tmp_path / "set").agent("Bot")
    found = [agent.usage("https://a.example/1", "train-ai", at=at) for at in (150, 250)]
    assert found == [{"train-ai": "allowed"}, {"train-ai": "disallowed"}]


def test_lines_and_vocabularies(tmp_path):
    agent = reptile.Robots(BODY).agent("Bot")
    assert [line["line"] for line in agent.usage_lines("/1.pdf")] == [1, 5]
    assert agent.usage("/1.pdf", "search") == {"search": "disallowed"}
    assert agent.usage("/1.pdf", "search", lines="signals") == {"search": "allowed"}
    assert agent.usage("/1.pdf", "search", lines="both") == {"search": "disallowed"}
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
        ({"uses": "search", "lines": "all"}, "unknown lines \"all\"; expected usage, signals, both"),
        ({"uses": "search", "vocabulary": "none"}, "expected aipref-08, aipref-07, legacy, any, or a file"),
        ({"uses": "ai-use", "vocabulary": "aipref-07"}, "has no use \"ai-use\""),
    ],
)
def test_mistakes_are_errors(options, says):
    with pytest.raises(ValueError, match=says):
        reptile.Robots(BODY).agent("Bot").usage("/1", **options)
