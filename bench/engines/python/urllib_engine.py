"""An engine: `urllib.robotparser` from Python's standard library."""

import platform
from functools import partial
from urllib.robotparser import RobotFileParser

from protocol import Engine, Refused, serve


def takes_any_bytes():
    """Returns whether this version of `read` accepts a file that is not UTF-8; older ones raise an error."""
    try:
        RobotFileParser("data:text/plain,%FF").read()
        return True
    except UnicodeDecodeError:
        return False


class UrllibEngine(Engine):
    name = "urllib.robotparser"
    errors = "surrogateescape" if takes_any_bytes() else "strict"

    def version(self):
        return platform.python_version()

    def parse(self, body, origin):
        # The same steps as in `RobotFileParser.read`.
        robots = RobotFileParser()
        try:
            robots.parse(body.decode("utf-8", self.errors).splitlines())
        except UnicodeDecodeError as error:
            raise Refused(f"not UTF-8: {error}") from error
        return robots

    def decider(self, parsed, agent):
        return partial(parsed.can_fetch, agent)


serve(UrllibEngine())
