"""Tests a Spark worker's functions without Spark, the cache of open sets, and merging."""

import datetime
import os
import pickle

import pytest

import reptile
from reptile import _opened, _times

from conftest import CAPTURES, URLS

pyarrow = pytest.importorskip("pyarrow")

from reptile import _partitions  # noqa: E402

AGENTS = ("MyBot", "GPTBot")
COLUMNS = ("verdict", "line", "rule", "group", "reason", "ruleset", "capture_time", "capture", "mask", "refused")
UTC = datetime.timezone.utc


def rows(captures):
    """Converts captures for ``reptile.compile`` to a table as Spark represents it."""
    made = [capture if isinstance(capture, dict) else {"url": capture[0], "body": capture[1]} for capture in captures]
    return pyarrow.Table.from_pylist(
        made,
        pyarrow.schema(
            [
                ("url", pyarrow.string()),
                ("body", pyarrow.string()),
                ("status", pyarrow.int32()),
                ("time", pyarrow.int64()),
                ("redirects", pyarrow.int32()),
                ("error", pyarrow.string()),
                ("truncated", pyarrow.string()),
            ]
        ),
    )


def part_of(captures, folder, options=None, on_error=None, size=2):
    """Compiles a partition in batches of ``size`` rows. Returns the part's file, or None."""
    work = pickle.loads(pickle.dumps(_partitions.Compile(options or {}, leaves_out=on_error is not None)))
    given = [row for batch in work(iter(rows(captures).to_batches(size))) for row in batch.to_pylist()]
    folder.mkdir()
    found = _partitions.fetched(given, str(folder), on_error)
    assert len(found) <= 1
    return found[0] if found else None


def decide_of(place, names, columns=COLUMNS, options=None):
    """Returns a worker's function for a column ``url``, pickled and unpickled as on its way to the worker."""
    decide = _partitions.Decide(
        place=place,
        is_shipped=False,
        names=names,
        exact=False,
        columns=columns,
        options=options or {},
        has_times=False,
        headers=False,
        texts=("url",),
        times=(),
    )
    return pickle.loads(pickle.dumps(decide))


def test_batches_keep_their_columns_and_get_verdicts(web, path):
    batch = pyarrow.record_batch({"n": range(len(URLS)), "url": URLS})
    decide = decide_of(str(path), AGENTS)
    found = list(decide(iter([batch, batch.slice(0, 0), batch.slice(2, 3)])))
    assert [each.num_rows for each in found] == [len(URLS), 0, 3]
    whole = found[0].to_pydict()
    expected = web.decide_many(AGENTS, URLS, COLUMNS).to_pydict()
    assert whole == {"n": list(range(len(URLS))), "url": URLS, **expected}
    assert whole["GPTBot:verdict"][3] is None and whole["refused"][3] is None
    assert found[2].to_pydict() == {name: values[2:5] for name, values in whole.items()}
    types = {field.name: str(field.type) for field in found[1].schema}
    assert types["GPTBot:verdict"] == "string" and types["GPTBot:line"] == types["mask"] == "int64"
    assert types["capture_time"] == "timestamp[us, tz=UTC]"
    assert types["refused"] in ("list<item: string>", "list<element: string>")
    assert len({each.schema for each in found}) == 1


def test_batches_get_columns_about_uses(web, path):
    usage = {"uses": ["train-ai"], "purpose": "train-ai", "unknown_usage": "allow"}
    decide = decide_of(str(path), AGENTS, options=usage)
    (found,) = decide([pyarrow.record_batch({"url": URLS})])
    assert found.to_pydict() == {"url": URLS, **web.decide_many(AGENTS, URLS, COLUMNS, **usage).to_pydict()}
    assert found.schema.field("GPTBot:train-ai").type == found.schema.field("GPTBot:purpose").type == pyarrow.string()


@pytest.mark.parametrize("count", [_partitions.MAX_MASK - 1, _partitions.MAX_MASK, _partitions.MAX_MASK + 1])
def test_masks_are_limited(web, count):
    names = [f"bot{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(count)]
    agents = web.agents(names, exact=True)
    structs_of = lambda columns: decide_of("", (), columns).structs(agents)
    assert len(structs_of("refused").type) == 1
    if count > _partitions.MAX_MASK:
        with pytest.raises(ValueError, match="at most 63 crawlers for mask in Spark, found 64"):
            structs_of("mask")
    else:
        (field,) = structs_of("mask").type
        found = structs_of("mask")(pyarrow.array(["https://down.example/"])).flatten()[0]
        assert field.type == pyarrow.int64() and found.to_pylist() == [2**count - 1]


def test_urls_that_are_not_utf_8(path):
    urls = pyarrow.array([b"https://shop.example/\xff", b"https://\xff.example/"]).view(pyarrow.binary())
    as_text = pyarrow.Array.from_buffers(pyarrow.string(), 2, urls.buffers())
    decide = decide_of(str(path), ("MyBot",), ("verdict",))
    found = next(decide([pyarrow.RecordBatch.from_arrays([as_text], names=["url"])]))
    assert found.column(1).to_pylist() == reptile.open(path).decide_many("MyBot", urls)["MyBot:verdict"]


def test_errors_in_a_partition_are_raised(tmp_path, path):
    batch = pyarrow.record_batch({"url": URLS})
    with pytest.raises(FileNotFoundError):
        next(decide_of(str(tmp_path / "no"), AGENTS)([batch]))
    (tmp_path / "bad").write_bytes(b"not a set")
    with pytest.raises(reptile.FormatError):
        next(decide_of(str(tmp_path / "bad"), AGENTS)([batch]))
    with pytest.raises(reptile.CrawlerError):
        next(decide_of(str(path), ("Googelbot",))([batch]))


def test_merged_parts_equal_the_whole_byte_for_byte(tmp_path):
    captures = [
        *CAPTURES,
        {"url": "https://shop.example/robots.txt", "time": 1_600_000_000, "status": 404},
        {"url": "https://shop.example/robots.txt", "time": 1_800_000_000, "body": "user-agent: *\ndisallow: /new"},
        {"url": "https://lost.example/robots.txt", "time": 1_800_000_000, "error": "time-out"},
        {"url": "https://cut.example/robots.txt", "body": "user-agent: *\ndisallow: /x", "truncated": "length", "redirects": 2},
    ]
    in_spark = [
        dict(row, error=row.get("error")) if isinstance(row, dict) else row
        for row in map(copy_of, captures)
    ]
    for number, options in enumerate([{}, {"dialect": "rfc9309", "line_numbers": False}, {"by_time": True, "at": 1_750_000_000}]):
        whole, merged = tmp_path / f"whole{number}", tmp_path / f"merged{number}"
        times = options.get("by_time") and [
            dict(each, time=each.get("time", 1_500_000_000)) for each in captures if isinstance(each, dict)
        ]
        reptile.compile(times or captures, whole, **options)
        given = (
            [dict(each, time=each.get("time", 1_500_000_000)) for each in in_spark if isinstance(each, dict)] if times else in_spark
        )
        parts = [part_of(given[place::3], tmp_path / f"{number}-{place}", options) for place in (2, 0, 1)]
        assert reptile.merge(parts, merged).path == merged
        assert merged.read_bytes() == whole.read_bytes(), options
    assert part_of([], tmp_path / "empty") is None


def copy_of(capture):
    return dict(capture) if isinstance(capture, dict) else capture


def test_invalid_captures_raise_or_are_left_out(tmp_path):
    bad = [
        {"url": "https://shop.example/", "body": ""},
        {"url": "nonsense", "body": ""},
        {"url": None, "body": ""},
        {"url": "https://a.example/robots.txt", "status": 99},
        {"url": "https://b.example/robots.txt", "status": 1000},
        {"url": "https://c.example/robots.txt", "body": "", "time": _times._FIRST - 1},
        {"url": "https://d.example/robots.txt", "body": "", "time": _times._LAST},
        {"url": "https://e.example/robots.txt", "body": "", "redirects": -1},
        {"url": "https://f.example/robots.txt", "body": "#" * ((16 << 20) + 1)},
        {"url": "https://g.example/robots.txt", "body": None},
        {"url": "https://h.example/robots.txt", "body": "", "truncated": "somehow"},
    ]
    for number, capture in enumerate(bad):
        with pytest.raises(ValueError if number not in (0, 1, 8, 9) else reptile.Error):
            part_of([capture], tmp_path / f"raises-{number}")
    left_out = []
    part = part_of([*bad, *CAPTURES], tmp_path / "part", on_error=lambda origin, text: left_out.append((origin, text)))
    assert len(left_out) == len(bad) and all(text for _, text in left_out)
    named = " ".join(origin for origin, _ in left_out)
    assert all(f"{letter}.example" in named for letter in "abcdefgh") and "nonsense" in named
    assert len(reptile.open(part)) == 3
    for count in (_partitions.ROWS - 1, _partitions.ROWS, _partitions.ROWS + 1):
        work = _partitions.Compile({}, leaves_out=True)
        batches = list(work(rows([{"url": "nonsense", "body": ""}] * count).to_batches()))
        assert [len(batch) for batch in batches] == [min(count, _partitions.ROWS)] + [1] * (count > _partitions.ROWS)
    # Values at the limits.
    edges = [
        {"url": "https://a.example/robots.txt", "status": 100, "body": "", "time": _times._FIRST},
        {"url": "https://b.example/robots.txt", "status": 999, "body": "", "time": _times._LAST - 1},
        {"url": "https://c.example/robots.txt", "body": "#" * (16 << 20), "redirects": 0},
    ]
    assert len(reptile.open(part_of(edges, tmp_path / "edges"))) == 3


def test_times_are_converted_to_seconds():
    moment = datetime.datetime(2026, 3, 14, 15, 9, 26, 999_999)
    for time in (
        moment,
        moment.replace(tzinfo=UTC),
        moment.replace(tzinfo=UTC).astimezone(datetime.timezone(datetime.timedelta(hours=5))),
    ):
        assert _times.seconds(time) == 1_773_500_966
    assert _times.seconds(datetime.date(1970, 1, 2)) == 86_400
    assert _times.seconds(datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)) == -1


def test_parts_are_split_into_pieces(tmp_path):
    for size in (_partitions.PIECE - 1, _partitions.PIECE, _partitions.PIECE + 1):
        content = os.urandom(64) * (size // 64 + 1)
        (tmp_path / "part").write_bytes(content[:size])
        pieces = [batch.to_pylist()[0] for batch in _partitions._pieces(str(tmp_path / "part"))]
        assert [len(piece["piece"]) for piece in pieces] == [min(size, _partitions.PIECE)] + [1] * (size > _partitions.PIECE)
        assert [piece["is_first"] for piece in pieces] == [True, False][: len(pieces)]
        folder = tmp_path / str(size)
        folder.mkdir()
        (found,) = _partitions.fetched(pieces, str(folder), None)
        with open(found, "rb") as file:
            assert file.read() == content[:size]


def query_of(path, names, **more):
    """Returns the fields of a worker's function for rows."""
    fields = {"place": str(path), "is_shipped": False, "names": names, "exact": False, "columns": "verdict,line"}
    return {**fields, "options": {}, "has_times": False, "headers": False, **more}


def test_a_function_returns_structs(web, path):
    function = pickle.loads(pickle.dumps(_partitions.Function(**query_of(path, AGENTS))))
    expected = web.decide_many(AGENTS, URLS, "verdict,line").to_pydict()
    urls = pyarrow.array(URLS)
    for batches in ([urls], [(urls,)], [urls.slice(0, 3), urls.slice(3)]):
        found = [row for array in function.robots(iter(batches)) for row in array.to_pylist()]
        assert {name: [row[name] for row in found] for name in expected} == expected
    each = _partitions.Function(**query_of(path, None, headers=True))
    (found,) = each.robots(iter([(urls, pyarrow.array(["GPTBot/1.2"] * len(URLS)))]))
    assert [row["verdict"] for row in found.to_pylist()] == expected["GPTBot:verdict"]


@pytest.mark.parametrize("shares", [1, 2, 3, 5])
def test_shares_of_origins_are_summarized_once(web, path, shares):
    fields = {"place": str(path), "is_shipped": False, "names": AGENTS, "exact": False, "shares": shares}
    work = pickle.loads(pickle.dumps(_partitions.Summarize(**fields)))
    found = [row for number in range(shares) for batch in work([pyarrow.record_batch({"id": [number]})]) for row in batch.to_pylist()]
    expected = web.summarize(AGENTS).to_pydict()
    assert {name: [row[name] for row in found] for name in expected} == expected and len(found) == 6


@pytest.mark.parametrize("count", [_partitions.ROWS - 1, _partitions.ROWS, _partitions.ROWS + 1])
def test_summaries_come_in_batches(count, tmp_path):
    reptile.compile({f"https://site{number}.example/robots.txt": "" for number in range(count)}, tmp_path / "set")
    work = _partitions.Summarize(place=str(tmp_path / "set"), is_shipped=False, names=("MyBot",), exact=False, shares=1)
    sizes = [batch.num_rows for batch in work([pyarrow.record_batch({"id": [0]})])]
    assert sizes == [min(count, _partitions.ROWS)] + [1] * (count > _partitions.ROWS)


def test_a_task_merges_parts(path, tmp_path):
    more = ("https://new.example/robots.txt", "user-agent: *\ndisallow: /")
    bad = {"url": "nonsense", "body": ""}
    batches = []
    for captures in (CAPTURES[:1], [*CAPTURES[1:], bad], [more]):
        batches += _partitions.Compile({}, leaves_out=True)(rows(captures).to_batches())
    work = pickle.loads(pickle.dumps(_partitions.Merge(1 << 30)))
    found = [row for batch in work(iter(batches)) for row in batch.to_pylist()]
    left_out = []
    (merged,) = _partitions.fetched(found, str(tmp_path), lambda *each: left_out.append(each))
    whole = reptile.compile([*CAPTURES, more], tmp_path / "whole")
    with open(merged, "rb") as file:
        assert file.read() == whole.path.read_bytes()
    assert [name for name, _ in left_out] == ["nonsense"]
    assert list(work(iter([]))) == []


def test_the_least_recently_used_set_is_evicted(tmp_path):
    _opened._kept.clear()
    paths = [str(tmp_path / f"{number}.reptile") for number in range(_opened.MAX_OPEN + 1)]
    for path in paths:
        reptile.compile(CAPTURES, path)
    agents = lambda number: _opened.agents(paths[number], ("MyBot",), False)
    first, second = agents(0), agents(1)
    for number in range(2, _opened.MAX_OPEN):
        agents(number)
        assert len(_opened._kept) == number + 1
    assert agents(0) is first
    # One more set evicts the least recently used.
    agents(_opened.MAX_OPEN)
    assert len(_opened._kept) == _opened.MAX_OPEN
    assert agents(0) is first and agents(1) is not second
    # A set that is renamed over another is noticed, and other names are other crawlers.
    reptile.compile({}, paths[0], force=True)
    assert agents(0) is not first and agents(0).decide("https://shop.example/") == ["unknown"]
    assert first.decide("https://shop.example/") == ["allow"]
    assert _opened.agents(paths[1], ("GPTBot",), False).decide("https://shop.example/") == ["disallow"]


def test_merge(tmp_path, web, path):
    other = tmp_path / "other.reptile"
    reptile.compile({"https://new.example/robots.txt": "user-agent: *\ndisallow: /"}, other)
    whole = reptile.compile([*CAPTURES, ("https://new.example/robots.txt", "user-agent: *\ndisallow: /")], tmp_path / "whole")
    merged = reptile.merge(iter([str(other), web]), tmp_path / "merged", memory=1)
    assert merged.path.read_bytes() == whole.path.read_bytes()
    in_memory = reptile.merge([path, other])
    assert in_memory.path is None and in_memory.decide("MyBot", "https://new.example/") == "disallow"
    for sets, error, text in [
        ([], ValueError, "no set"),
        (str(path), TypeError, "one text"),
        ([path, tmp_path / "nowhere"], FileNotFoundError, "nowhere"),
        ([path, reptile.compile({}, dialect="rfc9309")], reptile.Error, "dialect|google|rfc9309"),
        ([path, reptile.compile([], by_time=True)], reptile.Error, "time"),
        ([web, 7], TypeError, "int"),
    ]:
        with pytest.raises(error, match=text):
            reptile.merge(sets, tmp_path / "never")
    two = [reptile.compile({"https://a.example/robots.txt": f"user-agent: *\ndisallow: /{name}"}) for name in "ab"]
    with pytest.raises(reptile.Error, match="a.example"):
        reptile.merge(two)
    (tmp_path / "text").write_text("not a set")
    with pytest.raises(reptile.FormatError):
        reptile.merge([tmp_path / "text"], tmp_path / "never")
    assert not (tmp_path / "never").exists()
    with pytest.raises(OSError):
        reptile.merge([path], tmp_path / "no" / "folder")
