"""An engine: Protego, Scrapy's parser (https://pypi.org/project/Protego/)."""

from functools import partial
from importlib.metadata import version

from protego import Protego
from protocol import Engine, serve


class ProtegoEngine(Engine):
    name = "protego"
    dialect = "rfc9309"
    notes = ("Bytes that are not UTF-8 are dropped before parsing, as in Scrapy.",)

    def version(self):
        return version("protego")

    def parse(self, body, origin):
        return Protego.parse(body.decode("utf-8", "ignore"))

    def decider(self, parsed, agent):
        return partial(parsed.can_fetch, user_agent=agent)


serve(ProtegoEngine())
