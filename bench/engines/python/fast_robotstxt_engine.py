"""An engine: fast-robotstxt, a fork of Google's C++ library for Python (https://pypi.org/project/fast-robotstxt/)."""

from importlib.metadata import version

from protocol import Engine, serve
from robotstxt import RobotsMatcher


class FastRobotstxtEngine(Engine):
    name = "fast-robotstxt"
    dialect = "google-lib"
    parses = False
    notes = ("Its interface takes text, so bytes that are not UTF-8 are dropped, as in Scrapy.",)

    def __init__(self):
        self.matcher = RobotsMatcher()

    def version(self):
        return version("fast-robotstxt")

    def one_shot(self, body, origin, agent, url):
        return self.matcher.is_allowed(body.decode("utf-8", "ignore"), agent, url)

    def explain(self, body, origin, agent, url):
        return self.one_shot(body, origin, agent, url), self.matcher.matching_line


serve(FastRobotstxtEngine())
