"""An engine: reppy, whose parser is written in C++ (https://pypi.org/project/reppy/)."""

from importlib.metadata import version

from protocol import Engine, serve
from reppy.robots import Robots


class ReppyEngine(Engine):
    name = "reppy"

    def version(self):
        return version("reppy")

    def parse(self, body, origin):
        return Robots.parse(origin + "/robots.txt", body)

    def decider(self, parsed, agent):
        return parsed.agent(agent).allowed


serve(ReppyEngine())
