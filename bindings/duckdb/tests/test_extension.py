"""Runs the extension's functions, and compares them with the Python package's."""

import os
import shutil
import threading

import duckdb
import pyarrow
import pytest

import reptile
from conftest import URLS
from reptile.duckdb import register

AGENTS = ["MyBot", "GPTBot"]
TIMES = 700
"""Enough rows for DuckDB to split the table."""

FUNCTIONS = {
    "robots_verdict": "VARCHAR",
    "robots_allowed": "BOOLEAN",
    "robots_explain": 'STRUCT(verdict VARCHAR, line UINTEGER, "rule" VARCHAR, "group" VARCHAR, reason VARCHAR, '
    "ruleset UINTEGER, capture_time TIMESTAMP WITH TIME ZONE)",
    "robots_verdicts": "MAP(VARCHAR, VARCHAR)",
    "robots_mask": "UBIGINT",
    "robots_refused": "VARCHAR[]",
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAMES = ["crawler-" + first + second for first in LETTERS for second in LETTERS]
"""Names of crawlers that the sites' robots.txt files do not name."""

ABOUT_ONE = ("robots_verdict", "robots_allowed", "robots_explain")


def agents(function):
    return "'GPTBot'" if function in ABOUT_ONE else "['MyBot', 'GPTBot']"


def call(function, url="url", more=""):
    return f"{function}({url}, getvariable('web'), {agents(function)}{more})"


def one(connection, expression):
    return connection.execute(f"select {expression}").fetchone()[0]


@pytest.mark.parametrize("function, kind", FUNCTIONS.items())
def test_types(connection, function, kind):
    assert one(connection, f"typeof({call(function, repr(URLS[0]))})") in (kind, kind.replace('"rule"', "rule"))


def test_all_columns_equal_the_python_function(connection, path, web):
    urls = pyarrow.table({"n": range(len(URLS) * TIMES), "url": URLS * TIMES})
    connection.register("urls", urls)
    columns = ["verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "mask", "refused"]
    register(connection, path, AGENTS, columns)
    numbers = {"line": "::uinteger", "ruleset": "::uinteger"}

    def field(agent, name):
        once = name == "capture_time"
        return "r.capture_time::timestamptz" if once else f'r."{agent}:{name}"{numbers.get(name, "")}'

    python = ", ".join(field(agent, name) for agent in AGENTS for name in columns[:7])
    native = ", ".join(f'e{number}."{name}"' for number in range(len(AGENTS)) for name in columns[:7])
    explained = ", ".join(
        f"robots_explain(url, getvariable('web'), '{agent}') as e{number}" for number, agent in enumerate(AGENTS)
    )
    expected = connection.execute(
        f"select n, {python}, r.mask::ubigint, r.refused from (select n, robots(url) as r from urls) order by n"
    ).fetchall()
    found = connection.execute(
        f"""select n, {native}, mask, refused from (select n, {explained}, {call("robots_mask")} as mask,
        {call("robots_refused")} as refused from urls) order by n"""
    ).fetchall()
    assert found == expected
    verdicts = connection.execute(f"select {call('robots_verdicts')} from urls order by n").fetchall()
    for row, (of_row,) in zip(expected, verdicts):
        assert of_row == (None if row[1] is None else {"MyBot": row[1], "GPTBot": row[8]})
    both = f"{call('robots_verdict')}, {call('robots_allowed')}"
    plain = connection.execute(f"select {both} from urls order by n").fetchall()
    assert plain == [(row[8], {"allow": True, "disallow": False}.get(row[8])) for row in expected]
    assert {row[8] for row in expected} == {"allow", "disallow", "unknown", "invalid", None}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_null_arguments_give_null(connection, function):
    url, null = repr(URLS[0]), "null::varchar"
    for arguments in (
        f"null, getvariable('web'), {agents(function)}",
        f"{null}, getvariable('web'), {agents(function)}",
        f"{url}, null, {agents(function)}",
        f"{url}, getvariable('web'), null",
        f"{url}, getvariable('web'), {agents(function)}, null",
        f"{url}, getvariable('web'), {agents(function)}, 'origin', null",
    ):
        assert one(connection, f"{function}({arguments})") is None, arguments
    # In a table, a null row is null in all fields, and other rows keep their values.
    rows = connection.execute(
        f"""select i, {call(function, "case when i % 3 = 0 then 'https://shop.example/' end")} as r
        from range(10000) t(i) order by i"""
    ).fetchall()
    assert all((value is None) == (number % 3 > 0) for number, value in rows)
    nulls = f"select {call(function, 'u')} from (select null::varchar as u from range(5000)) where u is null"
    assert connection.execute(nulls).fetchall() == [(None,)] * 5000
    assert connection.execute(f"select {call(function, 'u')} from (select '' as u) where false").fetchall() == []


BODY = """user-agent: *
disallow: /x
content-signal: search=yes
content-usage: train-ai=n
content-usage: /*.pdf train-ai=y, search=n
"""


def test_uses_equal_those_of_the_python_package(connection, tmp_path):
    path = str(tmp_path / "web.reptile")
    web = reptile.compile({"https://a.example/robots.txt": BODY}, path)
    urls = [f"https://a.example/{name}" for name in ("", "x", "1.pdf")] + ["https://b.example/", "none", None]
    connection.register("pages", pyarrow.table({"n": range(len(urls) * TIMES), "url": urls * TIMES}))
    words = set()
    for use, lines in [("train-ai", None), ("search", "usage"), ("search", "all"), ("search", "signals")]:
        more = f", '{lines}'" if lines else ""
        query = f"select robots_usage(url, ?, 'GPTBot', '{use}'{more}) from pages order by n"
        decided = web.decide_many("GPTBot", urls, [], uses=use, lines=lines or "usage")[f"GPTBot:{use}"]
        assert connection.execute(query, [path]).fetchall() == [(word,) for word in decided] * TIMES
        words.update(decided)
    assert words == {"allowed", "disallowed", "unknown", "not-applicable", None}
    # Rows may ask about their own use.
    uses = "robots_usage('https://a.example/1.pdf', ?, 'GPTBot', use, 'usage', 'aipref-07')"
    query = f"select {uses} from (values (1, 'train-ai'), (2, 'search'), (3, null)) t(n, use) order by n"
    assert connection.execute(query, [path]).fetchall() == [("allowed",), ("disallowed",), (None,)]
    url = "'https://a.example/', ?, 'GPTBot'"
    for arguments, message in [
        (f"{url}, 'train'", 'has no use "train"'),
        (f"{url}, 'search', 'both'", "expected usage, signals, tokens, default-group, all"),
        (f"{url}, 'ai-use', 'usage', 'aipref-07'", "aipref-07 has no use"),
        (f"{url}", "No function matches"),
    ]:
        with pytest.raises(duckdb.Error, match=message):
            connection.execute(f"select robots_usage({arguments})", [path])


def test_a_null_struct_has_null_fields(connection):
    rows = connection.execute(
        """select r.verdict, r.line, r.rule, r.reason, r.ruleset, r.capture_time, r is null from (
        select robots_explain(case when i = 1 then 'https://shop.example/' end, getvariable('web'), 'GPTBot') as r
        from range(3) t(i))"""
    ).fetchall()
    assert rows[0] == rows[2] == (None,) * 6 + (True,)
    assert rows[1][:3] == ("disallow", 7, "Disallow: /")
    assert rows[1][5].timestamp() == 1_700_000_000


def test_bytes_are_urls_too(connection, web):
    url = "https://shop.example/cart\xff".encode("latin-1")
    verdict = call("robots_verdict", "'https://shop.example/cart\\xFF'::blob").replace("GPTBot", "MyBot")
    assert one(connection, verdict) == str(web.decide("MyBot", url))
    for function in FUNCTIONS:
        calls = [call(function, f"'https://shop.example/cart'::{kind}") for kind in ("varchar", "blob")]
        assert one(connection, calls[0]) == one(connection, calls[1])


def test_rows_may_name_their_own_crawlers_and_sets(connection, path, tmp_path):
    other = str(tmp_path / "other.reptile")
    reptile.compile({"https://shop.example/robots.txt": "user-agent: mybot\ndisallow: /"}, other)
    connection.execute("create table rows as select range as i from range(20000)")
    found = connection.execute(
        """select agent, web = getvariable('web'), robots_verdict('https://shop.example/' || i, web, agent), count(*)
        from (select i, case i % 3 when 0 then 'GPTBot' when 1 then 'MyBot' end as agent,
        case when i % 2 = 0 then getvariable('web') else ? end as web from rows) group by all order by all""",
        [other],
    ).fetchall()
    assert found == [
        ("GPTBot", False, "allow", 3333),
        ("GPTBot", True, "disallow", 3334),
        ("MyBot", False, "disallow", 3334),
        ("MyBot", True, "allow", 3333),
        (None, False, None, 3333),
        (None, True, None, 3333),
    ]
    found = connection.execute(
        """select agents, robots_refused('https://shop.example/' || i, getvariable('web'), agents), count(*) from (
        select i, case i % 4 when 0 then ['GPTBot'] when 1 then ['MyBot', 'GPTBot'] when 2 then
        list_filter(['x', 'MyBot', 'GPTBot'], lambda name: length(name) > i % 2 + 1)[1:1] end as agents from rows)
        group by all order by all"""
    ).fetchall()
    assert found == [
        (["GPTBot"], ["GPTBot"], 5000),
        (["MyBot"], [], 5000),
        (["MyBot", "GPTBot"], ["GPTBot"], 5000),
        (None, None, 5000),
    ]


def test_many_names_in_a_chunk(connection):
    # More pairs of crawlers than the extension keeps.
    found = connection.execute(
        """select count(*), count(distinct agent) from (select ?[1 + i % 600] as agent, i from range(6000) t(i))
        where robots_allowed('https://shop.example/cart/' || i, getvariable('web'), agent) = false""",
        [NAMES],
    ).fetchone()
    assert found == (6000, 600)


def test_groups_of_crawlers(connection):
    verdicts = one(connection, "robots_verdicts('https://shop.example/x', getvariable('web'), ['@ai-training'])")
    refused = one(connection, "robots_refused('https://shop.example/x', getvariable('web'), ['@ai-training'])")
    assert "GPTBot" in verdicts and len(verdicts) > 5
    assert refused == [name for name, verdict in verdicts.items() if verdict == "disallow"]
    assert max(map(len, verdicts)) > 12, "a name that is not stored in place"


def test_scope(connection):
    for scope, verdict in [("origin", "unknown"), ("scheme", "unknown"), ("www", "disallow"), ("domain", "disallow")]:
        assert one(connection, call("robots_verdict", "'https://apex.example/a'", f", '{scope}'")) == verdict, scope
    explained = one(connection, call("robots_explain", "'https://apex.example/a'", ", 'www'"))
    assert (explained["line"], explained["rule"]) == (2, "Disallow: /a")


ERRORS = [
    ("'https://a.example/', '/no/such/file', 'GPTBot'", "/no/such/file: No such file"),
    ("'https://a.example/', '/', 'GPTBot'", "/: "),
    ("'https://a.example/', '', 'GPTBot'", "No such file"),
    ("'https://a.example/', getvariable('web'), 'Googelbot'", 'nearly the crawler "Googlebot"'),
    ("'https://a.example/', getvariable('web'), '@ai-training'", "expected one crawler, found"),
    ("'https://a.example/', getvariable('web'), '@nobody'", "nobody"),
    ("'https://a.example/', getvariable('web'), ''", "crawler"),
    ("'https://a.example/', getvariable('web'), 'GPTBot', 'host'", "host"),
    ("'https://a.example/', getvariable('web'), 'GPTBot', 'ori' || chr(0)", "ori"),
]


@pytest.mark.parametrize("arguments, message", ERRORS)
def test_errors_name_the_cause(connection, arguments, message):
    for function in ABOUT_ONE:
        with pytest.raises(duckdb.Error, match="robots_") as raised:
            one(connection, f"{function}({arguments})")
        assert message in str(raised.value)
    # The connection still works.
    assert one(connection, call("robots_verdict", "'https://shop.example/'")) == "disallow"


@pytest.mark.parametrize(
    "agents, message",
    [
        ("[]", "no crawler is named"),
        ("['GPTBot', null]", "NULL"),
        ("['GPTBot', 'GPTBot']", "twice"),
        (str(NAMES[:65]), "at most 64"),
    ],
)
def test_errors_about_lists(connection, agents, message):
    with pytest.raises(duckdb.Error, match="robots_mask") as raised:
        one(connection, f"robots_mask('https://shop.example/', getvariable('web'), {agents})")
    assert message in str(raised.value)


def test_masks_have_64_bits(connection):
    url = "'https://shop.example/cart', getvariable('web')"
    for count in (63, 64):
        assert one(connection, f"robots_mask({url}, {NAMES[:count]})") == 2**count - 1
    assert one(connection, f"robots_refused({url}, {NAMES[:65]})") == NAMES[:65]


def test_exact_names(connection):
    exact = "robots_verdict('https://shop.example/', getvariable('web'), 'Googelbot', 'origin', true)"
    assert one(connection, exact) == "allow"


def test_damaged_sets_are_errors(connection, path, tmp_path):
    damaged = tmp_path / "damaged.reptile"
    data = open(path, "rb").read()
    refused = 0
    for place in range(0, len(data), max(1, len(data) // 200)):
        damaged.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        # Each file has another name, because a mapped file must not change.
        shutil.move(damaged, tmp_path / f"damaged-{place}.reptile")
        try:
            connection.execute(
                "select robots_explain(url, ?, 'GPTBot') from (values ('https://shop.example/cart'), ('x')) t(url)",
                [str(tmp_path / f"damaged-{place}.reptile")],
            ).fetchall()
        except duckdb.Error as error:
            refused += "internal error" not in str(error)
    for length in (0, 1, 63, len(data) // 2, len(data) - 1):
        short = tmp_path / f"short-{length}.reptile"
        short.write_bytes(data[:length])
        with pytest.raises(duckdb.Error, match="robots_verdict"):
            connection.execute("select robots_verdict('https://shop.example/', ?, 'GPTBot')", [str(short)]).fetchall()
    assert refused > 0


def test_a_renamed_set_is_opened_again(connection, tmp_path):
    path = tmp_path / "set.reptile"
    query = "select robots_verdict(url, ?, 'GPTBot') from (select 'https://a.example/' as url from range(3)) group by 1"
    for body, verdict in [("", "allow"), ("user-agent: *\ndisallow: /", "disallow"), ("", "allow")]:
        reptile.compile({"https://a.example/robots.txt": body}, tmp_path / "new.reptile")
        os.replace(tmp_path / "new.reptile", path)
        assert connection.execute(query, [str(path)]).fetchall() == [(verdict,)]
    path.unlink()
    with pytest.raises(duckdb.Error, match="set.reptile"):
        connection.execute(query, [str(path)])


def test_more_sets_than_are_kept_open(connection, tmp_path):
    for number in range(20):
        rule = "disallow: /" if number % 2 else ""
        reptile.compile({"https://a.example/robots.txt": f"user-agent: *\n{rule}"}, tmp_path / f"{number}.reptile")
    for _ in range(3):
        found = connection.execute(
            """select i, robots_allowed('https://a.example/', ? || '/' || i || '.reptile', 'x') from range(20) t(i)
            order by i""",
            [str(tmp_path)],
        ).fetchall()
        assert found == [(number, number % 2 == 0) for number in range(20)]


def test_all_threads_give_the_same_verdicts(connection, web):
    count = 1_500_000
    connection.execute("set threads = 8")
    connection.execute(
        f"""create table urls as select case i % 5 when 0 then null when 1 then 'https://shop.example/cart/' || i
        when 2 then 'https://shop.example/cart/help/' || i when 3 then 'https://x' || (i % 1000) || '.example/'
        else 'https://down.example/' || i end as url, i from range({count}) t(i)"""
    )
    found = connection.execute(
        f"""select i % 5, {call("robots_verdict").replace("GPTBot", "MyBot")}, {call("robots_refused")}, count(*)
        from urls group by all order by all"""
    ).fetchall()
    fifth = count // 5
    assert found == [
        (0, None, None, fifth),
        (1, "disallow", ["MyBot", "GPTBot"], fifth),
        (2, "allow", ["GPTBot"], fifth),
        (3, "unknown", None, fifth),
        (4, str(web.decide("MyBot", "https://down.example/")), ["MyBot", "GPTBot"], fifth),
    ]
    # Several connections at a time.
    found = []
    path = one(connection, "getvariable('web')")

    def count_in_thread():
        query = "select count(*) from urls where robots_verdict(url, ?, 'MyBot') = 'disallow'"
        found.append(connection.cursor().execute(query, [path]).fetchone()[0])

    threads = [threading.Thread(target=count_in_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2 * fifth] * 4


def test_results_can_be_stored(connection, tmp_path):
    connection.execute(
        f"""copy (select {", ".join(f"{call(function)} as {function}" for function in FUNCTIONS)}
        from (values ('https://shop.example/cart'), (null)) t(url)) to '{tmp_path}/out.parquet'"""
    )
    first, second = connection.execute(f"from '{tmp_path}/out.parquet'").fetchall()
    assert first[0] == "disallow" and first[1] is False and first[4] == 3 and first[5] == ["MyBot", "GPTBot"]
    assert second == (None,) * len(FUNCTIONS)


def test_loads_in_each_database_of_a_process(path):
    for _ in range(3):
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        connection.execute("load '" + os.environ["EXTENSION"].replace("'", "''") + "'")
        found = connection.execute("select robots_verdict('https://shop.example/', ?, 'GPTBot')", [path]).fetchone()
        assert found == ("disallow",)
        # Loading again is harmless.
        connection.execute("load '" + os.environ["EXTENSION"].replace("'", "''") + "'")
        connection.close()


def test_an_unsigned_extension_needs_the_setting():
    with pytest.raises(duckdb.Error, match="signature|unsigned"):
        duckdb.connect().execute("load '" + os.environ["EXTENSION"].replace("'", "''") + "'")


def test_access(connection, path):
    found = connection.execute(
        """select robots_access(url, ?, 'MyBot') from (values ('https://shop.example/x?y'), ('https://gone.example/'),
        ('https://no.example/'), ('not a host'), (null), ('www.apex.example'), ('https://down.example')) t(url)""",
        [path],
    ).fetchall()
    assert [row and row["access"] for (row,) in found] == [
        "partial",
        "allowed",
        "unknown",
        "invalid",
        None,
        "partial",
        "disallowed",
    ]
    shop = found[0][0]
    names = "access group allow_rules disallow_rules reason allowed_path disallowed_path"
    assert list(shop) == names.split()
    assert (shop["group"], shop["allow_rules"], shop["disallow_rules"]) == ("default", 1, 2)
    for name, verdict in (("allowed_path", "allow"), ("disallowed_path", "disallow")):
        url = "https://shop.example" + shop[name]
        assert one(connection, f"robots_verdict('{url}', getvariable('web'), 'MyBot')") == verdict


def test_access_in_a_large_table(connection):
    found = connection.execute(
        f"""select robots_access(case i % 3 when 0 then 'https://shop.example/' || i when 1 then 'https://x/' end,
        getvariable('web'), case when i % 2 = 0 then 'GPTBot' else 'MyBot' end).access as access, count(*)
        from range(12000) t(i) group by all order by all"""
    ).fetchall()
    assert found == [("disallowed", 2000), ("partial", 2000), ("unknown", 4000), (None, 4000)]


HEADERS = [
    ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
    ("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", None),
    ("", None),
    (None, None),
]


def test_the_crawler_behind_a_header(connection, path, web):
    headers = [header for header, _ in HEADERS]
    found = connection.execute("select robots_agent_of_header(unnest(?), ?)", [headers, path]).fetchall()
    assert found == [(name,) for _, name in HEADERS]
    found = connection.execute(
        """select agent, robots_verdict('https://shop.example/cart/' || i, getvariable('web'), agent), count(*)
        from (select i, robots_agent_of_header(header, getvariable('web')) as agent
        from (select i, case when i % 2 = 0 then 'GPTBot/1.2' else 'curl/8.0' end as header from range(5000) t(i)))
        group by all order by all"""
    ).fetchall()
    assert found == [("GPTBot", "disallow", 2500), (None, None, 2500)]
    assert one(connection, "robots_agent_of_header('GPTBot/1.2', null)") is None


def test_one_robots_txt(connection):
    bodies = """(values ('user-agent: *\ndisallow: /a', '/a'), ('', 'https://a.example/x'), (null, '/a'), ('x', null),
    ('user-agent: MyBot\nallow: /a\n\nuser-agent: *\ndisallow: /', 'https://a.example/b')) t(body, url)"""
    for kind in ("varchar", "blob"):
        found = connection.execute(
            f"select robots_decide_body(body::{kind}, 'MyBot', url::{kind}) from {bodies}"
        ).fetchall()
        assert [row and (row["verdict"], row["line"]) for (row,) in found] == [
            ("disallow", 2),
            ("allow", None),
            None,
            None,
            ("allow", None),
        ]
    found = connection.execute(
        """select dialect,
        robots_decide_body('user-agent: *' || chr(10) || 'disallow: /a*b', 'MyBot', '/axb', dialect).verdict
        from (values ('google'), ('koster-1994'), (null)) t(dialect)"""
    ).fetchall()
    assert found == [("google", "disallow"), ("koster-1994", "allow"), (None, None)]
    for arguments, message in [("'', 'MyBot', '/', 'nowhere'", "nowhere"), ("'', '', '/'", "crawler"), ("'/', 'MyBot', 'user-agent: *'", "robots.txt")]:
        with pytest.raises(duckdb.Error, match="robots_decide_body") as raised:
            one(connection, f"robots_decide_body({arguments})")
        assert message in str(raised.value)


def test_one_robots_txt_decides_as_the_python_package(connection, tmp_path):
    """Compares them on the project's sample files."""
    folder = os.environ["SAMPLES"]
    files = sorted(os.listdir(folder))
    assert len(files) > 3
    for file in files:
        body = open(os.path.join(folder, file), "rb").read()
        for path in ("/", "/cart", "/search?q=a", "/images/a.png", "/a b%2f"):
            found = connection.execute("select robots_decide_body(?::blob, 'GPTBot', ?)", [body, path]).fetchone()[0]
            expected = reptile.Robots(body).agent("GPTBot").explain("https://host.example" + path)
            assert (found["verdict"], found["line"]) == (str(expected.verdict), expected.line), (file, path)
