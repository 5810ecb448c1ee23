"""Runs the functions for Spark and Hive in Spark, and compares their answers with the command's, row by row.

    functions.py TARGET ROOM README

TARGET has the jars and the data of `bindings/jvm/test`, ROOM the set `sets/web.reptile` and the outputs. The SQL in README is
run as printed.
"""

import os
import pathlib
import re
import shutil
import sys
import time

from pyspark.sql import SparkSession

FUNCTIONS = ("Verdict", "Explain", "Refused", "Mask")
# Texts of errors, by calls. `h_` are the functions for Hive.
ERRORS = {
    "robots_verdict('x', '{set}', 'Googelbot')": 'no robots.txt names "Googelbot", which is nearly the crawler "Googlebot": write that, or exact:Googelbot',
    "h_verdict(url, '{set}', 'Googelbot')": 'no robots.txt names "Googelbot", which is nearly the crawler "Googlebot": write that, or exact:Googelbot',
    "robots_verdict('x', '{set}', 'ChatGPT')": 'write "GPTBot", "OAI-SearchBot" or "ChatGPT-User", or exact:ChatGPT',
    "robots_verdict('x', '/', 'GPTBot')": "is a folder; expected a set file",
    "robots_verdict('x', '/none.reptile', 'GPTBot')": "/none.reptile",
    "robots_verdict('x', '{set}', '@search')": "expected one crawler, found",
    "robots_explain('x', '{set}', 'GPTBot', 'scop=www')": 'unknown option "scop=www"; expected NAME=VALUE',
    "robots_explain('x', '{set}', 'GPTBot', 'scope=www scope=www')": "the option scope is given twice",
    "robots_explain('x', '{set}', 'GPTBot', 'scope=domain')": "needs the Public Suffix List",
    "robots_explain('x', '{set}', 'GPTBot', 'scope=all')": "scope: expected origin, scheme or www, found",
    "robots_explain('x', '{set}', 'GPTBot', 'purpose=train-ai')": "purpose: needs unknown_usage",
    "robots_explain('x', '{set}', 'GPTBot', 'unknown_usage=allow')": "unknown_usage: has no effect without purpose",
    "robots_explain('x', '{set}', 'GPTBot', 'lines=all')": "lines: has no effect without uses or purpose",
    "robots_explain('x', '{set}', 'GPTBot', 'uses=training')": 'no use "training"; expected train-ai, search, ai-use',
    "robots_explain_at('x', '{set}', 'GPTBot', '', 1)": "the set was not compiled by time",
    "robots_explain_at('x', '{set}', 'GPTBot', '', true)": "at: expected a timestamp, or seconds since 1970",
    "robots_mask('x', '{set}', '{many}', '')": "a mask has a bit for each of up to 63 crawlers, found 64",
}
# Answers, by calls.
ANSWERS = {
    "robots_verdict('https://shop.example.com/cart', '{set}', 'GPTBot')": "disallow",
    "robots_verdict('https://shop.example.com/cart', '{set}', 'exact:Googelbot')": "disallow",
    "robots_verdict('nonsense', '{set}', 'GPTBot')": "invalid",
    "robots_verdict(NULL, '{set}', 'GPTBot')": None,
    "robots_verdict('x', NULL, 'GPTBot')": None,
    "robots_verdict('x', '{set}', NULL)": None,
    "h_verdict(CAST(NULL AS STRING), '{set}', 'GPTBot')": None,
    "robots_explain(NULL, '{set}', 'GPTBot', '')": None,
    "robots_refused(NULL, '{set}', 'GPTBot', '')": None,
    "robots_mask('https://shop.example.com/cart', '{set}', 'GPTBot,exact:Googelbot', NULL)": 3,
    "robots_mask('https://shop.example.com/cart', '{set}', '{most}', '')": 2**63 - 1,
    "robots_explain('https://shop.example.com/cart', '{set}', NULL, 'agent=row').reason": "no crawler",
    "robots_explain('https://shop.example.com/cart', '{set}', 'GPTBot', 'uses=train-ai,search').uses": {"train-ai": "not-applicable", "search": "not-applicable"},
    "robots_explain_at('https://shop.example.com/cart', '{set}', 'GPTBot', '', NULL).reason": "no time",
    "h_explain('https://shop.example.com/cart', '{set}', 'GPTBot', '', CAST(NULL AS BIGINT)).verdict": "invalid",
    "h_explain('https://shop.example.com/cart', '{set}', 'GPTBot').rule": "Disallow: /cart",
    "h_explain('https://shop.example.com/cart', '{set}', 'GPTBot').line": 3,
}


def rows(path):
    """Returns a table's rows."""
    lines = pathlib.Path(path).read_bytes().removesuffix(b"\n").split(b"\n")
    return [line.decode(errors="replace").split("\t") for line in lines]


def compare(session, question, folder):
    """Compares a question's answers with the command's. Returns the number of rows."""
    name, path, source, agents, times, scope, purpose, lines, unknown = question
    options = f"scope={scope}" + (f" purpose={purpose} lines={lines} unknown_usage={unknown}" if purpose else "")
    header, *expected = rows(folder / f"{name}.tsv")
    is_by_row = agents == "{user_agent}"
    inputs = rows(source)[1 if is_by_row or times else 0 :]
    assert len(inputs) == len(expected), name
    table = [(at, row[0], row[1] if len(row) > 1 else None) for at, row in enumerate(inputs)]
    session.createDataFrame(table, "at INT, url STRING, cell STRING").createOrReplaceTempView("asked")
    first = "cell" if is_by_row else f"'{agents.split(',')[0]}'"
    options = options + (" agent=row" if is_by_row else "")
    seconds = "CAST(COALESCE(TRY_CAST(cell AS BIGINT), UNIX_SECONDS(TRY_CAST(cell AS TIMESTAMP))) AS BIGINT)"
    at = f", {seconds}" if times else ""
    timed = "_at" if times else ""
    calls = [f"robots_explain{timed}(url, '{path}', {first}, '{options}'{', TIMESTAMP_SECONDS(' + seconds + ')' if times else ''}) e",
             f"h_explain(url, '{path}', {first}, '{options}'{at}) he", f"h_verdict(url, '{path}', {first}, '{options}'{at}) hv"]
    if not is_by_row:
        for function in ("refused", "mask"):
            calls += [f"robots_{function}{timed}(url, '{path}', '{agents}', '{options}'{at}) {function}",
                      f"h_{function}(url, '{path}', '{agents}', '{options}'{at}) h{function}"]
    found = session.sql(f"SELECT at, {', '.join(calls)} FROM asked ORDER BY at").collect()
    column = {text.rpartition(":")[2]: at for at, text in reversed(list(enumerate(header)))}
    for wanted, row, asked in zip(expected, found, inputs):
        cell = lambda kind: wanted[column[kind]]
        where = (name, asked, wanted, row)
        assert row.e == row.he, where
        assert row.e.verdict == cell("verdict") and row.hv == (cell("purpose") if purpose else cell("verdict")), where
        assert "reason" not in column or row.e.reason == cell("reason"), where
        assert not purpose or row.e.purpose == cell("purpose"), where
        assert not is_by_row or (row.e.agent or "") == cell("agent"), where
        if not is_by_row:
            assert row.refused == row.hrefused and row["mask"] == row.hmask, where
            assert ("" if row["mask"] is None else str(row["mask"])) == cell("mask"), where
            assert cell("refused") in ("unknown", "invalid") if row.refused is None else ";".join(row.refused) == cell("refused"), where
    return len(expected)


def check_calls(session, path):
    """Checks single answers and errors."""
    names = {"set": path, "many": ",".join(f"Bot{'x' * at}" for at in range(64)), "most": ",".join(f"Bot{'x' * at}" for at in range(63))}
    for call, expected in ANSWERS.items():
        found = session.sql(f"SELECT {call.format(**names)} a").collect()[0].a
        assert found == expected, (call, expected, found)
    # More crawlers than are kept resolved.
    names_of_rows = f"SELECT robots_verdict('https://shop.example.com/cart', '{path}', concat('Bot', translate(id, '0123456789', 'abcdefghij'))) a FROM range(1100)"
    assert {row.a for row in session.sql(names_of_rows).collect()} == {"disallow"}
    for call, expected in ERRORS.items():
        try:
            found = session.sql(f"SELECT {call.format(**names)} a FROM urls").collect()
        except Exception as error:  # noqa: BLE001
            assert expected in str(error), (call, expected, str(error)[:2000])
        else:
            raise AssertionError((call, expected, found))


def check_types(session):
    """The functions for Hive reject other arguments when a query is planned. Spark hides the message."""
    machine = session._jvm
    package = machine.org.apache.hadoop.hive.serde2.objectinspector
    text = package.primitive.PrimitiveObjectInspectorFactory.writableStringObjectInspector
    texts = package.ObjectInspectorFactory.getStandardListObjectInspector(text)
    errors = {
        (text,) * 2: "expected robots_mask(url, set, agents, [options, [at]]), found 2 arguments",
        (text,) * 6: "found 6 arguments",
        (text, text, texts): "robots_mask: expected a string, found array<string>",
        (text, text, text, text, texts): "robots_mask: expected a timestamp or seconds since 1970, found array<string>",
    }
    for types, expected in errors.items():
        given = session.sparkContext._gateway.new_array(package.ObjectInspector, len(types))
        for at, of in enumerate(types):
            given[at] = of
        try:
            machine.reptile.hive.RobotsMaskUDF().initialize(given)
        except Exception as error:  # noqa: BLE001
            assert expected in str(error), (expected, str(error))
        else:
            raise AssertionError(expected)


def check_rename(session, path, other):
    """A set is opened again if another file is renamed over it."""
    ask = lambda: session.sql(f"SELECT robots_verdict('https://shop.example.com/cart', '{path}', 'GPTBot') a").collect()[0].a
    assert ask() == "disallow"
    shutil.copy(other, f"{path}.new")
    os.replace(f"{path}.new", path)
    time.sleep(1.1)
    assert ask() == "unknown"


def check_readme(session, readme):
    """Runs the statements in the README as printed."""
    blocks = re.findall(r"```sql\n(.*?)```", pathlib.Path(readme).read_text(), re.DOTALL)
    statements = [part.strip() for block in blocks for part in block.split(";\n") if part.strip()]
    assert len(statements) >= 6, statements
    for statement in statements:
        # The jars are there already.
        if not statement.startswith("ADD JAR"):
            session.sql(statement.rstrip(";")).collect()
    return len(statements)


def main():
    target, room, readme = map(pathlib.Path, sys.argv[1:])
    jars = f"{target}/reptile.jar,{target}/sql-jars/reptile-sql.jar"
    settings = {"spark.jars": jars, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.warehouse.dir": room / "warehouse", "spark.local.dir": room / "local",
                "spark.sql.catalogImplementation": "hive", "spark.sql.shuffle.partitions": 2, "spark.sql.session.timeZone": "UTC"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session._jvm.reptile.spark.Robots.register(session._jsparkSession)
    for name in FUNCTIONS:
        session.sql(f"CREATE TEMPORARY FUNCTION h_{name.lower()} AS 'reptile.hive.Robots{name}UDF'")
    session.udf.registerJavaFunction("by_class", "reptile.spark.RobotsVerdict")
    assert session.sql(f"SELECT by_class('nonsense', '{room}/sets/web.reptile', 'GPTBot') a").collect()[0].a == "invalid"
    session.sql("SELECT 'https://shop.example.com/cart' url, 'GPTBot/1.0' user_agent").createOrReplaceTempView("urls")
    check_types(session)
    check_calls(session, f"{room}/sets/web.reptile")
    folder = target / "data" / "agents"
    counts = [compare(session, question, folder) for question in rows(folder / "questions.tsv") if question[5] != "domain"]
    shutil.copy(room / "sets/web.reptile", room / "renamed.reptile")
    check_rename(session, f"{room}/renamed.reptile", target / "data" / "scope" / "scope.reptile")
    # This is not the working folder, so the set's name is found only among Spark's files.
    session.sparkContext.addFile(f"{room}/sets/web.reptile")
    other = session.newSession()
    other.sql("SELECT 'https://shop.example.com/cart' url, 'GPTBot/1.0' user_agent").createOrReplaceTempView("urls")
    statements = check_readme(other, readme)
    print(f"functions for Spark and Hive: {sum(counts)} rows of {len(counts)} questions equal the command's, {len(ANSWERS)} answers,"
          f" {len(ERRORS)} errors, {statements} statements of README.md")
    session.stop()


main()
