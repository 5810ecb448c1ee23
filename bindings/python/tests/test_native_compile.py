"""Captures from Arrow rows and dictionaries, times, and files that exist already."""

import datetime
import os
import pathlib

import pytest

import reptile

UTC = datetime.timezone.utc
RULES = "user-agent: *\ndisallow: /x"

ROWS = [
    {"url": "https://a.example/robots.txt", "body": RULES, "status": 200, "time": 1_700_000_000},
    {"url": "https://b.example/robots.txt", "status": 404, "time": 1_700_000_001, "redirects": 1},
    {"url": "https://c.example/robots.txt", "error": "no connection", "time": 1_700_000_002},
    {"url": "https://d.example/robots.txt", "body": RULES, "truncated": "length", "cache_control": "max-age=60"},
    {"url": "https://e.example/robots.txt", "body": "<html>", "status": 200, "content_type": "text/html"},
    {"url": "https://f.example/robots.txt", "body": RULES, "status": 200, "redirects": 3, "error": ""},
]
FIELDS = ["url", "body", "status", "time", "redirects", "error", "truncated", "cache_control", "content_type"]


def compiled(captures, tmp_path, **options):
    """Returns the bytes of the set."""
    path = tmp_path / "set"
    reptile.compile(captures, path, force=True, **options)
    return path.read_bytes()


@pytest.fixture
def table():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: [row.get(name) for row in ROWS] for name in FIELDS})


def test_every_kind_of_rows_gives_the_same_set(table, tmp_path):
    import pyarrow

    expected = compiled(ROWS, tmp_path)
    inputs = [
        table,
        table.to_reader(max_chunksize=2),
        table.slice(0, 3).to_batches()[0],
        table.to_struct_array().combine_chunks(),
    ]
    inputs[2] = pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])
    text = {"url": table["url"], "body": table["body"], "error": table["error"], "truncated": table["truncated"]}
    for kind in (pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary(), pyarrow.string_view(), "dictionary"):
        of_kind = table
        for name, column in text.items():
            place = of_kind.schema.get_field_index(name)
            column = column.dictionary_encode() if kind == "dictionary" else column.cast(kind)
            of_kind = of_kind.set_column(place, name, column)
        inputs.append(of_kind)
    for kind in (pyarrow.int16(), pyarrow.uint64(), pyarrow.float64(), pyarrow.float32()):
        inputs.append(table.set_column(2, "status", table["status"].cast(kind)))
    seconds = table["time"].cast(pyarrow.timestamp("s"))
    for time in (
        *(pyarrow.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Tokyo")),
    ):
        inputs.append(table.set_column(3, "time", seconds.cast(pyarrow.timestamp("s", time.tz)).cast(time)))
    milliseconds = pyarrow.array([row.get("time") and row["time"] * 1000 for row in ROWS])
    inputs += [
        table.set_column(3, "time", milliseconds),
        table.set_column(3, "time", table["time"].cast(pyarrow.float64())),
    ]
    inputs.append(table.select(list(reversed(FIELDS))))
    longer = pyarrow.concat_tables([table.slice(2, 1), table, table.slice(0, 1)])
    inputs += [longer.slice(1, len(ROWS)), longer.to_struct_array().combine_chunks()[1 : 1 + len(ROWS)]]
    for number, rows in enumerate(inputs):
        assert compiled(rows, tmp_path) == expected, number


def test_other_libraries(table, tmp_path):
    expected = compiled(ROWS, tmp_path)
    polars = pytest.importorskip("polars")
    assert compiled(polars.from_arrow(table), tmp_path) == expected
    pandas = pytest.importorskip("pandas")
    # The statuses become floating-point numbers, because one is missing.
    frame = pandas.DataFrame(ROWS, columns=FIELDS)
    assert str(frame["status"].dtype) == "float64" and compiled(frame, tmp_path) == expected
    duckdb = pytest.importorskip("duckdb")
    assert compiled(duckdb.connect().from_arrow(table), tmp_path) == expected


def test_flags_dates_and_columns_without_values(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    urls = [row["url"] for row in ROWS[:3]]
    rows = [
        {"url": urls[0], "body": RULES, "truncated": True, "time": 86_400},
        {"url": urls[1], "error": True, "time": 2 * 86_400},
        {"url": urls[2], "body": RULES, "truncated": False, "error": False},
    ]
    columns = {
        "url": urls,
        "body": [RULES, None, RULES],
        "truncated": [True, None, False],
        "error": [None, True, False],
        "time": pyarrow.array([datetime.date(1970, 1, 2), datetime.date(1970, 1, 3), None]),
    }
    expected = compiled(rows, tmp_path)
    empty = {name: pyarrow.nulls(3) for name in ("status", "redirects", "cache_control", "content_type")}
    assert (
        compiled(pyarrow.table(columns), tmp_path)
        == compiled(pyarrow.table({**columns, **empty}), tmp_path)
        == expected
    )
    words = {"truncated": ["true", "", "false"], "error": ["x", "y", ""]}
    assert compiled(pyarrow.table({**columns, "truncated": words["truncated"]}), tmp_path) == expected
    assert len(reptile.compile(pyarrow.table({"url": pyarrow.array([], pyarrow.string())}))) == 0
    assert len(reptile.compile(pyarrow.table({"url": urls[:1], "body": pyarrow.nulls(1), "status": [404]}))) == 1


@pytest.mark.parametrize(
    ("changed", "error", "text"),
    [
        ({"body_base64": ["YQ=="]}, ValueError, 'the bodies are in "body_base64"'),
        ({"url": None, "body": [""]}, ValueError, 'a column "url"'),
        ({"url": [7]}, TypeError, '"url" to have texts, found Int64'),
        ({"status": ["404"]}, TypeError, '"status" to have numbers, found Utf8'),
        ({"time": ["now"]}, TypeError, '"time" to have times, dates or numbers, found Utf8'),
        ({"error": [7]}, TypeError, '"error" to have texts or Booleans'),
    ],
)
def test_unsuitable_columns(changed, error, text):
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"url": ["https://a.example/robots.txt"], **changed}
    table = pyarrow.table({name: column for name, column in columns.items() if column is not None})
    with pytest.raises(error, match=text):
        reptile.compile(table, on_error=lambda *_: None)


def test_arrays_without_columns_and_doubled_columns():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="rows with the columns url and body, found Utf8"):
        reptile.compile(pyarrow.array(["https://a.example/robots.txt"]))
    urls = pyarrow.array(["https://a.example/robots.txt"])
    with pytest.raises(ValueError, match='two columns are named "url"'):
        reptile.compile(pyarrow.Table.from_arrays([urls, urls], names=["url", "url"]))


WRONG = [
    ("url", None, "without url"),
    ("url", "https://a.example/", "/robots.txt"),
    ("status", 99, "100 to 999, found 99"),
    ("status", 1000, "100 to 999, found 1000"),
    ("status", 200.5, "found 200.5"),
    ("redirects", -1, "found -1"),
    ("redirects", 1 << 32, "found 4294967296"),
    ("time", -62_135_596_801, "the years 1 to 9999"),
    ("time", 253_402_300_800, "the years 1 to 9999"),
    ("truncated", "much", 'found "much"'),
    ("body", "#" * ((16 << 20) + 1), "16777217|16777216|16 MiB|16,777,216"),
]


@pytest.mark.parametrize(("field", "value", "text"), WRONG)
def test_captures_that_cannot_be_compiled(field, value, text):
    pyarrow = pytest.importorskip("pyarrow")
    good = {"url": "https://good.example/robots.txt", "body": RULES}
    bad = {"url": "https://bad.example/robots.txt", "body": RULES, field: value}
    table = pyarrow.table({name: [row.get(name) for row in (good, bad)] for name in {**good, **bad}})
    with pytest.raises(reptile.Error, match=text):
        reptile.compile(table)
    left_out = []
    web = reptile.compile(table, on_error=lambda *each: left_out.append(each))
    assert list(web) == ["https://good.example"] and len(left_out) == 1
    assert "bad.example" in left_out[0][0] or field == "url"
    # The same dictionary is an error too.
    with pytest.raises((ValueError, reptile.Error), match=text):
        reptile.compile([good, bad])


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("status", [100, 999]),
        ("redirects", [0, (1 << 32) - 1]),
        ("time", [-62_135_596_800, 253_402_300_799, 999_999_999_999 // 1000]),
        ("truncated", ["", "length", "time", "disconnect", "unspecified", True, False]),
        ("body", ["#" * (16 << 20)]),
    ],
)
def test_values_at_the_limits(field, values, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    for value in values:
        row = {"url": "https://a.example/robots.txt", "body": RULES, field: value}
        assert compiled(pyarrow.Table.from_pylist([row]), tmp_path) == compiled([row], tmp_path)


def test_rows_that_are_null_as_a_whole():
    pyarrow = pytest.importorskip("pyarrow")
    rows = pyarrow.StructArray.from_arrays(
        [
            pyarrow.array(["https://a.example/robots.txt", "https://b.example/robots.txt"]),
            pyarrow.array([RULES, RULES]),
        ],
        names=["url", "body"],
        mask=pyarrow.array([False, True]),
    )
    with pytest.raises(reptile.Error, match="a capture without url, in row 1"):
        reptile.compile(rows)
    left_out = []
    assert list(reptile.compile(rows, on_error=lambda *each: left_out.append(each))) == ["https://a.example"]
    assert left_out == [("", "a capture without url, in row 1")]


def test_streams_that_fail():
    pyarrow = pytest.importorskip("pyarrow")
    schema = pyarrow.schema([("url", pyarrow.string())])

    def broken():
        yield pyarrow.record_batch([["https://a.example/robots.txt"]], names=["url"])
        raise RuntimeError("the wire broke")

    with pytest.raises(reptile.Error, match="the wire broke|body"):
        reptile.compile(pyarrow.RecordBatchReader.from_batches(schema, broken()), on_error=lambda *_: None)
    reader = pyarrow.table({"url": ["https://a.example/robots.txt"], "body": [RULES]}).to_reader()

    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        reptile.compile(pyarrow.table({"url": ["https://a.example/"]}), on_error=stop)
    assert len(reptile.compile(reader)) == 1


def test_many_rows(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    for count in (4095, 4096, 4097):
        rows = [
            (f"https://{number}.example/robots.txt", f"user-agent: *\ndisallow: /{number % 100}")
            for number in range(count)
        ]
        table = pyarrow.table(dict(zip(("url", "body"), map(list, zip(*rows)))))
        assert compiled(table, tmp_path) == compiled(rows, tmp_path)


def test_times_of_captures(tmp_path):
    def time(value):
        return compiled([{"url": "https://a.example/robots.txt", "body": RULES, "time": value}], tmp_path)

    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    for aware in (
        datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        datetime.datetime(2023, 11, 15, 7, 13, 20, 999_999, tokyo),
    ):
        assert time(aware) == time(1_700_000_000) == time(1_700_000_000_000) != time(1_700_000_001)
    # Rounded down, also before 1970.
    assert time(datetime.datetime(1969, 12, 31, 23, 59, 59, 1, UTC)) == time(-1)
    for wrong in (datetime.datetime(2023, 11, 14), datetime.date(2023, 11, 14), "2023-11-14", 1.5):
        with pytest.raises(TypeError, match="a datetime with a time zone"):
            time(wrong)


def test_the_time_of_a_set(tmp_path):
    captures = [
        {"url": "https://a.example/robots.txt", "body": body, "time": time}
        for time, body in ((1000, RULES), (2000, ""))
    ]
    at = datetime.datetime.fromtimestamp(1500, UTC)
    assert compiled(captures, tmp_path, at=at) == compiled(captures, tmp_path, at=1500) != compiled(captures, tmp_path)
    assert reptile.compile(captures, at=at).decide("MyBot", "https://a.example/x") == "disallow"
    for wrong in (datetime.datetime(2023, 11, 14), "1500"):
        with pytest.raises(TypeError, match="a datetime with a time zone"):
            reptile.compile(captures, at=wrong)


def test_files_are_replaced_only_by_force(tmp_path):
    path, other = tmp_path / "web.reptile", tmp_path / "other.reptile"
    reptile.compile(ROWS[:1], path)
    before = path.read_bytes()
    reptile.compile(ROWS[:2], other)
    asked = []

    def captures():
        asked.append(True)
        yield from ROWS

    for make in (
        lambda **force: reptile.compile(captures(), path, **force),
        lambda **force: reptile.merge([path, other], path, **force),
    ):
        with pytest.raises(FileExistsError, match="force=True") as raised:
            make()
        assert raised.value.filename == str(path) and path.read_bytes() == before and not asked
        with pytest.raises(FileExistsError):
            make(force=False)
    # A failed run changes nothing and leaves nothing.
    with pytest.raises(ValueError):
        reptile.compile([{"url": "https://a.example/robots.txt", "stauts": 1}], path, force=True)
    assert path.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["other.reptile", "web.reptile"]
    assert len(reptile.merge([path, other], path, force=True)) == 2 and path.read_bytes() == other.read_bytes()
    assert len(reptile.compile(captures(), path, force=True)) == len(ROWS) and asked


def test_spark_replaces_files_only_by_force(tmp_path):
    pytest.importorskip("pyspark")
    spark = pytest.importorskip("reptile.spark", exc_type=ImportError)
    (tmp_path / "set").write_text("another program's")
    # The file is checked before the captures are used.
    with pytest.raises(FileExistsError, match="force=True"):
        spark.compile_partitions(None, tmp_path / "set")
    with pytest.raises(AttributeError):
        spark.compile_partitions(None, tmp_path / "set", force=True)
    assert (tmp_path / "set").read_text() == "another program's"


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    path = tmp_path / "web.reptile"

    def captures():
        path.write_text("another program's")
        yield from ROWS

    with pytest.raises(FileExistsError):
        reptile.compile(captures(), path)
    assert path.read_text() == "another program's" and os.listdir(tmp_path) == ["web.reptile"]


def test_one_set_is_not_a_list_of_sets(tmp_path):
    web = reptile.compile(ROWS)
    with pytest.raises(TypeError, match="a list of sets, found one set"):
        reptile.merge(web)
    with pytest.raises(TypeError, match="pair"):
        reptile.compile(web)
    assert not pathlib.Path(tmp_path / "set").exists()
