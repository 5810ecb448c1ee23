"""Runs the filter in real datatrove pipelines, and compares the results with the set's verdicts."""

import collections
import gzip
import json
import pickle

import pytest

import reptile

from conftest import URLS

pytestmark = pytest.mark.filterwarnings("ignore")

pytest.importorskip("datatrove")
try:
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader, WarcReader
    from datatrove.pipeline.writers import JsonlWriter

    from reptile.datatrove import RobotsFilter, refused_by_id, refused_schema
except ImportError as error:
    pytest.skip(f"datatrove is unusable: the filter was NOT tested: {error}", allow_module_level=True)

AGENTS = ["MyBot", "GPTBot"]
DOCUMENTS = [url for url in URLS if url is not None] * 300


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    rows = [{"id": f"d{number}", "text": f"text {number}", "url": url} for number, url in enumerate(DOCUMENTS)]
    for part in range(3):
        with gzip.open(folder / f"{part}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows[part::3])
    return str(folder)


def run(pipeline, folder, workers=1):
    """Returns the rows in each output folder, and the filter's statistics."""
    statistics = LocalPipelineExecutor(pipeline=pipeline, tasks=3, workers=workers, logging_dir=str(folder / "log")).run()
    written = {}
    for output in folder.iterdir():
        rows = [json.loads(line) for file in output.glob("*.jsonl.gz") for line in gzip.open(file, "rt")]
        written[output.name] = {row["id"]: row for row in rows}
    found = next(each for each in statistics.stats if "robots" in each.name)
    return written, {name: stat.total for name, stat in found.stats.items()}


def expected(web, any_of=False):
    found = {}
    verdicts = web.decide_many(AGENTS, DOCUMENTS, "verdict,refused")
    for number, (first, refused) in enumerate(zip(verdicts["MyBot:verdict"], verdicts["refused"])):
        verdict = str(first) if refused is None else "disallow" if (len(refused) == len(AGENTS) if any_of else refused) else "allow"
        found[f"d{number}"] = {"robots": verdict, "robots_refused": refused or []}
    return found


@pytest.mark.parametrize(
    "any_of, unknown, invalid, workers", [(False, "drop", "drop", 3), (True, "keep", "drop", 1), (False, "drop", "keep", 1)]
)
def test_documents_are_kept_or_dropped(web, path, documents, tmp_path, any_of, unknown, invalid, workers):
    options = {"any_of": any_of, "unknown": unknown, "invalid": invalid}
    writer = JsonlWriter(str(tmp_path / "dropped"), adapter=refused_by_id)
    keep = RobotsFilter(path, AGENTS, exclusion_writer=writer, batch_size=7, **options)
    written, statistics = run([JsonlReader(documents), keep, JsonlWriter(str(tmp_path / "kept"))], tmp_path, workers)
    of_each = expected(web, any_of)
    kept = {
        name
        for name, tags in of_each.items()
        if tags["robots"] in ("allow", *(word for word in ("unknown", "invalid") if options[word] == "keep"))
    }
    assert set(written["kept"]) == kept and len(kept) >= 300
    assert all(written["kept"][name]["metadata"].items() >= of_each[name].items() for name in kept)
    assert written["dropped"] == {name: {"id": name, **tags} for name, tags in of_each.items() if name not in kept}
    counted = collections.Counter(tags["robots"] for tags in of_each.values())
    assert {word: statistics[word] for word in counted} == counted
    assert statistics["forwarded"] == len(kept) and statistics["dropped"] == len(DOCUMENTS) - len(kept)
    assert statistics["dropped_robots_disallow"] == counted["disallow"]
    refused = collections.Counter(agent for tags in of_each.values() for agent in tags["robots_refused"])
    assert {agent: statistics[f"refused_{agent}"] for agent in AGENTS} == refused


def test_tag_mode_keeps_all_documents(web, path, documents, tmp_path):
    tag = RobotsFilter(path, AGENTS, mode="tag", key="web")
    written, statistics = run([JsonlReader(documents), tag, JsonlWriter(str(tmp_path / "all"))], tmp_path)
    of_each = {name: {"web": tags["robots"], "web_refused": tags["robots_refused"]} for name, tags in expected(web).items()}
    assert {name: row["metadata"].items() >= of_each[name].items() for name, row in written["all"].items()} == dict.fromkeys(
        of_each, True
    )
    assert "dropped" not in statistics


def test_refused_ids_are_written_to_parquet(web, path, documents, tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    from datatrove.pipeline.writers import ParquetWriter

    writer = ParquetWriter(str(tmp_path / "ids"), adapter=refused_by_id, schema=refused_schema())
    run([JsonlReader(documents), RobotsFilter(path, AGENTS, mode="tag"), writer], tmp_path)
    rows = pyarrow.read_table(tmp_path / "ids").to_pylist()
    assert {row.pop("id"): row for row in rows} == expected(web) and len(rows) == len(DOCUMENTS)


def test_warc_archives_are_filtered(web, path, tmp_path):
    warcio = pytest.importorskip("warcio.warcwriter")
    from warcio.statusandheaders import StatusAndHeaders

    for name in ("magic", "cchardet"):
        pytest.importorskip(name, exc_type=ImportError)
    (tmp_path / "in").mkdir()
    with open(tmp_path / "in" / "a.warc.gz", "wb") as file:
        writer = warcio.WARCWriter(file, gzip=True)
        for number, url in enumerate(DOCUMENTS[:8]):
            import io

            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            page = io.BytesIO(b"<html><body>" + str(number).encode() + b"</body></html>")
            named = {"WARC-Record-ID": f"<d{number}>", "WARC-Identified-Payload-Type": "text/html"}
            writer.write_record(writer.create_warc_record(url, "response", page, warc_headers_dict=named, http_headers=headers))
    written, statistics = run(
        [WarcReader(str(tmp_path / "in")), RobotsFilter(path, "MyBot"), JsonlWriter(str(tmp_path / "kept"))], tmp_path
    )
    verdicts = web.decide_many("MyBot", DOCUMENTS[:8])["MyBot:verdict"]
    assert {name.strip("<>") for name in written["kept"]} == {
        f"d{number}" for number, verdict in enumerate(verdicts) if verdict == "allow"
    }
    assert statistics["total"] == 8


def test_single_documents(path):
    made = pickle.loads(pickle.dumps(RobotsFilter(path, "GPTBot")))
    for metadata, kept, verdict, refused in [
        ({"url": "https://shop.example/"}, (False, "robots_disallow"), "disallow", ["GPTBot"]),
        ({"url": "https://gone.example/"}, True, "allow", []),
        ({"url": "https://\udc80.example/"}, (False, "robots_invalid"), "invalid", []),
        ({"url": 7}, (False, "robots_invalid"), "invalid", []),
        ({"url": None}, (False, "robots_invalid"), "invalid", []),
        ({}, (False, "robots_invalid"), "invalid", []),
    ]:
        document = Document("text", "id", metadata=metadata)
        assert made.filter(document) == kept
        assert (document.metadata["robots"], document.metadata["robots_refused"]) == (verdict, refused)
    assert made.filter_batch([]) == []


def test_invalid_arguments_raise(path, tmp_path):
    for arguments, error, text in [
        (dict(mode="drop"), ValueError, "mode: expected keep or tag, found 'drop'"),
        (dict(unknown="allow"), ValueError, "unknown: expected"),
        (dict(invalid=True), ValueError, "invalid: expected"),
        (dict(batch_size=0), ValueError, "batch_size: expected 1 or more, found 0"),
        (dict(agents=[]), ValueError, "no crawler"),
    ]:
        with pytest.raises(error, match=text):
            RobotsFilter(**{"set_path": path, "agents": "GPTBot", **arguments})


def test_the_set_is_checked_when_the_filter_is_made(path, tmp_path):
    later = tmp_path / "web.reptile"
    with pytest.raises(FileNotFoundError) as raised:
        RobotsFilter(later, "GPTBot")
    assert raised.value.filename == str(later)
    with pytest.raises(reptile.CrawlerError, match="Googelbot"):
        RobotsFilter(path, "Googelbot")
    assert RobotsFilter(path, "Googelbot", exact=True).filter(document())
    (tmp_path / "damaged").write_bytes(b"not a set")
    with pytest.raises(reptile.FormatError):
        RobotsFilter(tmp_path / "damaged", "GPTBot")
    # On a machine without the set, workers find the mistakes.
    made = pickle.dumps([RobotsFilter(later, "GPTBot", check=False), RobotsFilter(path, "Googelbot", check=False)])
    missing, misspelled = pickle.loads(made)
    with pytest.raises(FileNotFoundError):
        missing.filter(document())
    with pytest.raises(reptile.CrawlerError):
        misspelled.filter(document())
    later.write_bytes(path.read_bytes())
    assert missing.filter(document()) == (False, "robots_disallow")


def document(text="text", **metadata):
    return Document(text, "id", metadata={"url": "https://shop.example/", **metadata})


NOAI = "<meta name=robots content=noai>"


def test_rights_to_pages(path):
    options = {"rights": "all", "purpose": "train-ai", "unknown_usage": "allow", "mode": "tag"}
    for changed, metadata, text, expected in [
        ({}, {}, "", "unknown"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": "", "headers": {}}, "", "allow"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": NOAI, "headers": []}, "", "disallow"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": "", "headers": [["X-Robots-Tag", "noai"]]}, "", "disallow"),
        ({"html_key": "html", "headers_key": "headers"}, {"html": "", "headers": None}, "", "unknown"),
        ({"html_key": "html", "headers_key": "headers"}, {"headers": {}}, NOAI, "unknown"),
        # A reader of WARC files keeps the HTML as the text, without headers.
        ({"html_key": "text"}, {}, NOAI, "disallow"),
        ({"html_key": "text"}, {}, "<p>", "unknown"),
        ({"html_key": "text", "unknown_usage": "disallow"}, {}, "<p>", "disallow"),
        ({"html_key": "text", "rights": "robots"}, {}, NOAI, "allow"),
        ({"html_key": "text"}, {"url": None}, NOAI, "invalid"),
        ({"html_key": "text"}, {"url": "https://no.example/"}, NOAI, "unknown"),
    ]:
        given = document(text, **{"url": "https://gone.example/", **metadata})
        made = pickle.loads(pickle.dumps(RobotsFilter(path, ["MyBot", "GPTBot"], **{**options, **changed})))
        assert made.filter(given) is True
        refused = ["MyBot", "GPTBot"] if expected == "disallow" else []
        assert (given.metadata["robots"], given.metadata["robots_refused"]) == (expected, refused), (changed, metadata, text)
    # The robots.txt counts too.
    shop = document(NOAI, url="https://shop.example/help")
    RobotsFilter(path, ["MyBot", "GPTBot"], html_key="text", **{**options, "rights": "robots"}).filter(shop)
    assert (shop.metadata["robots"], shop.metadata["robots_refused"]) == ("disallow", ["MyBot", "GPTBot"])


def test_rights_at_the_time_of_the_fetch(tmp_path):
    captures = [
        {"url": "https://a.example/robots.txt", "body": f"user-agent: *\ncontent-usage: train-ai={value}", "time": time}
        for value, time in (("y", 1000), ("n", 2000))
    ]
    reptile.compile(captures, tmp_path / "web.reptile", by_time=True)
    options = {"rights": "robots", "purpose": "train-ai", "unknown_usage": "unknown", "time_key": "date"}
    made = RobotsFilter(tmp_path / "web.reptile", "CCBot", **options)
    for date, expected in [(1500, "allow"), ("1970-01-01T00:41:40Z", "disallow"), (None, "invalid"), ("now", "invalid")]:
        given = document(url="https://a.example/", date=date)
        made.filter(given)
        assert given.metadata["robots"] == expected, date


def test_invalid_options_of_rights(path):
    for options, text in [
        ({"rights": "all"}, "rights: requires purpose"),
        ({"rights": "all", "purpose": "train-ai"}, "unknown_usage"),
        ({"rights": "everything", "purpose": "train-ai", "unknown_usage": "allow"}, "profile: "),
        ({"rights": "all", "purpose": "train-ai", "unknown_usage": "allow", "scope": "www"}, "rights: cannot be combined"),
        ({"html_key": "html"}, "html_key and headers_key: require rights"),
        ({"headers_key": "headers"}, "html_key and headers_key: require rights"),
    ]:
        with pytest.raises(ValueError, match=text):
            RobotsFilter(path, "CCBot", **options)
