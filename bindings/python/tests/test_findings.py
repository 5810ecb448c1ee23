"""Findings, fixes, assertions and comparisons of one robots.txt, with the words of the npm package."""

import pickle

import pytest

import reptile

BODY = "User-agent: *\r\nDisalow: /a # why\r\nDisallow: /b\r\nDisallow: /b/c\r\nAllow /d\r\n"


def test_findings_and_fixes():
    robots = reptile.Robots(BODY)
    found = robots.lint()
    assert isinstance(found, list) and isinstance(found, reptile.Findings) and len(found) >= 3
    assert [finding.line for finding in found] == sorted(finding.line for finding in found)
    fixed = robots.fix()
    # Only lines that change nothing are removed. The misspelled key closes a page in some dialects only, so it stays.
    assert fixed.decode() == BODY.replace("Disallow: /b/c\r\nAllow /d\r\n", "")
    assert not [finding for finding in reptile.Robots(fixed).lint() if finding.fix and finding.fix.is_applied]
    # Each edit by itself gives the same text as fixing its line.
    applied = [finding for finding in found if finding.fix and finding.fix.is_applied]
    for finding in applied:
        edit, lines = finding.fix.edit, BODY.split("\r\n")
        assert finding.fix.keeps_verdicts and edit.from_line == edit.to_line == finding.line
        lines[edit.from_line - 1 : edit.to_line] = [] if edit.text is None else edit.text.split("\n")
        assert robots.fix(lines=[finding.line]).decode() == "\r\n".join(lines)
        assert reptile.Robots(robots.fix(codes=finding.code)).compare(robots, "Bingbot").relation == "equal"
    assert len(applied) == 2
    of_key = next(finding for finding in found if finding.line == 2 and finding.fix and finding.fix.edit)
    assert (of_key.fix.edit.text, of_key.fix.keeps_verdicts, of_key.fix.is_applied) == ("Disallow: /a # why", False, False)
    severe = robots.lint(severity="error")
    assert list(severe) == [finding for finding in found if finding.severity == "error"] != list(found)
    assert reptile.Robots(BODY.encode()).lint() == found
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found and copy.withheld == found.withheld
    # Bytes that are not UTF-8 stay.
    body = b"User-agent: *\nDisallow: /a # \xff\nDisallow: /a/b\n"
    assert reptile.Robots(body).fix() == b"User-agent: *\nDisallow: /a # \xff\n"


def test_findings_that_are_off_by_default():
    closed, code = "User-agent: *\nDisallow: /old\n", "group-opens-on-purpose"
    open_to = "\nUser-agent: {}\nAllow: /\n".format
    rows = [
        (closed, {}, 0, {}),
        (closed.replace("old", "admin") + open_to("GPTBot"), {}, 1, {}),
        (closed + open_to("GPTBot"), {}, 0, {code: 1}),
        (closed + open_to("GPTBot") + open_to("CCBot"), {}, 0, {code: 2}),
        (closed + open_to("GPTBot") + open_to("CCBot"), {"enable": [code]}, 2, {}),
        (closed + open_to("GPTBot") + open_to("CCBot"), {"enable": code}, 2, {}),
        (closed + open_to("GPTBot"), {"enable": ["html"]}, 0, {code: 1}),
        (closed + open_to("GPTBot"), {"severity": "warning"}, 0, {}),
        (closed + "Disallow: y\n" + open_to("GPTBot"), {}, 1, {code: 1}),
    ]
    for body, options, count, withheld in rows:
        found = reptile.Robots(body).lint(**options)
        assert (len(found), found.withheld) == (count, withheld), body
    assert len(rows) == 9


def test_the_host_decides_whose_urls_rules_have():
    robots = reptile.Robots("user-agent: *\ndisallow: https://example.com/x\n")
    assert robots.lint(host="example.com") != robots.lint(host="example.org")


def test_invalid_options():
    robots = reptile.Robots(BODY)
    for call, text in [
        (lambda: robots.lint(severity="grave"), "severity: .*note"),
        (lambda: robots.lint(enable=["nothing"]), "enable: .*nothing"),
        (lambda: robots.fix(codes="nothing"), "codes: .*nothing"),
        (lambda: robots.fix(severity="grave"), "severity: "),
        (lambda: robots.fix(lines=[]), "an empty list of codes or lines fixes nothing"),
        (lambda: robots.fix(codes=[]), "an empty list of codes or lines fixes nothing"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_assertions():
    robots = reptile.Robots("user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images")
    first, second, third = robots.prove("disallow GPTBot /images/*\nGPTBot <= *  # no more\nsame CCBot Bingbot")
    assert (first.text, first.line, first.crawlers) == ("disallow GPTBot /images/*", 1, ["GPTBot"])
    assert (first.holds, first.proof, first.counterexample, first.missing) == (True, "holds", None, None)
    assert (second.holds, second.proof, second.line, second.counterexample.path) == (False, "counterexample", 2, "/cart")
    assert second.counterexample.decisions == [
        reptile.Decision(reptile.Verdict.ALLOW, None, "no rule matches"),
        reptile.Decision(reptile.Verdict.DISALLOW, 2, "rule"),
    ]
    assert (third.holds, third.proof, third.missing) == (False, "no-group", "CCBot")
    assert robots.prove("same CCBot Bingbot", allow_default=True)[0].holds is True
    with pytest.raises(TypeError, match="no truth value"):
        bool(first)
    assert len(robots.prove("disallow @ai-training /cart", allow_default=True)) > 1
    with pytest.raises(reptile.AssertionsError, match="no assertion in the whole list"):
        robots.prove("")


def test_mistakes_in_assertions():
    robots = reptile.Robots("")
    with pytest.raises(reptile.AssertionsError) as raised:
        robots.prove("deny x\n\nallow GPTBot private")
    assert [mistake.line for mistake in raised.value.mistakes] == [1, 3] and isinstance(raised.value, (reptile.Error, ValueError))
    assert all(mistake.message for mistake in raised.value.mistakes)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.mistakes) == (str(raised.value), raised.value.mistakes)
    # Mistakes that only the proof finds.
    with pytest.raises(reptile.AssertionsError, match="Googelbot"):
        robots.prove("disallow Googelbot /")


def test_relations():
    def compared(first, second, name="AnyBot", **options):
        return reptile.Robots(f"user-agent: *\n{first}").compare(reptile.Robots(f"user-agent: *\n{second}"), name, **options)

    for first, second, relation in [
        ("disallow: /a", "disallow: /a*", "equal"),
        ("disallow: /a\ndisallow: /b", "disallow: /a", "narrower"),
        ("disallow: /a", "disallow: /a\ndisallow: /b", "wider"),
        ("disallow: /a", "disallow: /b", "different"),
    ]:
        found = compared(first, second)
        assert (found.relation, found.equivalent, found.unproved) == (relation, relation == "equal", False)
        paths = [side.path for side in (found.first_only, found.second_only) if side.state == "path"]
        assert [example.path for example in found.counterexamples] == paths
        for example in found.counterexamples:
            verdicts = {decision.verdict for decision in example.decisions}
            assert verdicts == {"allow", "disallow"} and len(example.decisions) == 2
    cut_off = reptile.Comparison(reptile.Witness("unproved"), reptile.Witness("none"))
    assert cut_off.relation == "unproved" and cut_off.counterexamples == []
    # A name may occur in only one of the files.
    named = reptile.Robots("user-agent: Googelbot\ndisallow: /")
    other = reptile.Robots("user-agent: *\ndisallow: /a")
    assert named.compare(other, "Googelbot").relation == "narrower" and other.compare(named, "Googelbot").relation == "wider"
    with pytest.raises(reptile.CrawlerError, match="exact=True"):
        other.compare(other, "Googelbot")
    assert other.compare(other, "Googelbot", exact=True).relation == "equal"


def test_counterexamples_of_crawlers_in_a_set(web):
    gpt, other = web.agent("GPTBot"), web.agent("OtherBot")
    found = other.compare(gpt, "https://shop.example/")
    assert found.relation == "wider" and found.first_only.path == "/"
    assert [decision.verdict for decision in found.counterexamples[0].decisions] == ["allow", "disallow"]
    assert found.counterexamples[0].decisions[1].line == 10


def test_the_arguments_of_other_types():
    with pytest.raises(TypeError):
        reptile.Robots("").prove(b"disallow * /")
    with pytest.raises(TypeError):
        reptile.Robots("").fix(lines=["1"])
