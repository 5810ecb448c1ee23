"""Copies of crawlers, explanations and columns: pickles, also in another process, and the module `copy`."""

import copy
import os
import pickle
import subprocess
import sys

import pytest

import reptile

from conftest import CAPTURES, SHOP, URLS

WHOLE = [url for url in URLS if url is not None]


def copies(value):
    """Returns a value's copies, by every protocol."""
    made = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    return [*made, copy.copy(value), copy.deepcopy(value)]


def decided(agent):
    return [agent.decide(url) for url in WHOLE], [agent.explain(url) for url in WHOLE]


@pytest.mark.parametrize(
    "name", ["GPTBot", "Googlebot-Image", "*", "Googlebot-News>Googlebot>*", "Some>Chain", "Googelbot"]
)
@pytest.mark.parametrize("is_mapped", [False, True])
def test_crawlers_of_a_set(path, name, is_mapped):
    web = reptile.open(path, map=is_mapped)
    agent, agents = web.agent(name, exact=True), web.agents([name, "CCBot"], exact=True)
    for copied in copies(agent):
        assert (copied.name, copied.tokens, copied.is_named) == (agent.name, agent.tokens, agent.is_named)
        assert decided(copied) == decided(agent)
    for copied in copies(agents):
        assert copied.names == agents.names == [name, "CCBot"]
        columns = "url,verdict,rule,mask"
        assert copied.decide_many(URLS, columns).to_pydict() == agents.decide_many(URLS, columns).to_pydict()


def test_groups_of_crawlers_are_copied_by_their_members(web):
    agents = web.agents(["GPTBot", "@ai-training"])
    assert all(copied.names == agents.names for copied in copies(agents)) and len(agents) > 5


@pytest.mark.parametrize("dialect", ["google", "koster-1996"])
def test_crawlers_of_one_robots_txt(dialect):
    robots = reptile.Robots(b"# \xff\n" + SHOP.encode(), dialect)
    agents = [
        robots.agent("GPTBot"),
        robots.agent("any thing, at all/1", verbatim=True),
        robots.agent("x>*", verbatim=True),
    ]
    for agent in agents:
        for copied in copies(agent):
            assert (copied.name, copied.tokens) == (agent.name, agent.tokens) and decided(copied) == decided(agent)
    for copied in copies(robots.agents(["GPTBot", "MyBot"])):
        assert copied.decide("/cart") == robots.agents(["GPTBot", "MyBot"]).decide("/cart")
    for copied in copies(robots):
        assert copied.dialect == dialect and copied.explain("MyBot", "/cart") == robots.explain("MyBot", "/cart")
    # A pickle contains the body once, even for several crawlers.
    assert len(pickle.dumps(agents)) < 2 * len(pickle.dumps(agents[0]))


def test_sets_in_memory_are_copied_but_not_pickled():
    web = reptile.compile(CAPTURES)
    for value in (web, web.agent("GPTBot"), web.agents(["GPTBot", "CCBot"])):
        with pytest.raises(reptile.Error, match="cannot pickle a set that is only in memory: compile it to a file"):
            pickle.dumps(value)
        assert copy.copy(value) is value and copy.deepcopy([value])[0] is value


def test_explanations_are_values(web):
    all_of_them = [web.explain(name, url) for url in WHOLE for name in ("MyBot", "GPTBot")]
    names = ("verdict", "rule", "line", "group", "reason", "allow", "disallow", "origin")
    for why in all_of_them:
        for copied in copies(why):
            assert copied == why and hash(copied) == hash(why) and (str(copied), repr(copied)) == (str(why), repr(why))
            assert all(getattr(copied, name) == getattr(why, name) for name in names)
    first, other = web.explain("MyBot", WHOLE[0]), web.explain("GPTBot", WHOLE[0])
    assert first == web.explain("MyBot", WHOLE[0]) and first != other and first != "disallow" and first is not None
    assert len(set(all_of_them)) == len({(str(why), *(getattr(why, name) for name in names)) for why in all_of_them})
    with pytest.raises(ValueError, match="expected a verdict"):
        type(first).__reduce__(first)[0]("maybe", None, None, "", "", None, None, None, "")


def test_columns_are_copied_by_value(web):
    columns = "url,verdict,line,rule,group,reason,ruleset,capture_time,mask,refused"
    for urls in (URLS, [], [None], [url and url.encode("utf-8") for url in URLS]):
        verdicts = web.decide_many(["MyBot", "GPTBot"], urls, columns)
        for copied in copies(verdicts):
            assert copied.to_pydict() == verdicts.to_pydict() and len(copied) == len(urls)
            assert copied.column_names == verdicts.column_names


def test_columns_keep_their_types(web):
    pyarrow = pytest.importorskip("pyarrow")
    texts = pyarrow.array(URLS * 50)
    kinds = [pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary(), pyarrow.string_view()]
    inputs = [texts.cast(kind) for kind in kinds] + [
        pyarrow.array(URLS * 50).cast(pyarrow.binary()).cast(pyarrow.binary_view())
    ]
    inputs += [texts.dictionary_encode(), pyarrow.nulls(7), pyarrow.chunked_array([texts[:4], texts[4:4], texts[4:]])]
    columns = "url,verdict,line,rule,group,reason,ruleset,capture_time,mask,refused"
    for urls in inputs:
        verdicts = web.decide_many(["MyBot", "GPTBot"], urls, columns)
        table, copied = pyarrow.table(verdicts), pyarrow.table(pickle.loads(pickle.dumps(verdicts)))
        copied.validate(full=True)
        assert (
            copied.schema.equals(table.schema, check_metadata=True)
            and copied.schema.metadata[b"mask"] == b'["MyBot","GPTBot"]'
        )
        assert copied.equals(table), urls.type
    # A slice is pickled without the rest of its array.
    whole = len(pickle.dumps(web.decide_many("MyBot", texts, "url")))
    for kind in (*kinds, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())):
        some = texts.cast(kind) if kind in kinds else texts.dictionary_encode()
        assert len(pickle.dumps(web.decide_many("MyBot", some[9:18], "url"))) < whole / 3


def test_damaged_columns_are_errors(web):
    make, (columns, metadata, batches) = web.decide_many("MyBot", URLS, "url,verdict,line").__reduce__()
    rows, parts = batches[0]
    length, nulls, (bounds, texts), inside = parts[0]

    def with_first(part):
        return [(rows, [part, *parts[1:]])]

    assert make(columns, metadata, batches)["MyBot:verdict"] == web.decide_many("MyBot", URLS)["MyBot:verdict"]
    for damaged in (
        with_first((length, nulls, [bounds, texts[:-1]], inside)),
        with_first((length, nulls, [bounds[:-8], texts], inside)),
        with_first((length, nulls, [bounds, b"\xff" * len(texts)], inside)),
        with_first((length + 1, nulls, [bounds, texts], inside)),
        with_first((length, b"", [bounds, texts], inside)),
        with_first((length, nulls, [], inside)),
        [(rows + 1, parts)],
        [(rows, parts[:-1])],
        [(rows, [parts[0], (parts[1][0], parts[1][1], [b"\x7f" * rows], parts[1][3]), parts[2]])],
        [(rows, [parts[0], (*parts[1][:3], []), parts[2]])],
    ):
        with pytest.raises((reptile.Error, TypeError)):
            make(columns, metadata, damaged)
    with pytest.raises(reptile.Error):
        make([("url", "Utf9", True)], metadata, [])


def test_another_process_restores_copies(web, path):
    kept = (
        web.agent("GPTBot"),
        web.agents(["GPTBot", "MyBot"]),
        web.explain("MyBot", WHOLE[0]),
        web.decide_many("MyBot", URLS),
    )
    program = """
import pickle, sys
agent, agents, why, verdicts = pickle.load(sys.stdin.buffer)
print(agent.decide("https://shop.example/x"), *agents.decide("https://shop.example/cart/help"), why.line, len(verdicts))
"""
    folder = os.path.dirname(path)
    made = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(kept), capture_output=True, cwd=folder)
    assert made.returncode == 0, made.stderr
    assert made.stdout.split() == [b"disallow", b"disallow", b"allow", b"2", b"9"]


def test_a_lazy_polars_plan_serializes(path):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    pytest.importorskip("cloudpickle")
    from reptile.polars import robots

    plan = polars.LazyFrame({"url": WHOLE}).with_columns(robots("url", path, ["MyBot", "GPTBot"]))
    copied = polars.LazyFrame.deserialize(plan.serialize(format="binary"), format="binary")
    assert copied.collect().equals(plan.collect())
