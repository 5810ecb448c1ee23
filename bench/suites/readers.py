"""Readers of other people's test suites: each returns a suite's checks, and the number of assertions that it does not read.

Tests in Java and Python are programs. `Program` reads their straight-line code, without running it: concatenated texts
that are assigned to names, parsed files, and assertions about URLs. Assertions in loops, or about anything other than
verdicts, are not read. Unread assertions about verdicts are counted.
"""

import ast
import codecs
import csv
import json
import re
from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """Whether a crawler may fetch a URL: `allow` or `disallow`."""

    body: bytes
    agent: str
    url: str


class Dictionary(NamedTuple):
    """A structured field's members: `y`, `n` or `other` for each key; or `not a dictionary`."""

    text: bytes


class Access(NamedTuple):
    """How much of a site a crawler may not fetch: `all`, `some` or `none`."""

    body: bytes
    agent: str


class Check(NamedTuple):
    """A question and the suite's answer. `case` is the place in the suite: file or test, and the check's number there."""

    case: str
    question: Verdict | Dictionary | Access
    expected: Any


def verdict(is_allowed):
    return "allow" if is_allowed else "disallow"


class Unread(Exception):
    """An expression or statement outside the subset."""


class Parsed(NamedTuple):
    """A robots.txt as a test parses it, for one crawler or, in Protego, for the crawler that a question names."""

    body: bytes
    agent: str | None


class Program:
    """Evaluates expressions of a test: constants, names, concatenated texts, and calls of the given functions.

    The Java expressions in these tests are also valid Python.
    """

    def __init__(self, functions, names):
        self.functions, self.names = functions, dict(names)

    def value(self, node):
        """Returns an expression's value. Raises `Unread`."""
        match node:
            case str():
                try:
                    return self.value(ast.parse(f"({node})", mode="eval").body)
                except SyntaxError as error:
                    raise Unread from error
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in self.names:
                return self.names[name]
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                parts = self.value(left), self.value(right)
                if all(isinstance(part, str) for part in parts):
                    return "".join(parts)
            case ast.JoinedStr(values=parts):
                return "".join(str(self.value(part)) for part in parts)
            case ast.FormattedValue(value=value):
                return self.value(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Denied(self.value(operand))
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name) as function) if name in self.functions:
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                if isinstance(function, ast.Attribute) and self.knows(function.value):
                    arguments.insert(0, function.value)
                try:
                    return self.functions[name](*map(self.value, arguments))
                except TypeError as error:
                    raise Unread from error
        raise Unread


    def knows(self, node):
        """Returns whether a receiver is anything but an unknown name, such as a class."""
        return not isinstance(node, ast.Name) or node.id in self.names


class Denied(NamedTuple):
    """A negated question."""

    question: Verdict


def robotstxt_spec_test(folder):
    """google/robotstxt-spec-test: text format of protocol buffers, with a robots.txt and questions about it in each test."""
    checks = []
    root = folder / "src/main/resources/CTC"
    for path in sorted(root.rglob("*.textproto")):
        fields, last, number = {}, None, 0
        for token in re.finditer(r'#[^\n]*|("(?:[^"\\\n]|\\.)*")|(\w+)|[^\s\w"#]', path.read_text(encoding="utf-8")):
            text, word = token.groups()
            if text is not None:
                fields[last] = fields.get(last, b"") + codecs.escape_decode(text[1:-1].encode())[0]
            elif word in ("ALLOWED", "DISALLOWED"):
                fields["expected"] = verdict(word == "ALLOWED")
            elif word is not None:
                last = word
                fields.pop(word, None)
            elif token[0] == "}" and "expected" in fields:
                number += 1
                # The fields of proto2 are empty by default.
                agent, url = (fields.pop(name, b"").decode() for name in ("useragent", "testurl"))
                question = Verdict(fields.get("robotstxt", b""), agent, url)
                checks.append(Check(f"{path.relative_to(root).with_suffix('')}:{number}", question, fields.pop("expected")))
    return checks, 0


def structured_field_tests(folder):
    """httpwg/structured-field-tests: the tests of dictionaries. `y` and `n` are tokens; other values state nothing."""
    checks = []
    for path in sorted(folder.glob("*.json")):
        tests = [test for test in json.loads(path.read_text(encoding="utf-8")) if test["header_type"] == "dictionary"]
        for number, test in enumerate(tests, 1):
            expected = "not a dictionary"
            if not test.get("must_fail"):
                is_token = lambda value, text: value == {"__type": "token", "value": text}  # noqa: E731
                words = {key: next((word for word in "yn" if is_token(value[0], word)), "other") for key, value in test["expected"]}
                expected = words
            # Fields with the same name are one list, in order (RFC 9110, section 5.3).
            text = ", ".join(test["raw"]).encode("latin-1")
            checks.append(Check(f"{path.stem}:{number}", Dictionary(text), expected))
    return checks, 0


def statements(body):
    """Yields Java statements without comments, each with its brace depth."""
    token = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|//[^\n]*|/\*.*?\*/|[{};]|[^"\'/{};]+|/', re.DOTALL)
    depth, text = 0, ""
    for found in token.finditer(body):
        piece = found[0]
        if piece.startswith(("//", "/*")):
            continue
        # A brace in an expression, as in an array, does not begin a block.
        if piece == "{" and not re.search(r"[=(,\]]\s*$", text) or piece == ";":
            yield depth, text.strip()
            text = ""
            depth += piece == "{"
        elif piece == "}" and not text.strip():
            depth -= 1
        else:
            text += piece


METHOD = re.compile(r"((?:@\w+\s*(?:\(.*\))?\s*)*)(?:(?:public|private|protected|static)\s+)*void\s+(\w+)\s*\((.*?)\)", re.DOTALL)
ASSIGNMENT = re.compile(r"(?:final\s+)?(?:[\w.]+(?:\[\])?\s+)?(\w+)\s*=(?!=)\s*(.+)", re.DOTALL)
ASSERTION = re.compile(r"assert(True|False|Equals)\s*\((.*)\)", re.DOTALL)


def crawler_commons(folder):
    """crawler-commons: two classes of JUnit tests. A test with parameters has a check for each row of its table."""
    checks, unread = [], 0
    root = folder / "src/test"

    def rules(agent, content, *_):
        agents = [agent] if isinstance(agent, str) else agent
        if len(agents) != 1:
            raise Unread
        return Parsed(content.encode() if isinstance(content, str) else content, agents[0])

    functions = {
        "createRobotRules": rules,
        "parseContent": lambda _, content, kind, agent: rules(agent, content),
        "isUserAgentAllowed": lambda body, agent, url: Verdict(body.encode(), agent, url),
        "isAllowed": lambda parsed, url: Verdict(*parsed, url),
        "getBytes": lambda text, encoding: text.encode(encoding),
        "readFile": lambda name: (root / "resources" / name.lstrip("/")).read_bytes(),
        "of": lambda *values: list(values),
        "asList": lambda *values: list(values),
    }
    constants = {"FAKE_ROBOTS_URL": "http://domain.com", "LF": "\n", "CR": "\r", "CRLF": "\r\n", "true": True, "false": False}
    constants |= {"UTF_8": "utf-8", "US_ASCII": "ascii", "ISO_8859_1": "latin-1"}
    for name in ("SimpleRobotRulesParserTest", "GoogleRobotsTxtTest"):
        test, rows, code = None, [], []
        code_of = list(statements((root / f"java/crawlercommons/robots/{name}.java").read_text(encoding="utf-8")))
        for depth, text in [*code_of, (1, "@Test void end()")]:
            method = METHOD.search(text) if depth == 1 else None
            if method is None:
                code.append((depth, text))
                continue
            if test is not None:
                found, lost = java_checks(f"{name}.{test}", rows, code, functions, constants)
                checks += found
                unread += lost
            annotations, test, parameters = method.groups()
            names = [parameter.split()[-1] for parameter in parameters.split(",") if parameter.strip()]
            texts = [ast.literal_eval(row) for row in re.findall(r'"(?:[^"\\]|\\.)*"', annotations)]
            cells = csv.reader(texts, quotechar="'", skipinitialspace=True)
            rows = [dict(zip(names, row, strict=True)) for row in cells] if "@CsvSource" in annotations else [{}]
            code = []
    return checks, unread


def java_checks(case, rows, code, functions, constants):
    """Returns the checks in a test method, and the number of assertions about URLs that are not read."""
    checks, unread, number = [], 0, 0
    for row in rows:
        program = Program(functions, constants | {name: text.lower() == "true" if name.startswith("is") else text for name, text in row.items()})
        for depth, text in code:
            assertion = ASSERTION.match(text)
            if assertion and re.search(r"\bis(UserAgent)?Allowed\(", text):
                number += 1
                try:
                    if depth > 2:
                        raise Unread
                    kind, arguments = assertion.groups()
                    values = ast.parse(f"f({arguments})", mode="eval").body.args
                    expected = program.value(values[0]) if kind == "Equals" else kind == "True"
                    question = program.value(values[kind == "Equals"])
                    if not isinstance(question, Verdict):
                        raise Unread
                    checks.append(Check(f"{case}:{number}", question, verdict(expected)))
                except (Unread, SyntaxError):
                    unread += 1
            elif (assignment := ASSIGNMENT.match(text)) is not None:
                name, expression = assignment.groups()
                program.names.pop(name, None)
                try:
                    if depth == 2:
                        program.names[name] = program.value(expression)
                except Unread:
                    pass
    return checks, unread


def protego(folder):
    """Protego: tests for pytest, with tables of parameters."""
    checks, unread = [], 0
    functions = {
        "parse": lambda content: Parsed(content.encode(), None),
        "can_fetch": lambda parsed, url, agent: Verdict(parsed.body, agent, url),
    }
    for path in sorted((folder / "tests").glob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        tests = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        for test in tests:
            number = 0
            for row in parameters(test):
                program = Program(functions, row)
                for node in test.body:
                    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                        name = node.targets[0].id
                        program.names.pop(name, None)
                        try:
                            program.names[name] = program.value(node.value)
                        except Unread:
                            pass
                        continue
                    asked = [call for call in ast.walk(node) if isinstance(call, ast.Attribute) and call.attr == "can_fetch"]
                    number += len(asked)
                    try:
                        if asked:
                            checks.append(python_check(f"{path.stem}.{test.name}:{number}", program, node))
                    except Unread:
                        unread += len(asked)
    return checks, unread


def parameters(test):
    """Returns the names and values of each row of `pytest.mark.parametrize`, or a single empty row."""
    for decorator in test.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, rows]):
                names = ast.literal_eval(names)
                names = names.split(",") if isinstance(names, str) else names
                if isinstance(rows, ast.List):
                    return [dict(zip(names, row, strict=True)) for row in ast.literal_eval(rows)]
    return [{}]


def python_check(case, program, node):
    """Returns the check of an assertion about a URL."""
    match node:
        case ast.Assert(test=ast.Compare(left=asked, ops=[ast.Eq()], comparators=[expected])):
            expected = program.value(expected)
        case ast.Assert(test=asked):
            expected = True
        case _:
            raise Unread
    question = program.value(asked)
    while isinstance(question, Denied):
        question, expected = question.question, not expected
    if not isinstance(question, Verdict):
        raise Unread
    return Check(case, question, verdict(expected))


def data_provenance(folder):
    """Data-Provenance-Collection: rules for each crawler, and how much each crawler may not fetch."""
    checks, unread = [], 0
    module = ast.parse((folder / "src/web_analysis/test_robots.py").read_text(encoding="utf-8"))
    tests = {node.name: node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    for name, test in tests.items():
        tables = {}
        for node in test.body:
            if isinstance(node, ast.Assign):
                try:
                    tables[node.targets[0].id] = ast.literal_eval(node.value)
                except ValueError:
                    pass
        if "expected" not in tables or not {"agent_rules", "robots_txt"} & tables.keys():
            unread += 1
            continue
        body = (tables.get("robots_txt") or robots_of(tables["agent_rules"])).encode()
        checks += [Check(f"{name}:{agent}", Access(body, agent), access) for agent, access in tables["expected"].items()]
    return checks, unread


def robots_of(agent_rules):
    """Returns a robots.txt with these rules."""
    lines = []
    for agent, rules in agent_rules.items():
        lines.append(f"User-agent: {agent}")
        pairs = [(key, path) for key, paths in rules.items() for path in paths]
        # A crawler without rules has a separate group.
        lines += [f"{key}: {path}" for key, path in pairs or [("Disallow", "")]]
    return "\n".join(lines)


READERS = {
    "robotstxt-spec-test": robotstxt_spec_test,
    "structured-field-tests": structured_field_tests,
    "crawler-commons": crawler_commons,
    "protego": protego,
    "data-provenance": data_provenance,
}
