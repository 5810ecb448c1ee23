"""Runs the plugin with a crawler and a time in each row, and compares it with the Python package."""

import datetime
import io

import polars
import pyarrow
import pytest

import reptile
from reptile_polars import robots, usage
from test_plugin import STREAMING, found, plain

REPEATS = 500

VERSIONS = [
    {"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /old\ncontent-usage: train-ai=y", "time": 1000},
    {"url": "https://a.example/robots.txt", "body": "user-agent: GPTBot\ndisallow: /new\ncontent-usage: train-ai=n", "time": 2000},
    {"url": "https://www.b.example/robots.txt", "body": "user-agent: *\ndisallow: /x", "time": 1500},
]
URLS = ["https://a.example/old", "https://a.example/new/é", "https://b.example/x", "https://c.example/", "none", None]
SECONDS = [999, 1000, 1999, 2000, None, 3_000_000_000, 253_402_300_800]
AGENTS = ["GPTBot", "GPTBot/1.2", "MyBot", "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "-", None]

PAIRS = [(url, time, agent) for url in URLS for time in SECONDS for agent in AGENTS]
FRAME = polars.DataFrame(PAIRS, schema={"page": polars.String, "seen": polars.Int64, "bot": polars.String}, orient="row")
COLUMNS = ["verdict", "agent", "line", "rule", "group", "reason", "ruleset", "capture_time"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("timed") / "years.reptile"
    reptile.compile(VERSIONS, path, by_time=True)
    return path


@pytest.fixture(scope="module")
def web(path):
    return reptile.open(path)


def lists(decided):
    """Returns the columns of the Python package, as lists."""
    return {name: [plain(value) for value in values] for name, values in pyarrow.table(decided).to_pydict().items()}


def test_crawlers_and_times_of_rows_equal_those_of_the_python_package(web, path):
    frame = polars.concat([FRAME] * REPEATS, rechunk=False)
    urls, times, agents = (frame[name].to_list() for name in ("page", "seen", "bot"))
    usages = {"uses": "train-ai", "purpose": "train-ai", "unknown_usage": "disallow"}
    cases = [
        ({}, {}),
        ({"scope": "www"}, {"scope": "www"}),
        ({"times": "seen"}, {"times": times}),
        ({"times": polars.col("seen"), **usages}, {"times": times, **usages}),
    ]
    verdicts = set()
    for options, python in cases:
        wanted = lists(web.decide_each(urls, agents, COLUMNS, **python))
        column = robots("page", path, agent_column="bot", columns=COLUMNS, **options)
        for engine in STREAMING:
            lazy = frame.lazy().with_columns(column)
            collected = lazy.collect(**engine)
            assert lazy.collect_schema()["robots"] == collected["robots"].dtype
            assert found(collected["robots"]) == wanted, (options, engine)
        verdicts.update(wanted["verdict"])
    assert verdicts == {"allow", "disallow", "unknown", "invalid", None}
    assert list(found(frame.head(1).select(robots("page", path, agent_column="bot"))["robots"])) == ["verdict", "agent"]


def test_times_of_named_crawlers(web, path):
    frame = polars.concat([FRAME] * REPEATS, rechunk=False)
    urls, times = frame["page"].to_list(), frame["seen"].to_list()
    names = ["GPTBot", "MyBot"]
    wanted = lists(web.decide_many(names, urls, ["verdict", "mask", "refused"], times=times))
    for engine in STREAMING:
        lazy = frame.lazy().select(robots(polars.col("page"), path, names, "verdict,mask,refused", times="seen"))
        assert found(lazy.collect(**engine)["robots"]) == wanted
    options = {"purpose": "train-ai", "unknown_usage": "allow"}
    wanted = lists(web.decide_many(names, urls, ["refused"], times=times, **options))
    assert found(frame.select(robots("page", path, names, "refused", times="seen", **options))["robots"]) == wanted
    wanted = lists(web.decide_many(names, urls, [], uses="train-ai", times=times))
    assert found(frame.select(usage("page", path, names, "train-ai", times="seen"))["usage"]) == wanted
    wanted = lists(web.decide_each(urls, frame["bot"].to_list(), [], uses="train-ai"))
    assert found(frame.select(usage("page", path, None, "train-ai", agent_column="bot"))["usage"]) == wanted


def test_headers_are_never_names(web, path):
    frame = polars.DataFrame({"url": ["https://a.example/new"] * 3, "agent": ["GPTBot", "Googelbot", None]})
    for headers in (False, True):
        names = ["GPTBot", None, None] if not headers else frame["agent"]
        wanted = lists(web.decide_each(frame["url"], names, ["verdict", "agent"], headers=headers))
        column = robots("url", path, agent_column=polars.Series("agent", names, polars.String), headers=headers)
        assert found(frame.select(column)["robots"]) == wanted


@pytest.mark.parametrize("kind", [polars.String, polars.Binary, polars.Categorical])
def test_types_of_crawlers(path, kind):
    frame = polars.DataFrame({"url": ["https://a.example/new"] * 3, "bot": ["GPTBot", "CCBot", None]})
    frame = frame.with_columns(polars.col("bot").cast(kind), polars.col("url").cast(kind))
    verdicts = found(frame.select(robots("url", path, agent_column="bot"))["robots"])
    assert verdicts == {"verdict": ["disallow", "allow", "unknown"], "agent": ["GPTBot", "CCBot", None]}


def test_types_of_times(path):
    seconds = polars.Series("seen", [1000, 1999, 2000, None])
    moments = (seconds * 1000).cast(polars.Datetime("ms"))
    frame = polars.DataFrame({"url": ["https://a.example/new"] * 4})
    wanted = ["allow", "allow", "disallow", "invalid"]
    for times in [
        seconds,
        seconds.cast(polars.Int32),
        moments,
        moments.cast(polars.Datetime("us")),
        moments.cast(polars.Datetime("ns")).dt.replace_time_zone("UTC"),
        moments.dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    ]:
        decided = frame.select(robots("url", path, "GPTBot", "verdict", times=times.alias("when")))
        assert found(decided["robots"])["GPTBot:verdict"] == wanted, times.dtype
    days = polars.Series("seen", [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)])
    decided = frame.head(2).select(robots("url", path, "GPTBot", "verdict", times=days))
    assert found(decided["robots"])["GPTBot:verdict"] == ["unknown", "disallow"]
    # A value may be the same in all rows.
    decided = frame.select(robots("url", path, "GPTBot", "verdict", times=polars.lit(2000)))
    assert found(decided["robots"])["GPTBot:verdict"] == ["disallow"] * 4
    decided = frame.select(robots("url", path, agent_column=polars.lit("GPTBot"), times=polars.lit(1999)))
    assert found(decided["robots"]) == {"verdict": ["allow"] * 4, "agent": ["GPTBot"] * 4}


def test_empty_columns_with_rows(path):
    empty = FRAME.clear()
    for column in (robots("page", path, agent_column="bot"), robots("page", path, "GPTBot", times="seen")):
        decided = empty.select(column)["robots"]
        assert decided.len() == 0 and decided.dtype == FRAME.select(column)["robots"].dtype


def test_queries_with_rows_serialize(web, path):
    lazy = FRAME.lazy().select(robots("page", path, agent_column="bot", times="seen"))
    copy = polars.LazyFrame.deserialize(io.BytesIO(lazy.serialize()))
    assert copy.collect().equals(lazy.collect())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"agents": "GPTBot", "times": "bot"}, "times, dates or whole numbers"),
        ({"agent_column": "seen"}, "crawlers, as texts"),
        ({"agent_column": "bot", "columns": "refused"}, "refused"),
        ({"agent_column": polars.lit("Googelbot")}, 'nearly the crawler "Googlebot": write that, or set `exact` to true'),
        ({"agents": "Googelbot"}, 'nearly the crawler "Googlebot": write that, or set `exact` to true'),
    ],
)
def test_mistakes_about_rows_are_errors(path, options, message):
    with pytest.raises(polars.exceptions.PolarsError) as raised:
        FRAME.select(robots("page", path, **options))
    assert message in str(raised.value)
    exact = robots("page", path, agent_column=polars.lit("Googelbot"), exact=True)
    assert set(found(FRAME.select(exact)["robots"])["agent"]) == {"Googelbot", None}


def test_times_need_a_set_by_time(tmp_path):
    reptile.compile({"https://a.example/robots.txt": ""}, tmp_path / "web.reptile")
    column = robots("page", tmp_path / "web.reptile", "GPTBot", times="seen")
    # A lazy query fails when its schema is needed.
    for run in (lambda: FRAME.select(column), lambda: FRAME.lazy().select(column).collect_schema()):
        with pytest.raises(polars.exceptions.PolarsError, match="by.time"):
            run()


def test_arguments_that_exclude_each_other():
    for options, message in [
        ({}, "expected either agents"),
        ({"agents": "GPTBot", "agent_column": "bot"}, "expected either agents"),
        ({"agents": "GPTBot", "headers": True}, "headers: has no effect"),
    ]:
        with pytest.raises(ValueError, match=message):
            robots("page", "web.reptile", **options)
