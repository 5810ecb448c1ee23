"""Runs the functions with times, those about purposes and the table functions, and compares them with the Python
package."""

import duckdb
import pyarrow
import pytest

import reptile

REPEATS = 700
"""Enough rows for DuckDB to split the table."""

VERSIONS = [
    {"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /old\ncontent-usage: train-ai=y", "time": 1000},
    {"url": "https://a.example/robots.txt", "body": "user-agent: GPTBot\ndisallow: /new\ncontent-usage: train-ai=n", "time": 2000},
    {"url": "https://www.b.example/robots.txt", "body": "user-agent: *\ndisallow: /x", "time": 1500},
]
PATHS = ["https://a.example/old", "https://a.example/new/é", "https://b.example/x", "https://c.example/", "none", None]
SECONDS = [999, 1000, 1999, 2000, 3_000_000_000, -62_135_596_801, 253_402_300_800]
AGENTS = ["GPTBot", "MyBot"]
OF_LISTS = ("verdicts", "mask", "refused", "purpose_mask", "purpose_refused")


@pytest.fixture(scope="module")
def timed_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("timed") / "years.reptile"
    reptile.compile(VERSIONS, path, by_time=True)
    return str(path)


@pytest.fixture
def rows(connection, timed_path):
    """Registers a table with each URL at each time."""
    pairs = [(url, time) for url in PATHS for time in SECONDS] * (REPEATS // len(SECONDS))
    urls, times = zip(*pairs)
    connection.register("visits", pyarrow.table({"n": range(len(pairs)), "url": urls, "seconds": times}))
    connection.execute("set variable web = '" + timed_path.replace("'", "''") + "'")
    return pairs


def ask(connection, function, time="seconds", more="", table="visits"):
    agents = str(AGENTS) if function.removesuffix("_at") in OF_LISTS else repr(AGENTS[0])
    time = f", {time}" if time else ""
    call = f"robots_{function}(url, getvariable('web'), {agents}{time}{more})"
    return [row for (row,) in connection.execute(f"select {call} from {table} order by n").fetchall()]


def test_row_times_decide_as_in_the_python_package(connection, rows, timed_path):
    web = reptile.open(timed_path)
    urls, times = zip(*rows)
    columns = ["verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "mask", "refused"]
    found = {name: ask(connection, f"{name}_at") for name in ("verdict", "allowed", "explain", "verdicts", "mask", "refused")}
    # `ruleset` and `capture_time` are compared too.
    decided = pyarrow.table(web.decide_many(AGENTS, urls, columns, times=times)).to_pydict()
    first = [decided[f"GPTBot:{name}"] for name in columns[:6]] + [decided["capture_time"]]
    wanted = [None if row[0] is None else dict(zip(columns, (str(row[0]), *row[1:]))) for row in zip(*first)]
    assert found["explain"] == wanted
    verdicts = decided["GPTBot:verdict"]
    assert found["verdict"] == [verdict and str(verdict) for verdict in verdicts]
    assert found["allowed"] == [{"allow": True, "disallow": False}.get(verdict and str(verdict)) for verdict in verdicts]
    both = zip(verdicts, decided["MyBot:verdict"])
    assert found["verdicts"] == [one and {"GPTBot": str(one), "MyBot": str(other)} for one, other in both]
    assert (found["mask"], found["refused"]) == (decided["mask"], decided["refused"])
    assert {verdict and str(verdict) for verdict in verdicts} == {"allow", "disallow", "unknown", "invalid", None}


def test_times_of_all_types(connection, rows):
    """A zone of the session changes nothing: times without a zone are in UTC."""
    connection.execute("set timezone = 'Asia/Tokyo'")
    connection.execute("create table times as select n, url, seconds from visits where seconds between 0 and 4000000000")
    wanted = ask(connection, "verdict_at", table="times")
    casts = [
        "make_timestamp(seconds * 1000000)",
        "to_timestamp(seconds)",
        "make_timestamp(seconds * 1000000)::timestamp_s",
        "make_timestamp(seconds * 1000000)::timestamp_ms",
        "make_timestamp(seconds * 1000000)::timestamp_ns",
    ]
    for cast in casts:
        assert ask(connection, "verdict_at", cast, table="times") == wanted, cast
    one = "select robots_verdict_at('https://a.example/old', getvariable('web'), 'GPTBot', {})"
    for time, verdict in [
        ("date '1970-01-01'", "unknown"),
        ("date '1970-01-02'", "allow"),
        ("timestamp '1970-01-01 00:16:40'", "disallow"),
        ("timestamptz '1970-01-01 09:16:39+09'", "unknown"),
        ("timestamptz '1970-01-01 09:16:40+09'", "disallow"),
        ("1699999999999", "allow"),
        ("1", "unknown"),
        ("'infinity'::timestamp", "invalid"),
        ("'-infinity'::date", "invalid"),
        ("null::timestamp", None),
        ("null", None),
    ]:
        assert connection.execute(one.format(time)).fetchone() == (verdict,), time


def test_times_need_a_set_by_time(connection, path):
    for function in ("verdict", "explain", "refused"):
        agents = AGENTS if function == "refused" else AGENTS[0]
        with pytest.raises(duckdb.Error, match=f"robots_{function}_at: .*by.time"):
            connection.execute(f"select robots_{function}_at('https://shop.example/', ?, ?, 1000)", [path, agents])


def test_scopes_and_exact_names_at_times(connection, rows):
    at = {scope: ask(connection, "verdict_at", more=f", '{scope}'") for scope in ("origin", "www")}
    place = rows.index(("https://b.example/x", 1999))
    assert (at["origin"][place], at["www"][place]) == ("unknown", "disallow")
    exact = "select robots_verdict_at('https://a.example/old', getvariable('web'), 'Googelbot', 1000, 'origin', true)"
    assert connection.execute(exact).fetchone() == ("disallow",)


PURPOSE = """user-agent: *
disallow: /x
content-usage: train-ai=n
content-usage: /*.pdf train-ai=y
content-signal: search=yes, ai-train=yes
"""


@pytest.fixture(scope="module")
def purpose_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("purpose") / "web.reptile"
    reptile.compile({"https://www.a.example/robots.txt": PURPOSE}, path)
    return str(path)


def test_purposes_equal_those_of_the_python_package(connection, purpose_path):
    web = reptile.open(purpose_path)
    urls = [f"https://www.a.example/{name}" for name in ("", "x", "1.pdf")] + ["https://a.example/", "none", None]
    connection.register("visits", pyarrow.table({"n": range(len(urls) * REPEATS), "url": urls * REPEATS}))
    connection.execute("set variable web = '" + purpose_path.replace("'", "''") + "'")
    seen = set()
    for use, unknown, lines, scope in [
        ("train-ai", "allow", None, None),
        ("train-ai", "disallow", "all", None),
        ("search", "unknown", "usage", "www"),
        ("search", "disallow", "signals", "domain"),
    ]:
        options = {"purpose": use, "unknown_usage": unknown, "lines": lines or "usage", "scope": scope or "origin"}
        decided = pyarrow.table(web.decide_many(AGENTS, urls, ["mask", "refused"], **options)).to_pydict()
        more = f", '{use}', '{unknown}'" + (f", '{lines}'" if lines else "")
        more += f", 'aipref-08', '{scope}', false" if scope else ""
        for function, column in [("purpose", "GPTBot:purpose"), ("purpose_mask", "mask"), ("purpose_refused", "refused")]:
            assert ask(connection, function, "", more) == decided[column] * REPEATS, (function, options)
        seen.update(decided["GPTBot:purpose"])
    assert seen == {"allow", "disallow", "unknown", "invalid", None}
    # The scope applies to preferences, too.
    usage = ask(connection, "usage", "", ", 'train-ai', 'usage', 'aipref-08', 'www'")
    wanted = web.decide_many("GPTBot", urls, [], uses="train-ai", scope="www")["GPTBot:train-ai"]
    assert usage == wanted * REPEATS and wanted[3] == "disallowed"
    url = "'https://www.a.example/', getvariable('web'), 'GPTBot'"
    for arguments, message in [
        (f"{url}, 'train', 'allow'", 'has no use "train"'),
        (f"{url}, 'search', 'never'", "expected allow, disallow, unknown"),
        (f"{url}, 'search'", "No function matches"),
    ]:
        with pytest.raises(duckdb.Error, match=message):
            connection.execute(f"select robots_purpose({arguments})")


def test_purposes_and_uses_at_times(connection, rows, timed_path):
    web = reptile.open(timed_path)
    urls, times = zip(*rows)
    options = {"uses": "train-ai", "purpose": "train-ai", "unknown_usage": "disallow"}
    decided = web.decide_many(AGENTS, urls, ["mask"], times=times, **options)
    assert ask(connection, "usage_at", more=", 'train-ai'") == decided["GPTBot:train-ai"]
    more = ", 'train-ai', 'disallow'"
    assert ask(connection, "purpose_at", more=more) == decided["GPTBot:purpose"]
    assert ask(connection, "purpose_mask_at", more=more) == decided["mask"]
    assert {"allowed", "disallowed"} <= set(decided["GPTBot:train-ai"])


def test_tables_equal_those_of_the_python_package(connection, path, web):
    origins = connection.execute("from robots_origins(getvariable('web'))")
    assert [column[0] for column in origins.description] == ["origin"]
    assert origins.fetchall() == [(origin,) for origin in web.origins()]
    for agents, some in [(["GPTBot"], None), (["MyBot", "GPTBot", "@search"], None), (["MyBot"], HOSTS)]:
        named = ", origins := ?" if some else ""
        summary = connection.execute(f"from robots_summary(?, ?{named})", [path, agents, *([some] if some else [])])
        names, found = [column[0] for column in summary.description], summary.fetchall()
        wanted = pyarrow.table(web.summarize(agents, some))
        assert names == wanted.schema.names
        assert found == [tuple(row[name] for name in names) for row in wanted.to_pylist()]
    assert {row[2] for row in found} == {"partial", "allowed", "unknown", "invalid"}


HOSTS = ["shop.example", "https://gone.example/x", "no.example", "not a host", ""]


def test_tables_of_many_origins(connection, tmp_path):
    """More origins than a batch has; a query that ends early stops the rows, and a prepared query may run again."""
    path, count = str(tmp_path / "many.reptile"), 20_000
    web = reptile.compile({f"https://h{n}.example/robots.txt": f"user-agent: *\ndisallow: /{n % 7}" for n in range(count)}, path)
    found = connection.execute("select origin from robots_origins(?)", [path]).fetchall()
    assert found == [(origin,) for origin in web.origins()] and len(found) == count
    query = "select access, count(*), count(distinct url), count(distinct disallowed_path) from robots_summary(?, ?) group by all"
    for agents in (["GPTBot"], ["GPTBot", "MyBot"]):
        assert connection.execute(query, [path, agents]).fetchall() == [("partial", count * len(agents), count, 7)]
    for _ in range(20):
        assert len(connection.execute("from robots_origins(?) limit 3", [path]).fetchall()) == 3
    connection.execute("set variable many = '" + path.replace("'", "''") + "'")
    connection.execute("prepare counts as select count(*) from robots_summary(getvariable('many'), ['GPTBot'])")
    for _ in range(3):
        assert connection.execute("execute counts").fetchone() == (count,)
    # Tables can be joined, also with themselves.
    joined = "select count(*) from robots_origins(?) a join robots_summary(?, ['CCBot']) b on a.origin || '/' = b.url"
    assert connection.execute(joined, [path, path]).fetchone() == (count,)


@pytest.mark.parametrize(
    "call, message",
    [
        ("robots_origins('/no/such/file')", "robots_origins: /no/such/file: No such file"),
        ("robots_origins(null)", "robots_origins: the set's path is NULL"),
        ("robots_summary('/no/such/file', ['GPTBot'])", "robots_summary: /no/such/file: No such file"),
        ("robots_summary(getvariable('web'), ['Googelbot'])", 'nearly the crawler "Googlebot"'),
        ("robots_summary(getvariable('web'), []::varchar[])", "no crawler is named"),
        ("robots_summary(getvariable('web'), null)", "the crawlers: expected a list, found NULL"),
        ("robots_summary(getvariable('web'), ['GPTBot', null])", "NULL"),
        ("robots_summary(getvariable('web'), ['GPTBot'], hosts := ['a'])", 'Invalid named parameter "hosts"'),
    ],
)
def test_mistakes_in_tables_are_errors(connection, call, message):
    with pytest.raises(duckdb.Error) as raised:
        connection.execute(f"from {call}")
    assert message in str(raised.value)
    exact = "select count(*) from robots_summary(getvariable('web'), ['Googelbot'], exact := true)"
    assert connection.execute(exact).fetchone() == (4,)


def test_misspelled_names_name_the_argument(connection, path):
    for call in (
        "select robots_verdict('https://shop.example/', ?, 'Googelbot')",
        "select robots_access('https://shop.example/', ?, 'Googelbot')",
        "from robots_summary(?, ['Googelbot'])",
    ):
        with pytest.raises(duckdb.Error, match="or set `exact` to true"):
            connection.execute(call, [path])
    assert connection.execute("select robots_access('https://shop.example/', ?, 'Googelbot', true).access", [path]).fetchone() == ("partial",)
