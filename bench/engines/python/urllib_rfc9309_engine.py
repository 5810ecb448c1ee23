"""An engine: `urllib.robotparser` of a newer Python, which follows RFC 9309, run by this Python.

CPYTHON_LIB is a folder with the newer version's `urllib/robotparser.py` and `urllib/parse.py`, which it needs. An older Python
runs them, because the module has no other dependencies. CPYTHON_LIB_VERSION is the reported version.
"""

import os
import platform
import sys
import urllib
import zlib
from functools import partial
from pathlib import Path

FOLDER = Path(os.environ["CPYTHON_LIB"], "urllib")
# Takes precedence over this Python's own modules. `urllib.parse` may already be loaded.
urllib.__path__.insert(0, str(FOLDER))
sys.modules.pop("urllib.parse", None)

from urllib import robotparser  # noqa: E402

from protocol import Engine, serve  # noqa: E402


class UrllibEngine(Engine):
    name = "urllib.robotparser (RFC 9309)"
    dialect = "rfc9309"

    def version(self):
        checksum = f"checksum {zlib.crc32((FOLDER / 'robotparser.py').read_bytes()):08x}"
        return f"{os.environ.get('CPYTHON_LIB_VERSION', checksum)}, run by {platform.python_version()}"

    def parse(self, body, origin):
        # The same steps as in `RobotFileParser.read`.
        robots = robotparser.RobotFileParser()
        robots.parse(body.decode("utf-8", "surrogateescape").splitlines())
        return robots

    def decider(self, parsed, agent):
        return partial(parsed.can_fetch, agent)


if not hasattr(robotparser.RobotFileParser(), "groups"):
    sys.exit(f"{FOLDER}/robotparser.py does not follow RFC 9309")
serve(UrllibEngine())
