"""The pipelines and CI jobs of docs/scripting.md, as they stand there, with a script as the model."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.scripts import run_script, script_environment
from tests.cli.terminal import configure, environment

pytestmark = pytest.mark.slow  # each test starts programs

PAGE = (Path(__file__).parents[2] / "docs" / "scripting.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
JOBS = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SHOP = '"""A shop."""\n\n\ndef total(prices):\n    """The sum."""\n    return len(prices)\n'
TEST = """
import unittest

from src.shop import total


class Total(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
"""
Done = subprocess.CompletedProcess[str]


class Shop:
    """A repository, and the scripts that run in it."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "shop"
        (self.folder / "src").mkdir(parents=True)
        self.file = self.folder / "src" / "shop.py"
        self.file.write_text(SHOP)
        (self.folder / "test_shop.py").write_text(TEST)
        model = Path(__file__).with_name("scripting.toml")
        configure(home, f'model = "scripted/shop"\n[providers.scripted]\nscenario = "{model}"\n')
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = script_environment(home, {**environment(home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
        self.run("git init -q && git add --all && git commit -qm 'Open the shop'")

    def run(self, script: str, **env: str) -> Done:
        return run_script(script, self.folder, {**self.env, **env})

    def git(self, arguments: str) -> str:
        return self.run(f"git {arguments}").stdout


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def nothing(_: Shop) -> None:
    pass


def leaves_a_todo(shop: Shop) -> None:
    shop.file.write_text(SHOP.replace("\n\n\n", "\n# TODO: say more\n\n", 1))


def asks(_: Shop, done: Done) -> None:
    assert done.stdout == "It returns 0.\n"


def reviews(shop: Shop, done: Done) -> None:
    assert done.stdout == "1. `src/shop.py:2` leaves a TODO: `# TODO: say more`\n"
    assert shop.git("diff --stat")


def commits(shop: Shop, done: Done) -> None:
    assert shop.git("log -1 --format=%B") == "Explain the shop\n\nOne line says what it is for.\n\n"
    assert done.stderr == ""
    assert shop.run("tark-lsp sessions").stdout == "no sessions in this folder\n"
    assert "scripted/shop" in shop.run("tark-lsp usage").stdout


def changes_lines(shop: Shop, done: Done) -> None:
    assert (done.stdout, done.stderr) == ("Done.\n", "")
    assert shop.file.read_text().endswith("    return len(prices) if prices else 0\n")


def patches(shop: Shop, done: Done) -> None:
    assert "src/shop.py |" in done.stdout
    assert "def total(prices: list[int]) -> int:\n" in shop.file.read_text()


def names_a_module(_: Shop, done: Done) -> None:
    assert (done.stdout, done.stderr) == ("src/shop.py\n", "")


def lists_calls(_: Shop, done: Done) -> None:
    assert done.stdout == "search_text prices\n"


def passes_the_tests(shop: Shop, done: Done) -> None:
    assert done.stdout == "All of it passes.\n"
    assert shop.run("python3 -m unittest -q").returncode == 0


def is_limited(_: Shop, done: Done) -> None:
    assert done.stdout == "not finished within the limit\n"


def carries_a_plan_out(shop: Shop, done: Done) -> None:
    assert done.stdout == "Done.\n"
    assert (shop.folder / "plan.md").read_text() == "1. Move total() to src/sums.py.\n"
    assert (shop.folder / "src" / "sums.py").exists()
    assert shop.run("tark-lsp sessions").stdout.count("2 turns") == 1


PIPELINES: list[tuple[Callable[[Shop], None], Callable[[Shop, Done], None]]] = [
    (nothing, asks),
    (leaves_a_todo, reviews),
    (leaves_a_todo, commits),
    (nothing, changes_lines),
    (nothing, patches),
    (nothing, names_a_module),
    (nothing, lists_calls),
    (nothing, passes_the_tests),
    (nothing, is_limited),
    (nothing, carries_a_plan_out),
]


@pytest.mark.parametrize("number", range(len(PIPELINES)), ids=[check.__name__ for _, check in PIPELINES])
def test_a_pipeline(shop: Shop, number: int) -> None:
    assert len(SCRIPTS) == len(PIPELINES), "each pipeline of the page has its test"
    if "jq " in SCRIPTS[number] and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    prepare, check = PIPELINES[number]
    prepare(shop)
    done = shop.run(SCRIPTS[number])
    assert done.returncode == 0, done.stdout + done.stderr
    check(shop, done)


def steps(job: str, yaml: str) -> str:
    """The script of a job that calls `tark-lsp run`: the block scalar, as YAML reads it."""
    _, _, rest = yaml.partition(f"{job}:\n")
    for block in re.findall(r"^( *)-(?: run:)? \|\n((?:\1 +.*\n)+)", rest, re.MULTILINE):
        if "tark-lsp run" in block[1]:
            return textwrap.dedent(block[1])
    raise AssertionError(f"no job {job}")


HOSTS = ["GitHub", "GitLab"]


@pytest.mark.parametrize("host", [0, 1], ids=HOSTS)
def test_the_job_that_reviews(shop: Shop, host: int) -> None:
    shop.run("git branch main-copy && git update-ref refs/remotes/origin/main HEAD")
    base = shop.git("rev-parse HEAD").strip()
    leaves_a_todo(shop)
    shop.run("git commit -qam 'Say what it is'")
    summary = shop.folder / "review.md"
    names = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    done = shop.run(steps("review", JOBS[host]), **names)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert summary.read_text().startswith("1. `src/shop.py:2` leaves a TODO")


@pytest.mark.parametrize("host", [0, 1], ids=HOSTS)
def test_the_job_that_fixes_lint(shop: Shop, host: int) -> None:
    shop.file.write_text(SHOP.replace("def ", "import os\n\n\ndef ", 1))
    shop.run("git commit -qam 'Import os'")
    done = shop.run(steps("lint", JOBS[host]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert shop.file.read_text() == SHOP
    assert "-import os" in (shop.folder / "lint.patch").read_text()


SCHEMA = Path(__file__).parents[2] / "tark_lsp" / "cli" / "running" / "output.schema.json"


def objects(text: str) -> list[dict[str, Any]]:
    """The lines, each checked with the schema: it is valid, and has exactly the documented fields."""
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    found: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    for one in found:
        Draft202012Validator(schema).validate(one)
        assert one.keys() == schema["$defs"][one["type"]]["properties"].keys()
    return found


def test_the_page_documents_the_schema() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| .*?\| (.*) \|$", PAGE, re.MULTILINE))
    for kind, about in json.loads(SCHEMA.read_text())["$defs"].items():
        fields = [field for field in about["properties"] if field != "type"]
        named = re.sub(r"\(.*?\)", "", re.sub(r": the next part|; for the turn so far", "", rows[kind]))
        assert [field.strip() for field in named.split(",")] == fields


STREAMS: list[tuple[str, list[str], int, list[str]]] = [
    ("an edit", ["--yes", "src/shop.py:4-6", "Handle an empty list."], 0, ["toolCall", "edit"]),
    ("a patch", ["--patch", "Add type hints."], 0, ["toolCall", "edit"]),
    ("an edit is refused", ["Add type hints."], 1, ["toolCall", "edit"]),
    ("a command is refused", ["Make the tests pass."], 1, ["toolCall"]),
    (
        "a command is refused with --patch",
        ["--patch", "--allow", "run_command", "Make the tests pass."],
        1,
        ["toolCall"],
    ),
    ("a limit", ["--max-requests", "1", "Document every function."], 4, ["toolCall"]),
    ("no such model", ["--model", "nobody/x", "Hello."], 2, []),
    ("no such file", ["nothing.py", "Hello."], 2, []),
]


@pytest.mark.parametrize(("arguments", "code", "kinds"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS])
def test_every_object_is_as_the_schema_says(shop: Shop, arguments: list[str], code: int, kinds: list[str]) -> None:
    quoted = " ".join(f"'{argument}'" for argument in arguments)
    done = shop.run(f"tark-lsp run --json --quiet {quoted}")
    *events, end = objects(done.stdout)
    assert (done.returncode, end["type"], end["exitCode"]) == (code, "end", code), done.stderr
    assert {*kinds} <= {event["type"] for event in events}
    assert all(event["type"] != "end" for event in events)
    assert (events[0]["type"] == "start") if end["turnId"] else not events
    assert bool(end["refused"]) == (code == 1)
    assert bool(end["error"]) == (code == 2)
    assert (end["patch"] is not None) == ("--patch" in arguments)
    if "--yes" not in arguments:
        assert shop.git("status --short") == ""


ENDS: list[tuple[str, str, int, str, str]] = [
    ("the reader leaves", "tark-lsp run --json 'Where is the price list read?' > >(true) || true", 0, "", ""),
    ("a file in place of the prompt", "tark-lsp run src/shop.py", 2, "", "'src/shop.py' is a file: add what to do"),
    ("a long prompt", f"tark-lsp run --quiet '{'word ' * 20_000}return for an empty list'", 0, "It returns 0.\n", ""),
    ("a long glob", f"tark-lsp run '{'*' * 5_000}' 'Hello.'", 2, "", "the glob is too long"),
    ("a long file", f"tark-lsp run '{'a' * 5_000}:3' 'Hello.'", 2, "", "no such file"),
    ("a prompt like an option", "tark-lsp run --quiet -- '--return for an empty list'", 0, "It returns 0.\n", ""),
    (
        "two ranges",
        "tark-lsp run --quiet src/shop.py:4 test_shop.py:1-3 'return for an empty list'",
        0,
        "It returns 0.\n",
        "",
    ),
    (
        "a command without --allow",
        "tark-lsp run 'Make the tests pass.'",
        1,
        "*",
        "--allow 'run_command(python3 -m unittest -q)' would",
    ),
    (
        "a refused command, quietly",
        "tark-lsp run --quiet 'Make the tests pass.'",
        1,
        "*",
        "error: not done: run_command python3 -m unittest -q: ",
    ),
    (
        "a limit, quietly",
        "tark-lsp run --quiet --max-requests 1 'Document every function.'",
        4,
        "",
        "error: the run ended at its limit of requests",
    ),
    ("the session of nobody", "tark-lsp run --resume nobody 'Hello.'", 2, "", "there is no session 'nobody'"),
]


@pytest.mark.parametrize(
    ("script", "code", "stdout", "stderr"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS]
)
def test_how_it_ends(shop: Shop, script: str, code: int, stdout: str, stderr: str) -> None:
    done = shop.run(script)
    assert (done.returncode, stderr in done.stderr) == (code, True), done.stderr
    assert done.stdout == stdout or stdout == "*"
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
