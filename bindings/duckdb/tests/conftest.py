"""Shared fixtures: a few sites as a set file, and a DuckDB that has loaded the extension named by EXTENSION."""

import os

import duckdb
import pytest

import reptile

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


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("it's a set") / "web.reptile"
    reptile.compile(CAPTURES, path)
    return str(path)


@pytest.fixture(scope="session")
def web(path):
    return reptile.open(path)


@pytest.fixture
def connection(path):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute("load '" + os.environ["EXTENSION"].replace("'", "''") + "'")
    connection.execute("set timezone = 'UTC'")
    connection.execute("set variable web = '" + path.replace("'", "''") + "'")
    return connection
