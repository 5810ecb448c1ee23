"""An engine: robotspy (https://pypi.org/project/robotspy/)."""

from functools import partial
from importlib.metadata import version

from protocol import Engine, Refused, serve
from robots import RobotsParser


class RobotspyEngine(Engine):
    name = "robotspy"
    dialect = "rfc9309"

    def version(self):
        return version("robotspy")

    def parse(self, body, origin):
        try:
            # Same as in `RobotsParser.from_uri`, which records an error instead of parsing if a response is not UTF-8.
            return RobotsParser.from_string(body.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise Refused(f"not UTF-8: {error}") from error

    def decider(self, parsed, agent):
        return partial(parsed.can_fetch, agent)


serve(RobotspyEngine())
