"""An engine: robotexclusionrulesparser (https://pypi.org/project/robotexclusionrulesparser/)."""

from functools import partial
from importlib.metadata import version

from protocol import Engine, serve
from robotexclusionrulesparser import RobotExclusionRulesParser


class RulesParserEngine(Engine):
    name = "robotexclusionrulesparser"
    notes = ("It receives bytes, which it decodes as ISO 8859-1.",)

    def version(self):
        return version("robotexclusionrulesparser")

    def parse(self, body, origin):
        robots = RobotExclusionRulesParser()
        robots.parse(body)
        return robots

    def decider(self, parsed, agent):
        return partial(parsed.is_allowed, agent)


serve(RulesParserEngine())
