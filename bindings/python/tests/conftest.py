"""Shared fixtures: a few sites, compiled to a set file."""

import pytest

import reptile

SHOP = """user-agent: *
disallow: /cart
allow: /cart/help
disallow: /*?sort=
content-usage: train-ai=n
crawl-delay: 2
sitemap: https://shop.example/sitemap.xml

user-agent: GPTBot
disallow: /
"""

CAPTURES = [
    ("https://shop.example/robots.txt", SHOP),
    {"url": "https://down.example/robots.txt", "status": 503, "time": 1_700_000_000},
    {"url": "https://gone.example/robots.txt", "status": 404, "body": None},
]

URLS = [
    "https://shop.example/cart",
    "https://shop.example/cart/help",
    "https://shop.example/?sort=price",
    None,
    "https://down.example/",
    "https://gone.example/",
    "https://no.example/",
    "nonsense",
    "https://shop.example/" + "x" * 40 + "é",
]


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("set") / "web.reptile"
    reptile.compile(CAPTURES, path)
    return path


@pytest.fixture(scope="session")
def web(path):
    return reptile.open(path)
