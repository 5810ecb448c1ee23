"""Asks every installed host about rows with their own times and crawlers, in every scope and for a purpose.

Compares the rows with the command in REPTILE. Needs pyarrow.
"""

import dataclasses
import datetime
import gzip
import os
import pathlib
import pickle
import subprocess
import tarfile

import pytest

import reptile

from conftest import SHOP, URLS
from test_hosts import canonical, spark_session, stopped_at_the_end  # noqa: F401

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

AGENTS = ["MyBot", "GPTBot"]
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
CELLS = ["GPTBot", "MyBot", None, GPTBOT, BROWSER, "-", "", "curl/8.5.0"]
SECONDS = [1_700_000_000, 1_699_999_999, 1_800_000_001, 1_750_000_000, None]
COLUMNS = "verdict,line,rule,group,reason,ruleset,capture_time"
CAPTURES = [
    {"url": "https://shop.example/robots.txt", "body": SHOP, "time": 1_700_000_000},
    {"url": "https://shop.example/robots.txt", "body": "user-agent: MyBot\ndisallow: /cart/help", "time": 1_800_000_000},
    {"url": "https://www.down.example/robots.txt", "status": 503, "time": 1_700_000_000},
    {"url": "http://gone.example/robots.txt", "status": 404, "time": 1_700_000_000},
]


@dataclasses.dataclass
class Question:
    """A question about rows, as Python and the command ask it."""

    columns: str
    options: dict = dataclasses.field(default_factory=dict)
    arguments: list = dataclasses.field(default_factory=list)
    by_agent: bool = False
    by_time: bool = True

    def command(self):
        """Returns the command's arguments."""
        crawlers = ["--agent={bot}"] if self.by_agent else [f"--agent={agent}" for agent in AGENTS]
        return ["--columns", self.columns, "--at={time}", *crawlers, *self.arguments]


PURPOSE = {"uses": ["train-ai"], "lines": "all", "purpose": "train-ai", "unknown_usage": "allow"}
FOR_PURPOSE = ["--usage=train-ai", "--usage-from=all", "--purpose=train-ai", "--treat=unknown-usage=allow"]
QUESTIONS = {
    "times": Question(COLUMNS),
    "crawlers": Question(f"{COLUMNS},agent", by_agent=True),
    "verdicts of crawlers": Question("verdict", by_agent=True),
    "refused by purpose": Question("verdict,mask,refused", PURPOSE, FOR_PURPOSE),
    "everything": Question(
        f"{COLUMNS},agent", {**PURPOSE, "scope": "domain"}, [*FOR_PURPOSE, "--scope=domain"], by_agent=True
    ),
} | {
    f"scope {scope}": Question("verdict,line,refused", {"scope": scope}, [f"--scope={scope}"])
    for scope in ("origin", "scheme", "www", "domain")
}


def rows(urls):
    """Returns a table with times and crawlers that repeat in every combination."""
    seconds = [SECONDS[n % len(SECONDS)] for n in range(len(urls))]
    cells = [CELLS[n % len(CELLS)] for n in range(len(urls))]
    return pyarrow.table(
        {
            "n": pyarrow.array(range(len(urls)), pyarrow.int64()),
            "url": pyarrow.array(urls, pyarrow.string()),
            "bot": pyarrow.array(cells, pyarrow.string()),
            "time": pyarrow.array(seconds, pyarrow.timestamp("s", "UTC")).cast(pyarrow.timestamp("us", "UTC")),
        }
    )


def ordered(question):
    """Returns the keyword options that differ between hosts: the columns."""
    return question.columns.split(",")


def in_arrow(web, table, question, folder):
    if question.by_agent:
        found = web.decide_each(table, "bot", ordered(question), url_column="url", times="time", **question.options)
    else:
        found = web.decide_many(AGENTS, table, ordered(question), url_column="url", times="time", **question.options)
    return pyarrow.table(found)


def in_arrays(web, table, question, folder):
    """Passes the columns as separate objects."""
    urls, times = table["url"].to_pylist(), table["time"].combine_chunks()
    if question.by_agent:
        found = web.decide_each(urls, table["bot"], ordered(question), times=times, parallel=False, **question.options)
    else:
        times = table["time"].to_pylist()
        found = web.agents(AGENTS).decide_many(urls, ordered(question), times=times, **question.options)
    return pyarrow.table(found)


def in_polars(web, table, question, folder):
    polars = pytest.importorskip("polars")
    from reptile.polars import robots

    crawlers = {"agent_column": polars.col("bot")} if question.by_agent else {"agents": AGENTS}
    column = robots("url", web, columns=ordered(question), times="time", **crawlers, **question.options)
    lazy = polars.DataFrame(table).lazy().select("n", pickle.loads(pickle.dumps(column))).unnest("robots")
    decided = lazy.collect()
    assert lazy.collect_schema() == decided.schema
    assert lazy.collect(engine="streaming").sort("n").equals(decided)
    return decided.drop("n").to_arrow()


def in_duckdb(web, table, question, folder):
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    connection = duckdb.connect()
    connection.execute("set timezone = 'Asia/Tokyo'")
    agents = None if question.by_agent else AGENTS
    register(connection, web, agents, ordered(question), times="TIMESTAMPTZ", **question.options)
    connection.register("given", table)
    call = "robots(url, bot, time)" if question.by_agent else "robots(url, time)"
    return connection.sql(f"select unnest({call}) from given order by n").to_arrow_table()


def in_datafusion(web, table, question, folder):
    datafusion = pytest.importorskip("datafusion")
    from reptile.datafusion import register

    context = datafusion.SessionContext()
    register(context, web, None if question.by_agent else AGENTS, ordered(question), times=True, **question.options)
    context.register_record_batches("given", [table.to_batches()])
    call = "robots(url, bot, time)" if question.by_agent else "robots(url, time)"
    found = context.sql(f"select {call} as robots from given order by n").to_arrow_table().flatten()
    return found.rename_columns([name.removeprefix("robots.") for name in found.column_names])


def in_spark(web, table, question, folder):
    session = spark_session()
    from reptile import spark

    parquet.write_table(table, folder / "given.parquet")
    frame = session.read.parquet(f"file://{folder}/given.parquet")
    crawlers = {"agent_column": "bot"} if question.by_agent else {"agents": AGENTS}
    found = spark.verdicts(frame, web.path, columns=ordered(question), times="time", **crawlers, **question.options)
    return found.orderBy("n").drop(*table.column_names).toArrow()


def in_spark_sql(web, table, question, folder):
    session = spark_session()
    from reptile import spark

    parquet.write_table(table, folder / "given.parquet")
    session.read.parquet(f"file://{folder}/given.parquet").createOrReplaceTempView("given")
    spark.register(session, web.path, None if question.by_agent else AGENTS, ordered(question), times=True, **question.options)
    call = "robots(url, bot, time)" if question.by_agent else "robots(url, time)"
    found = session.sql(f"select n, {call} as found from given").orderBy("n")
    return found.select("found.*").toArrow()


def in_command(web, table, question, folder):
    program = os.environ.get("REPTILE")
    if not program:
        pytest.skip("REPTILE is not set: the command was NOT compared")
    parquet.write_table(table, folder / "rows.parquet")
    made = [program, "classify", "-q", web.path, "rows.parquet", "--url=url", "-o", "out.parquet", *question.command()]
    ran = subprocess.run(made, cwd=folder, capture_output=True, text=True)
    # 1: most rows are invalid.
    assert ran.returncode in (0, 1) and (folder / "out.parquet").exists(), ran.stderr
    return parquet.read_table(folder / "out.parquet")


HOSTS = {
    "arrays": in_arrays,
    "Polars": in_polars,
    "DuckDB": in_duckdb,
    "DataFusion": in_datafusion,
    "Spark": in_spark,
    "Spark SQL": in_spark_sql,
    "command": in_command,
}


def same_order(table):
    """Returns the columns in one order, and with one type each."""
    return canonical(table.select(sorted(table.column_names)))


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "web.reptile"
    reptile.compile(CAPTURES, path, by_time=True)
    return reptile.open(path)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Returns a set by time of the real files, each with another site's file later, and the real URLs."""
    shared = pathlib.Path(os.environ.get("REPTILE_SHARED", "absent")) / "corpora/real"
    if not shared.exists():
        pytest.skip("REPTILE_SHARED names no folder with real files: hosts were NOT compared on them")
    with tarfile.open(shared / "robots.tar.gz") as archive:
        members = [each for each in archive if each.isfile()]
        files = [(pathlib.PurePath(each.name).name, archive.extractfile(each).read()) for each in members]
    captures = []
    for place, (host, body) in enumerate(files):
        url = f"https://{host}/robots.txt"
        captures.append({"url": url, "body": body, "time": 1_700_000_000 + place})
        captures.append({"url": url, "body": files[place - 1][1], "time": 1_750_000_000 + place})
    path = tmp_path_factory.mktemp("real-rows") / "real.reptile"
    reptile.compile(captures, path, by_time=True, on_error=lambda origin, text: None)
    with gzip.open(shared / "urls.txt.gz", "rt", encoding="utf-8", errors="replace") as file:
        urls = [line.rstrip("\n") for line in file]
    urls[::97] = [None] * len(urls[::97])
    return reptile.open(path), rows(urls)


OTHERS = ["http://shop.example/cart", "https://down.example/", "https://www.gone.example/a", "https://a.shop.example/cart"]
SMALL = [*URLS, *OTHERS] * 40
"""Every URL with every crawler and time: the lengths have no common factor."""


# A job takes a second or more.
IN_SPARK = ("everything", "refused by purpose")
PAIRS = [(host, name) for host in HOSTS for name in QUESTIONS if "Spark" not in host or name in IN_SPARK]
REAL_PAIRS = [(host, "everything") for host in HOSTS] + [("arrays", "times"), ("command", "times")]


@pytest.mark.parametrize("host, name", PAIRS)
def test_every_host_answers_about_rows(host, name, web, tmp_path):
    table = rows(SMALL)
    expected = in_arrow(web, table, QUESTIONS[name], tmp_path)
    found = HOSTS[host](web, table, QUESTIONS[name], tmp_path)
    assert same_order(found).equals(same_order(expected))
    if host != "command":
        assert found.column_names == expected.column_names
    verdicts = [found[each].to_pylist() for each in found.column_names if each.endswith("verdict")]
    assert set().union(*verdicts) == {"allow", "disallow", "unknown", "invalid", None}


@pytest.mark.parametrize("host, name", REAL_PAIRS)
def test_every_host_answers_about_real_rows(host, name, real, tmp_path):
    web, table = real
    expected = same_order(in_arrow(web, table, QUESTIONS[name], tmp_path))
    assert table.num_rows > 80_000
    found = same_order(HOSTS[host](web, table, QUESTIONS[name], tmp_path))
    assert found.equals(expected)
    print(f"{host}, {name}: {found.num_rows:,} real rows are equal in {found.num_columns} columns")


def test_rows_equal_single_decisions(web):
    """The columns about rows with a crawler and a time equal ``Set.explain``."""
    table = rows(SMALL)
    for scope in ("origin", "domain"):
        found = web.decide_each(table, "bot", "agent,verdict,line,reason", times="time", scope=scope)
        decided = 0
        given = zip(*(table[name].to_pylist() for name in ("url", "bot", "time")))
        for row, (url, cell, time) in enumerate(given):
            answer = {name: found[name][row] for name in ("agent", "verdict", "line", "reason")}
            if url is None:
                assert set(answer.values()) == {None}
                continue
            headers = [cell] if cell and "/" in cell else []
            agent = web.agent_of_header(cell) if headers else web.agent(cell) if cell not in (None, "", "-") else None
            assert answer["agent"] == (agent and agent.name)
            if agent is None:
                is_url = web.decide("*", url, at=0) != "invalid"
                assert answer["verdict"] == ("unknown" if is_url and time else "invalid"), (url, time)
            elif time is None:
                assert (answer["verdict"], answer["reason"]) == ("invalid", "no time")
            else:
                why = agent.explain(url, at=time, scope=scope)
                assert (answer["verdict"], answer["line"]) == (why.verdict, why.line)
                decided += 1
        assert decided > 100


LOG = '192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] "GET {path} HTTP/1.1" 200 1 "-" "{header}"'


def test_headers_are_read_as_in_a_log(tmp_path):
    program = os.environ.get("REPTILE")
    if not program:
        pytest.skip("REPTILE is not set: the command was NOT compared")
    headers = [cell for cell in CELLS if cell] + ["MyWord", "Googelbot/2.1 (+http://x.example/bot)", "Googelbot"]
    paths = ["/cart", "/cart/help", "/"]
    pairs = [(path, header) for header in headers for path in paths]
    (tmp_path / "access.log").write_text("".join(LOG.format(path=path, header=header) + "\n" for path, header in pairs))
    reptile.compile(CAPTURES[:1], tmp_path / "web.reptile")
    made = [program, "classify", "-q", "web.reptile", "access.log", "--host=shop.example", "--agent={user_agent}"]
    made += ["--columns=agent,verdict,line,reason", "-o", "out.parquet"]
    ran = subprocess.run(made, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr
    web = reptile.open(tmp_path / "web.reptile")
    urls = [f"https://shop.example{path}" for path, _ in pairs]
    found = web.decide_each(urls, [header for _, header in pairs], "agent,verdict,line,reason", headers=True)
    assert canonical(pyarrow.table(found)).equals(canonical(parquet.read_table(tmp_path / "out.parquet")))
    assert set(found["verdict"]) == {"allow", "disallow", "unknown"} and found["agent"][-3:] == [None] * 3


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """Returns a set that is not by time."""
    path = tmp_path_factory.mktemp("still") / "still.reptile"
    reptile.compile(CAPTURES[:1], path)
    return reptile.open(path)


def registrations(web, *, agents=None, times=False, **options):
    """Yields each host's name, and a call that prepares a query about rows. Spark prepares a plan."""
    column = {} if agents is not None else {"agent_column": "bot"}

    def polars():
        pytest.importorskip("polars")
        from reptile.polars import robots

        robots("url", web, agents, times="time" if times else None, **column, **options)

    def duckdb():
        duckdb = pytest.importorskip("duckdb")
        from reptile.duckdb import register

        register(duckdb.connect(), web, agents, times="BIGINT" if times else None, **options)

    def datafusion():
        from reptile.datafusion import register

        register(pytest.importorskip("datafusion").SessionContext(), web, agents, times=times, **options)

    def spark():
        session = spark_session()
        from reptile import spark

        frame = session.createDataFrame([("https://shop.example/", "GPTBot", 1)], "url string, bot string, time long")
        spark.verdicts(frame, web.path, agents, times="time" if times else None, **column, **options)

    return {"Polars": polars, "DuckDB": duckdb, "DataFusion": datafusion, "Spark": spark}


MISTAKES = [
    (dict(agents="GPTBot", times=True), reptile.Error, "not by time"),
    (dict(times=True), reptile.Error, "not by time"),
    (dict(agents="GPTBot", scope="host"), ValueError, "unknown scope"),
    (dict(columns="verdict,refused"), ValueError, "each row names its own"),
    (dict(columns="mask"), ValueError, "each row names its own"),
    (dict(agents="GPTBot", columns="agent"), ValueError, "whose rows name their crawlers"),
    (dict(agents="GPTBot", headers=True), ValueError, "headers: has no effect"),
    (dict(purpose="train-ai"), ValueError, "needs unknown_usage"),
    (dict(uses="train-lunch"), ValueError, "train-lunch"),
]


@pytest.mark.parametrize("host", ["Polars", "DuckDB", "DataFusion", "Spark"])
def test_mistakes_are_errors_at_registration(host, still):
    for options, error, text in MISTAKES:
        with pytest.raises(error, match=text):
            registrations(still, **options)[host]()
    assert len(MISTAKES) == 9


def test_either_crawlers_or_a_column(still):
    pytest.importorskip("polars")
    from reptile.polars import robots

    for crawlers in ({}, {"agents": "GPTBot", "agent_column": "agent"}):
        with pytest.raises(ValueError, match="expected either agents"):
            robots("url", still, **crawlers)


def test_misspelled_names(still):
    url = "https://shop.example/"
    for options in ({}, {"columns": "line"}):
        with pytest.raises(reptile.CrawlerError, match='"Googelbot".*"Googlebot"'):
            still.decide_each([url] * 3, ["GPTBot", "Googelbot", "GPTBot"], **options)
        # The error does not last.
        assert still.decide_each([url], ["GPTBot"])["verdict"] == ["disallow"]
    assert still.decide_each([url], ["Googelbot"], "agent", exact=True)["agent"] == ["Googelbot"]
    assert still.decide_each([url], ["Googelbot/2.1"], "agent", headers=True)["agent"] == ["Googelbot"]


def test_misspelled_names_in_queries(still):
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    connection = duckdb.connect()
    register(connection, still, None, name="checked")
    register(connection, still, None, name="exact", exact=True)
    url = "https://shop.example/"
    with pytest.raises(Exception, match='"Googelbot".*"Googlebot"'):
        connection.sql(f"select checked('{url}', 'Googelbot')").fetchall()
    query = f"select exact('{url}', 'Googelbot').agent, checked('{url}', 'GPTBot').verdict"
    assert connection.sql(query).fetchall() == [("Googelbot", "disallow")]


def test_crawlers_beside_urls():
    web = reptile.compile(CAPTURES[:1])
    url = "https://shop.example/"
    table = pyarrow.table({"url": [url] * 2, "agent": ["GPTBot", None], "n": [1, 2]})
    chunks = pyarrow.chunked_array([["GPTBot"], [None]])
    for given in (["GPTBot", None], iter(["GPTBot", None]), [b"GPTBot", None], chunks):
        assert web.decide_each([url] * 2, given)["verdict"] == ["disallow", "unknown"]
    dictionary = pyarrow.array(["GPTBot", None]).dictionary_encode()
    assert web.decide_each(table["url"], dictionary, "reason")["reason"] == ["rule", "no crawler"]
    assert web.decide_each(table, "agent", "url,verdict").column_names == ["url", "verdict"]
    assert web.decide_each([], [])["verdict"] == [] and len(web.decide_each([None], ["GPTBot"])) == 1
    for arguments, text in [
        (([url], "GPTBot"), "agents: expected a name for each URL.*`decide_many`"),
        ((table, "bot"), 'no column "bot" with crawlers'),
        ((table, "n"), 'column "n" has to be one of crawlers, as texts, found Int64'),
        ((table, ["GPTBot", None]), "`agents` must be the name of a column"),
        (([url], table), "`agents` must be an array, or the name of a column"),
        (([url] * 2, ["GPTBot"]), "more URLs than agents; 1 rows have both"),
        (([url], ["GPTBot"] * 2), "more agents than URLs; 1 rows have both"),
        (([url], ["GPTBot", "CCBot"], "verdict"), "more agents than URLs"),
        (([url], [7]), r"agents\[0\] must be str or None"),
        (([7], ["GPTBot"]), r"urls\[0\] must be str or None"),
        ((url, ["GPTBot"]), "urls: expected several texts, found one"),
    ]:
        with pytest.raises(TypeError, match=text):
            web.decide_each(*arguments, url_column="url" if isinstance(arguments[0], pyarrow.Table) else None)


def test_many_distinct_names(tmp_path):
    """More names than are cached give the same verdicts."""
    web = reptile.compile(CAPTURES[:1])
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [f"x{a}{b}{c}" for a in letters for b in letters for c in letters][:10_000]
    for columns in ("agent", "agent,line"):
        for parallel in (False, True):
            urls = ["https://shop.example/cart"] * len(names)
            found = web.decide_each(urls, names, columns, parallel=parallel, exact=True)
            assert found["agent"] == names and set(found.to_pydict().get("line", [2])) == {2}


def test_times_in_duckdb(web):
    """A timestamp without a zone is in UTC if the argument's type says so."""
    duckdb = pytest.importorskip("duckdb")
    from reptile.duckdb import register

    connection = duckdb.connect()
    connection.execute("set timezone = 'Asia/Tokyo'")
    first = "2023-11-14 22:13:20"
    assert datetime.datetime.fromisoformat(first + "+00:00").timestamp() == 1_700_000_000
    for kind, before, after in [
        ("TIMESTAMPTZ", "'2023-11-14 22:13:19+00'::timestamptz", "'2023-11-15 07:13:20'::timestamptz"),
        ("TIMESTAMP", "'2023-11-14 22:13:19'::timestamp", f"'{first}'::timestamp"),
        ("DATE", "'2023-11-14'::date", "'2023-11-15'::date"),
        ("BIGINT", "1699999999", "1700000000"),
    ]:
        register(connection, web, "GPTBot", "verdict", times=kind, name=kind.lower() + "_robots")
        call = f"""{kind.lower()}_robots('https://shop.example/', {{}})."GPTBot:verdict" """
        found = connection.sql(f"select {call.format(before)}, {call.format(after)}, {call.format('null')}").fetchall()
        assert found == [("unknown", "disallow", "invalid")], kind
    with pytest.raises(Exception, match="No function matches"):
        connection.sql("select bigint_robots('https://shop.example/', now())").fetchall()
    for kind in ("VARCHAR", "TIME"):
        with pytest.raises(TypeError, match="times, dates or whole numbers"):
            register(connection, web, "GPTBot", times=kind, name="other")
