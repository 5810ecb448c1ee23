"""An engine: jwm.robotstxt, a wheel around Google's C++ library (https://pypi.org/project/jwm.robotstxt/)."""

from importlib.metadata import version

from jwm.robotstxt.googlebot import RobotsMatcher
from protocol import Engine, serve


class JwmEngine(Engine):
    name = "jwm.robotstxt"
    dialect = "google-lib"
    parses = False

    def __init__(self):
        self.matcher = RobotsMatcher()

    def version(self):
        return version("jwm.robotstxt")

    def one_shot(self, body, origin, agent, url):
        return self.matcher.OneAgentAllowedByRobots(body, agent, url)

    def explain(self, body, origin, agent, url):
        return self.one_shot(body, origin, agent, url), self.matcher.matching_line()


serve(JwmEngine())
