"""Runs the plugin in eager, lazy and streaming queries, and compares it with the Python package."""

import io
import os
import pathlib
import subprocess
import sys
import threading

import polars
import pyarrow
import pytest

import reptile
from reptile_polars import robots, usage

SHOP = """user-agent: *
disallow: /cart
allow: /cart/help
disallow: /*?sort=

user-agent: GPTBot
disallow: /
"""

CAPTURES = [
    {"url": "https://shop.example/robots.txt", "body": SHOP, "time": 1_700_000_000},
    {"url": "https://down.example/robots.txt", "status": 503, "time": 1_700_000_001},
    {"url": "https://gone.example/robots.txt", "status": 404, "body": None},
    {"url": "https://www.apex.example/robots.txt", "body": "user-agent: *\ndisallow: /a"},
]

URLS = [
    "https://shop.example/cart",
    "https://shop.example/cart/help",
    "https://shop.example/?sort=price",
    None,
    "https://down.example/",
    "https://gone.example/",
    "https://no.example/",
    "https://apex.example/a",
    "nonsense",
    "",
    "https://shop.example/" + "x" * 40 + "é",
]

AGENTS = ["MyBot", "GPTBot"]
COLUMNS = ["verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "mask", "refused"]
TIMES = 700

OLD = tuple(map(int, polars.__version__.split(".")[:2])) < (1, 23)
STREAMING = [{}] if OLD else [{"engine": "in-memory"}, {"engine": "streaming"}]
"""Arguments of ``collect``: older versions have no new streaming engine."""


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("a set") / "web.reptile"
    reptile.compile(CAPTURES, path)
    return path


@pytest.fixture(scope="session")
def web(path):
    return reptile.open(path)


def plain(value):
    """Returns a verdict as text, and a moment as a number."""
    if isinstance(value, reptile.Verdict):
        return str(value)
    return value.timestamp() if hasattr(value, "timestamp") else value


def expected(web, urls, agents=AGENTS, columns=COLUMNS):
    """Returns the columns of the Python package, as lists."""
    decided = pyarrow.table(web.decide_many(agents, pyarrow.array(urls, pyarrow.string()), columns)).to_pydict()
    return {name: [plain(value) for value in values] for name, values in decided.items()}


def found(struct):
    """Returns the fields of a column of structs, as lists."""
    frame = struct.struct.unnest()
    return {name: [plain(value) for value in values] for name, values in frame.to_dict(as_series=False).items()}


def test_all_columns_equal_those_of_the_python_package(web, path):
    urls = URLS * TIMES
    frame = polars.DataFrame({"n": range(len(urls)), "url": urls})
    column = robots("url", path, AGENTS, COLUMNS)
    assert found(frame.select(column)["robots"]) == expected(web, urls)
    for engine in STREAMING:
        lazy = frame.lazy().with_columns(column)
        collected = lazy.collect(**engine).sort("n")
        assert lazy.collect_schema()["robots"] == collected["robots"].dtype
        assert found(collected["robots"]) == expected(web, urls), engine


def test_types(path):
    frame = polars.DataFrame({"url": URLS[:1]})
    struct = frame.select(robots("url", path, "GPTBot", COLUMNS))["robots"].dtype
    kinds = {field.name: field.dtype for field in struct.fields}
    assert list(kinds) == ["GPTBot:" + name for name in COLUMNS[:6]] + COLUMNS[6:]
    assert kinds["GPTBot:verdict"] == polars.Categorical and kinds["GPTBot:group"] == polars.Categorical
    assert kinds["GPTBot:line"] == kinds["GPTBot:ruleset"] == polars.UInt32
    assert kinds["GPTBot:rule"] == kinds["GPTBot:reason"] == polars.String
    assert kinds["mask"] == polars.UInt64
    assert kinds["refused"] == polars.List(polars.String)
    assert kinds["capture_time"] == polars.Datetime("ms", "UTC")


def test_null_empty_and_other_texts(web, path):
    column = robots("url", path, AGENTS, COLUMNS)
    nulls = [polars.Series("url", [None, None], kind) for kind in (polars.String, polars.Binary, polars.Null)]
    for series in nulls:
        rows = series.to_frame().select(column)["robots"].struct.unnest()
        assert rows.null_count().row(0) == (2,) * rows.width, series.dtype
    for kind in (polars.String, polars.Null):
        assert polars.DataFrame({"url": polars.Series([], dtype=kind)}).select(column)["robots"].len() == 0
    texts = polars.Series("url", URLS)
    for series in (texts.cast(polars.Binary), texts.cast(polars.Categorical)):
        assert found(series.to_frame().select(column)["robots"]) == expected(web, URLS), series.dtype
    bytes_ = polars.Series("url", ["https://shop.example/cart\xff".encode("latin-1")])
    assert found(bytes_.to_frame().select(column)["robots"])["MyBot:verdict"] == ["disallow"]


def test_slices_and_several_parts(web, path):
    column = robots("url", path, AGENTS, ["verdict", "refused"])
    series = polars.Series("url", URLS * 3)
    parts = polars.concat([series.slice(3, 9), series.slice(0, 0), series.slice(20, 7)], rechunk=False)
    wanted = expected(web, parts.to_list(), columns=["verdict", "refused"])
    assert found(parts.to_frame().select(column)["robots"]) == wanted


def test_long_columns_use_all_threads(web, path):
    urls = URLS * (300_000 // len(URLS))
    frame = polars.DataFrame({"url": urls})
    wanted = expected(web, urls, columns=["verdict", "mask"])
    for engine in STREAMING:
        decided = frame.lazy().select(robots("url", path, AGENTS, ["verdict", "mask"])).collect(**engine)
        assert found(decided["robots"]) == wanted


def test_expressions(web, path):
    frame = polars.DataFrame({"n": range(len(URLS) * TIMES), "url": URLS * TIMES})
    verdict = robots(polars.col("url"), path, "GPTBot").struct.field("GPTBot:verdict")
    texts = expected(web, URLS * TIMES, "GPTBot", ["verdict"])["GPTBot:verdict"]
    closed = frame.lazy().filter(verdict.cast(polars.String) == "disallow").select("n").collect()
    assert closed["n"].to_list() == [n for n, text in enumerate(texts) if text == "disallow"]
    counted = frame.lazy().group_by(verdict.cast(polars.String).alias("v")).len().collect()
    assert dict(counted.iter_rows()) == {text: texts.count(text) for text in set(texts)}
    is_closed = verdict.cast(polars.String) == "disallow"
    groups = frame.group_by(polars.col("n") % 10).agg(is_closed.sum().alias("closed"))
    assert dict(groups.iter_rows()) == {key: sum(text == "disallow" for text in texts[key::10]) for key in range(10)}
    over = frame.select(robots(polars.col("url").first().over(polars.col("n") % len(URLS)), path, "GPTBot", "verdict"))
    assert found(over["robots"])["GPTBot:verdict"] == texts


def test_scope_and_exact_names(path):
    frame = polars.DataFrame({"url": ["https://apex.example/a"]})
    for scope, verdict in [("origin", "unknown"), ("scheme", "unknown"), ("www", "disallow"), ("domain", "disallow")]:
        decided = frame.select(robots("url", path, "GPTBot", "verdict", scope=scope))
        assert found(decided["robots"])["GPTBot:verdict"] == [verdict]
    exact = frame.select(robots("url", path, "Googelbot", "verdict", exact=True))
    assert found(exact["robots"]) == {"Googelbot:verdict": ["unknown"]}


BODY = """user-agent: *
disallow: /x
content-signal: search=yes
content-usage: train-ai=n
content-usage: /*.pdf train-ai=y, search=n
"""


def test_uses_equal_those_of_the_python_package(tmp_path):
    path = tmp_path / "web.reptile"
    web = reptile.compile({"https://a.example/robots.txt": BODY}, path)
    urls = [f"https://a.example/{name}" for name in ("", "x", "1.pdf")] + ["https://b.example/", "none", None]
    frame = polars.DataFrame({"url": urls})
    words = set()
    for options in (
        {"uses": "train-ai"},
        {"uses": ["search", "train-ai"], "lines": "all", "purpose": "search", "unknown_usage": "disallow"},
        {"uses": ["search"], "lines": "signals", "vocabulary": "aipref-07"},
        {"uses": [], "purpose": "train-ai", "unknown_usage": "allow"},
    ):
        decided = pyarrow.table(web.decide_many(AGENTS, urls, [], **options)).to_pydict()
        expression = usage("url", path, AGENTS, **options)
        assert found(frame.select(expression)["usage"]) == decided
        lazy = frame.lazy().select(expression)
        assert lazy.collect_schema() == lazy.collect().schema
        words.update(*decided.values())
    assert words >= {"allowed", "disallowed", "unknown", "not-applicable", "allow", "disallow", "invalid", None}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"uses": "train"}, 'has no use "train"'),
        ({"uses": "search", "lines": "both"}, "expected usage, signals, tokens, default-group, all"),
        ({"uses": [], "purpose": "search"}, "needs unknown_usage"),
        ({"uses": []}, "no column is named"),
    ],
)
def test_mistakes_about_uses_are_errors(path, options, message):
    with pytest.raises(polars.exceptions.PolarsError, match=message):
        polars.DataFrame({"url": URLS}).select(usage("url", path, "GPTBot", **options))


def test_groups_of_crawlers(path):
    frame = polars.DataFrame({"url": ["https://shop.example/x"]})
    decided = found(frame.select(robots("url", path, ["@ai-training"], "verdict"))["robots"])
    assert decided["GPTBot:verdict"] == ["disallow"] and len(decided) > 5


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("/no/such/file", "GPTBot"), "/no/such/file: "),
        (("/", "GPTBot"), "/: "),
        ((None, "Googelbot"), 'nearly the crawler "Googlebot"'),
        ((None, []), "no crawler is named"),
        ((None, ["GPTBot", "GPTBot"]), "twice"),
        ((None, "GPTBot", "lines"), '"lines"'),
        ((None, "GPTBot", []), "no column is named"),
        ((None, "GPTBot", "agent"), "agent"),
    ],
)
def test_errors_name_the_cause(path, arguments, message):
    web, *others = arguments
    column = robots("url", web or path, *others)
    frame = polars.DataFrame({"url": URLS})
    for run in (lambda: frame.select(column), lambda: frame.lazy().select(column).collect_schema()):
        with pytest.raises(polars.exceptions.PolarsError) as raised:
            run()
        assert message in str(raised.value)
    with pytest.raises(polars.exceptions.PolarsError, match="scope"):
        frame.select(robots("url", path, "GPTBot", scope="host"))


def test_numbers_are_not_urls(path):
    with pytest.raises(polars.exceptions.PolarsError, match="texts"):
        polars.DataFrame({"url": [1, 2]}).select(robots("url", path, "GPTBot"))


def test_damaged_sets_are_errors(path, tmp_path):
    data = pathlib.Path(path).read_bytes()
    for length in (0, 1, 63, len(data) // 2, len(data) - 1):
        short = tmp_path / f"short-{length}.reptile"
        short.write_bytes(data[:length])
        with pytest.raises(polars.exceptions.PolarsError, match="short"):
            polars.DataFrame({"url": URLS}).select(robots("url", short, "GPTBot"))


def test_a_renamed_set_is_opened_again(tmp_path):
    path = tmp_path / "set.reptile"
    column = robots("url", path, "GPTBot", "verdict")
    frame = polars.DataFrame({"url": ["https://a.example/"]})
    for body, verdict in [("", "allow"), ("user-agent: *\ndisallow: /", "disallow"), ("", "allow")]:
        reptile.compile({"https://a.example/robots.txt": body}, tmp_path / "new.reptile")
        os.replace(tmp_path / "new.reptile", path)
        assert found(frame.select(column)["robots"])["GPTBot:verdict"] == [verdict]


def test_queries_serialize_without_objects(web, path, tmp_path):
    lazy = polars.LazyFrame({"url": URLS}).select(robots("url", path, AGENTS, COLUMNS))
    data = lazy.serialize()
    assert b"reptile_polars.robots" not in data and b"cloudpickle" not in data
    assert found(polars.LazyFrame.deserialize(io.BytesIO(data)).collect()["robots"]) == expected(web, URLS)
    # Another process runs it without this package's Python code.
    (tmp_path / "query.bin").write_bytes(data)
    code = f"""import polars, sys
decided = polars.LazyFrame.deserialize({str(tmp_path / "query.bin")!r}).collect()
print(decided["robots"].struct.field("GPTBot:verdict").cast(polars.String).to_list())
assert not any(name.startswith("reptile") for name in sys.modules)"""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == str(expected(web, URLS)["GPTBot:verdict"]), ran.stderr


def test_several_threads(web, path):
    frame = polars.DataFrame({"url": URLS * 5000})
    wanted = expected(web, URLS * 5000, columns=["verdict"])
    results = []

    def decide():
        results.append(found(frame.select(robots("url", path, AGENTS, "verdict"))["robots"]))

    threads = [threading.Thread(target=decide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [wanted] * 4


def test_memory_is_freed(path):
    frame = polars.DataFrame({"url": [f"https://shop.example/{n:060}" for n in range(20_000)]})
    column = robots("url", path, AGENTS, COLUMNS)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(5):
        frame.select(column)
    before = resident()
    for _ in range(60):
        frame.select(column)
        with pytest.raises(polars.exceptions.PolarsError):
            frame.select(robots("url", "/no/such/file", AGENTS))
    # Each round's input and output take some 5 MB.
    assert resident() - before < 60_000_000
