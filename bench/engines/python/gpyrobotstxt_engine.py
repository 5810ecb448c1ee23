"""An engine: gpyrobotstxt, a Python port of Google's library (https://pypi.org/project/gpyrobotstxt/)."""

from importlib.metadata import version

from gpyrobotstxt.robots_cc import RobotsMatcher
from protocol import Engine, serve


class GpyEngine(Engine):
    name = "gpyrobotstxt"
    dialect = "google-lib"
    parses = False

    def version(self):
        return version("gpyrobotstxt")

    def one_shot(self, body, origin, agent, url):
        return RobotsMatcher().one_agent_allowed_by_robots(body, agent, url)


serve(GpyEngine())
