"""An engine: fastrobots, whose parser is written in Rust (https://pypi.org/project/fastrobots/)."""

from importlib.metadata import version
from urllib.parse import urlsplit, urlunsplit

from fastrobots import Robots
from protocol import Engine, serve


def path_of(url):
    """Returns a URL's path and query. The package's own function drops the query."""
    parts = urlsplit(url)
    return urlunsplit(("", "", parts.path or "/", parts.query, ""))


class FastrobotsEngine(Engine):
    name = "fastrobots"
    dialect = "rfc9309"
    notes = ("Bytes that are not UTF-8 are replaced before parsing, because it takes text.",)

    def version(self):
        return version("fastrobots")

    def parse(self, body, origin):
        return Robots.parse(body.decode("utf-8", "replace"))

    def decider(self, parsed, agent):
        allowed = parsed.agent(agent).allowed
        return lambda url: allowed(path_of(url))


serve(FastrobotsEngine())
