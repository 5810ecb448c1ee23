"""A parser for Scrapy: ``ROBOTSTXT_PARSER = "reptile.scrapy.ReptileRobotParser"`` in the settings. Needs Scrapy."""

from typing import TYPE_CHECKING, Any

from scrapy.robotstxt import RobotParser

from .protego import Protego

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ReptileRobotParser"]


class ReptileRobotParser(RobotParser):
    """Implements Scrapy's robots.txt parser interface."""

    def __init__(self, robotstxt_body: bytes | str, spider: Any = None) -> None:
        self.spider = spider
        # As in Scrapy, bytes that are not UTF-8 are left out.
        text = robotstxt_body.decode("utf-8", "ignore") if isinstance(robotstxt_body, bytes) else robotstxt_body
        self._protego = Protego.parse(text.removeprefix("\ufeff"))

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes | str) -> "Self":
        """Creates a parser from a robots.txt body."""
        return cls(robotstxt_body, crawler.spider if crawler else None)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Returns whether a crawler may fetch a URL; both may be str or bytes."""
        return self._protego.can_fetch(_text(url), _text(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Returns how many seconds a crawler should wait between fetches, or None. Used by Scrapy 2.18 and later."""
        return self._protego.crawl_delay(_text(user_agent))


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
