"""Answers about all paths: proofs, counterexamples, dialects, sets and errors."""

import concurrent.futures
import pickle

import pytest

import reptile
from reptile import Comparison, Robots, Witness

NONE, UNPROVED = Witness("none"), Witness("unproved")


def path(text):
    return Witness("path", text)


@pytest.mark.parametrize(
    ("old", "new", "first_only", "second_only"),
    [
        ("disallow: /a", "disallow: /a*", NONE, NONE),
        ("disallow: /private", "disallow: /private/", NONE, path("/private")),
        ("", "disallow: /*?sort=", path("/?sort="), NONE),
        ("disallow: /a", "disallow: /b", path("/b"), path("/a")),
        # A path that a URL contains only percent-encoded.
        ("", "disallow: /é", path("/%C3%A9"), NONE),
    ],
)
def test_two_files(old, new, first_only, second_only):
    old, new = (Robots(f"user-agent: *\n{rules}") for rules in (old, new))
    found = old.compare(new, "MyBot")
    assert found == Comparison(first_only, second_only)
    assert found.equivalent == (first_only == second_only == NONE) and not found.unproved
    assert new.compare(old, "MyBot") == Comparison(second_only, first_only)
    # Every example is true.
    for witness, verdicts in ((found.first_only, ("allow", "disallow")), (found.second_only, ("disallow", "allow"))):
        if witness.path is not None:
            assert tuple(robots.decide("MyBot", witness.path) for robots in (old, new)) == verdicts


def test_two_crawlers():
    robots = Robots("user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images")
    named, default = robots.agent("GPTBot"), robots.agent("*")
    assert named.permits_no_more_than(default) == path("/cart")
    assert default.permits_no_more_than(named) == path("/images")
    assert named.permits_no_more_than(named) == NONE
    assert named.compare(default) == Comparison(path("/cart"), path("/images"))
    assert robots.agent("MyBot").compare(default).equivalent


def test_two_dialects():
    # In 1996 there were no wildcards.
    body = "user-agent: *\ndisallow: /*.pdf$"
    google, koster = Robots(body), Robots(body, "koster-1996")
    found = google.agent("MyBot").compare(koster.agent("MyBot"))
    for witness, verdicts in ((found.first_only, ["allow", "disallow"]), (found.second_only, ["disallow", "allow"])):
        assert [robots.decide("MyBot", witness.path) for robots in (google, koster)] == verdicts


def test_sets(web):
    named, default = web.agent("GPTBot"), web.agent("MyBot")
    assert named.permits_no_more_than(default, "https://shop.example/") == NONE
    assert default.permits_no_more_than(named, b"https://shop.example/any").path == "/"
    assert named.compare(default, "https://gone.example/").equivalent
    assert Robots("").agent("GPTBot").compare(named, "https://down.example/").first_only.path == "/"
    for url in (None, "https://no.example/", "nonsense"):
        with pytest.raises(reptile.Error):
            named.compare(default, url)


def test_a_proof_that_is_too_long_is_neither_true_nor_false():
    # Nothing is disallowed, but a proof needs a state for each set of patterns.
    def rules(letter):
        patterns = [f"/*{letter}{at}b*c{at}*d{at}" for at in range(40)]
        return "user-agent: *\n" + "\n".join(f"disallow: {pattern}\nallow: {pattern}" for pattern in patterns)

    first = Robots(rules("a"))
    found = first.compare(Robots(rules("x")), "MyBot")
    assert found == Comparison(UNPROVED, UNPROVED)
    assert found.unproved and not found.equivalent
    assert first.compare(Robots(rules("a")), "MyBot").equivalent


def test_answers_are_values_without_truth():
    found = Robots("").compare(Robots("user-agent: *\ndisallow: /a"), "MyBot")
    for answer in (found, found.first_only, found.second_only, UNPROVED):
        with pytest.raises(TypeError, match="no truth value"):
            bool(answer)
        assert pickle.loads(pickle.dumps(answer)) == answer and len({answer, answer}) == 1
    with pytest.raises(AttributeError):
        found.first_only.state = "none"
    assert repr(found.first_only) == "Witness(state='path', path='/a')"


def test_errors():
    robots = Robots("user-agent: Googlebot\ndisallow: /")
    with pytest.raises(reptile.CrawlerError, match="Googlebot"):
        robots.compare(robots, "Googelbot")
    assert robots.compare(robots, "Googelbot", exact=True).equivalent
    for arguments in ((), ("x",), (robots, "MyBot", "more")):
        with pytest.raises(TypeError):
            robots.compare(*arguments)
    with pytest.raises(TypeError):
        robots.agent("MyBot").compare(robots)


def test_threads_share_a_question():
    old, new = Robots("user-agent: *\ndisallow: /a"), Robots("user-agent: *\ndisallow: /b")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: old.compare(new, "MyBot"), range(100)))
    assert found == {Comparison(path("/b"), path("/a"))}
