"""Runs the filter in real datatrove pipelines, and compares the results with the set's verdicts."""

import collections
import datetime
import gzip
import json
import pickle

import pytest

import reptile

from conftest import SHOP, URLS

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


PURPOSE = {"purpose": "train-ai", "unknown_usage": "unknown", "lines": "both"}


@pytest.mark.parametrize("any_of", [False, True])
@pytest.mark.parametrize("options", [PURPOSE, {"scope": "scheme"}, {**PURPOSE, "scope": "www"}], ids=str)
def test_times_scopes_and_purposes(tmp_path, any_of, options):
    captures = [
        {"url": "https://shop.example/robots.txt", "body": SHOP, "time": 1_700_000_000},
        {"url": "https://shop.example/robots.txt", "body": "", "time": 1_800_000_000},
    ]
    reptile.compile(captures, tmp_path / "set", by_time=True)
    times = ["2023-11-14T22:13:20Z", "2023-11-14T22:13:19Z", 1_800_000_000, None, "yesterday"]
    urls = ["https://shop.example/cart", "http://shop.example/cart/help", "http://www.shop.example/", "nonsense"]
    rows = [(url, time) for url in urls for time in times]
    keep = pickle.loads(pickle.dumps(RobotsFilter(tmp_path / "set", AGENTS, any_of=any_of, time_key="date", **options)))
    documents = [Document("text", str(n), metadata={"url": url, "date": time}) for n, (url, time) in enumerate(rows)]
    kept = [each is True for each in keep.filter_batch(documents)]
    seconds = {"2023-11-14T22:13:20Z": 1_700_000_000, "2023-11-14T22:13:19Z": 1_699_999_999, "yesterday": None}
    columns = [] if "purpose" in options else "verdict"
    moments = [seconds.get(time, time) for _, time in rows]
    found = reptile.open(tmp_path / "set").decide_many(AGENTS, [url for url, _ in rows], columns, times=moments, **options)
    of_each = list(zip(*map(found.column, found.column_names)))
    assert [doc.metadata["robots_refused"] for doc in documents] == [
        [name for name, verdict in zip(AGENTS, verdicts) if verdict == "disallow"] for verdicts in of_each
    ]
    assert kept == [("allow" in verdicts if any_of else set(verdicts) == {"allow"}) for verdicts in of_each]
    words = {doc.metadata["robots"] for doc in documents}
    assert {"unknown", "invalid"} < words and words <= {"allow", "disallow", "unknown", "invalid"}
    for doc, verdicts, is_kept in zip(documents, of_each, kept):
        assert doc.metadata["robots"] in verdicts and (doc.metadata["robots"] == "allow") == is_kept


def test_one_verdict_for_all_crawlers():
    from reptile.datatrove import _together

    cases = [
        # verdicts, for all crawlers, for any crawler
        ("allow allow", "allow", "allow"),
        ("allow disallow", "disallow", "allow"),
        ("disallow disallow", "disallow", "disallow"),
        ("unknown allow", "unknown", "allow"),
        ("unknown disallow", "disallow", "unknown"),
        ("invalid disallow", "disallow", "invalid"),
        ("unknown unknown", "unknown", "unknown"),
    ]
    for verdicts, of_all, of_any in cases:
        assert (_together(verdicts.split(), False), _together(verdicts.split(), True)) == (of_all, of_any), verdicts
    assert len(cases) == 7


def test_times():
    from reptile._times import seconds_or_none

    utc = datetime.timezone.utc
    cases = [
        ("2023-11-14T22:13:20Z", 1_700_000_000),
        (" 2023-11-14T22:13:20+00:00 ", 1_700_000_000),
        ("2023-11-14T23:13:20+01:00", 1_700_000_000),
        ("2023-11-14 22:13:20", 1_700_000_000),
        ("2023-11-14T22:13:20.999Z", 1_700_000_000),
        ("2023-11-14", 1_699_920_000),
        (datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=utc), 1_700_000_000),
        (datetime.datetime(2023, 11, 14, 22, 13, 20), 1_700_000_000),
        (datetime.date(2023, 11, 14), 1_699_920_000),
        (1_700_000_000, 1_700_000_000),
        (-62_135_596_801, None),
        (-62_135_596_800, -62_135_596_800),
        (253_402_300_799, 253_402_300_799),
        (253_402_300_800, None),
        # Any of these might mean several times.
        ("20231114221320", None),
        ("2023-11-14122:13", None),
        ("14/11/2023", None),
        ("1700000000", None),
        ("", None),
        (True, None),
        (1.5, None),
        (None, None),
    ]
    for time, expected in cases:
        assert seconds_or_none(time) == expected, time
    assert len(cases) == 22


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
        (dict(scope="host"), ValueError, "unknown scope"),
        (dict(purpose="train-ai"), ValueError, "needs unknown_usage"),
        (dict(purpose="train-lunch", unknown_usage="allow"), ValueError, "train-lunch"),
        (dict(unknown_usage="allow"), ValueError, "without purpose"),
        (dict(lines="both"), ValueError, "without uses or purpose"),
    ]:
        with pytest.raises(error, match=text):
            RobotsFilter(**{"set_path": path, "agents": "GPTBot", **arguments})
    document = Document("text", "id", metadata={"url": "https://shop.example/"})
    with pytest.raises(FileNotFoundError):
        RobotsFilter(tmp_path / "nowhere", "GPTBot").filter(document)
    with pytest.raises(reptile.CrawlerError):
        RobotsFilter(path, "Googelbot").filter(document)
    with pytest.raises(reptile.Error, match="not by time"):
        RobotsFilter(path, "GPTBot", time_key="date").filter(document)
