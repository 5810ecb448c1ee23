"""Static types: the stubs match the module, and type checkers reject the truth value of a verdict."""

import importlib.util
import inspect
import pathlib
import pydoc
import shutil
import subprocess
import sys

import pytest

import reptile

PROGRAM = """
import datetime
from collections.abc import Iterator

import reptile

now = datetime.datetime.now(datetime.timezone.utc)
web: reptile.Set = reptile.compile({"https://example.com/robots.txt": ""}, at=now)
agent: reptile.Agent = web.agent("GPTBot")
verdict: reptile.Verdict = agent.decide("https://example.com/")
is_allowed: bool = verdict == "allow" or verdict is reptile.Verdict.UNKNOWN
if verdict == reptile.Verdict.ALLOW:
    print(f"{verdict}")
origins: Iterator[str] = iter(web)
line: int | None = agent.explain(b"https://example.com/").line
rows: list[object] = web.decide_many(["GPTBot"], ["https://example.com/", None], "verdict,line")["GPTBot:line"]
each: reptile.Verdicts = web.decide_each(["https://example.com/"], ["GPTBot", None], "agent", times=[now], headers=True)
is_known: bool = "https://example.com/" in web
found: reptile.Comparison = agent.compare(agent)
state: str = found.first_only.state
merged: reptile.Set = reptile.merge([web, "other.reptile"], "both.reptile", force=True)
crawler: reptile.Agent | None = web.agent_of_header(b"Mozilla/5.0")
access: str = agent.access("https://example.com/").access
once: tuple[reptile.Verdict, int | None] = reptile.OneShot("GPTBot").decide(b"", "/")
summary: reptile.Verdicts = web.summarize("GPTBot", ["example.com"])
explained: reptile.Explanation = web.explain("GPTBot", "https://example.com/", scope="www")
kind: str = agent.directives("https://example.com/")[0]["kind"]
purposes = web.decide_many("GPTBot", ["https://example.com/"], uses=["search"], purpose="search", unknown_usage="allow")
"""

# Each line uses a truth value, and is an error. The lines after it never run, so each line is in its own function.
TRUTHS = [
    "if verdict: pass",
    "if not verdict: pass",
    "while verdict: pass",
    "print(1 if verdict else 2)",
    "assert verdict",
    "if optional: pass",
    "if found: pass",
    "if found.first_only: pass",
    "if agent.access('/'): pass",
    "assert agent.permits_no_more_than(agent)",
]

USE = """
def f{}(verdict: reptile.Verdict, optional: reptile.Verdict | None, found: reptile.Comparison) -> None:
    {}
    print()
"""

BAD = PROGRAM + "".join(USE.format(number, truth) for number, truth in enumerate(TRUTHS))


def runs(module, *arguments, folder):
    made = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)], capture_output=True, text=True, cwd=folder
    )
    return made.returncode, made.stdout + made.stderr


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: types were NOT checked with it")


def pyright():
    """Returns the name of an installed program."""
    for name in ("basedpyright", "pyright"):
        found = shutil.which(name, path=pathlib.Path(sys.executable).parent)
        if found is not None and (name == "basedpyright" or shutil.which("node")):
            return found
    pytest.skip("neither pyright nor basedpyright is installed: types were NOT checked with them")


def test_the_stubs_match_the_module(tmp_path):
    needs("mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    code, text = runs("mypy.stubtest", "reptile._native", "--mypy-config-file", "mypy.ini", folder=tmp_path)
    assert code == 0, text


def test_mypy(tmp_path):
    needs("mypy")
    (tmp_path / "good.py").write_text(PROGRAM)
    # Errors in installed packages would not be shown.
    shutil.copytree(
        pathlib.Path(reptile.__file__).parent, tmp_path / "reptile", ignore=shutil.ignore_patterns("*.so", "*.pyd")
    )
    files = [f"reptile/{name}" for name in ("__init__.py", "_native.pyi", "_types.py")]
    code, text = runs("mypy", "--strict", "good.py", *files, folder=tmp_path)
    assert code == 0, text
    # mypy knows that the lines after a truth value never run, and reports them with this option.
    (tmp_path / "bad.py").write_text(BAD)
    code, text = runs("mypy", "--strict", "--warn-unreachable", "bad.py", folder=tmp_path)
    print(text)
    assert code == 1 and text.count("unreachable") >= len(TRUTHS) - 2, text


def test_pyright(tmp_path):
    program = pyright()
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "reportUnnecessaryComparison": false}')

    def errors(name):
        made = subprocess.run(
            [program, "--pythonpath", sys.executable, "--level", "error", name],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        return [line for line in made.stdout.splitlines() if " - error: " in line], made.stdout + made.stderr

    assert errors("good.py")[0] == [], errors("good.py")[1]
    found, text = errors("bad.py")
    rejected = [line for line in found if "Invalid conditional operand" in line]
    assert len(rejected) == len(TRUTHS), text


def test_everything_has_documentation():
    missing = []
    for name in reptile.__all__:
        value = getattr(reptile, name)
        if inspect.isclass(value) or callable(value):
            if not inspect.getdoc(value):
                missing.append(name)
        if inspect.isclass(value) and value.__module__.startswith("reptile"):
            for member, found in vars(value).items():
                if (
                    not member.startswith("_")
                    and not inspect.getdoc(found)
                    and not isinstance(found, (str, type(None)))
                ):
                    missing.append(f"{name}.{member}")
    assert missing == []
    shown = pydoc.plain(pydoc.render_doc(reptile))
    assert [name for name in reptile.__all__ if name not in shown] == ["__version__"]
