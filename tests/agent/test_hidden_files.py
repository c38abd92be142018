"""What a rule, or their content, hides from the model: no tool shows it, and no search tells whether it matches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.agent.approval import Allow, Ask, Deny, Policy, decide_call
from tark_lsp.agent.rules import Rule
from tark_lsp.errors import ToolError
from tark_lsp.messages import ApprovalLevel
from tark_lsp.tools import load_tools
from tark_lsp.tools.command import Command
from tark_lsp.tools.results import result_text
from tark_lsp.tools.tool import Location, Preview, Risk, ToolKind
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.private import PrivatePaths
from tests.agent.bench import Bench
from tests.memory import MemoryBuffers

MANUAL = Policy(ApprovalLevel.MANUAL)
SECRET = "secret=hunter2\n"


async def search(bench: Bench, **arguments: Any) -> str:
    return await call(bench, "search_text", **arguments)


async def call(bench: Bench, name: str, **arguments: Any) -> str:
    bench.make()
    tool = load_tools()[name]
    valid = tool.arguments(**arguments)
    assert tool.run is not None
    return result_text(await tool.run(valid, bench.context, await tool.preview(valid, bench.context)))


@pytest.mark.parametrize(
    "rule", ["read_file(secrets/**)", "search_text(**/key.txt)", "read_file(secrets/*)", "read_files(/**/secrets/**)"]
)
@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": "secret=h"},
        {"pattern": "hunter", "context_lines": 3},
        {"pattern": ".", "max_results": 2},
        {"pattern": ".", "max_results": 1, "context_lines": 1},
        {"pattern": "unter", "path": "secrets"},
        {"pattern": "unter", "glob": "*.txt"},
    ],
)
async def test_a_search_says_the_same_whatever_is_in_a_hidden_file(
    bench: Bench, rule: str, arguments: dict[str, Any]
) -> None:
    """Otherwise a pattern finds out a secret letter by letter."""
    bench.rules = replace(MANUAL, deny=(Rule.parse(rule),))
    bench.write("a.txt", "one\ntwo\n")
    bench.write("z.txt", "three\nfour\n")
    found = set()
    for content in (SECRET, "nothing\n", SECRET * 50, ""):
        path = bench.write("secrets/key.txt", content)
        bench.buffers.open(path, content * 2)  # searched instead of the file
        found.add(await search(bench, **arguments))
        bench.buffers.close(path)
        found.add(await search(bench, **arguments))
    path.unlink()
    found.add(await search(bench, **arguments))
    (said,) = found
    assert "Files that a rule hides from you are not searched." in said
    assert "hunter2" not in said


async def test_a_rule_for_other_files_is_not_mentioned(bench: Bench) -> None:
    bench.rules = replace(MANUAL, deny=(Rule.parse("read_file(secrets/**)"),))
    bench.write("src/a.txt", "one\n")
    assert await search(bench, pattern="one", path="src") == "src/a.txt:1: one"


@pytest.mark.parametrize("specifier", ["secrets/**", "secrets/", "**/secrets/**", "**"])
@pytest.mark.parametrize("tool", ["search_text", "read_file"])
def test_a_folder_that_a_rule_covers_is_denied_itself(bench: Bench, specifier: str, tool: str) -> None:
    policy = replace(MANUAL, deny=(Rule("read_file", specifier),))
    preview = Preview("search", ToolKind.SEARCH, Risk.READ_ONLY, (Location(bench.root / "secrets"),))
    assert isinstance(decide_call(tool, preview, policy, bench.workspace), Deny)


@pytest.mark.parametrize("specifier", ["secrets/*.pem", "secrets/a/**", "secrets/?"])
def test_a_folder_with_other_files_is_not(bench: Bench, specifier: str) -> None:
    policy = replace(MANUAL, deny=(Rule("read_file", specifier),))
    preview = Preview("search", ToolKind.SEARCH, Risk.READ_ONLY, (Location(bench.root / "secrets"),))
    assert isinstance(decide_call("search_text", preview, policy, bench.workspace), Allow)


# Keys and credentials in the home folder

PRIVATE = [
    *(
        ".ssh",
        ".ssh/id_ed25519",
        ".SSH/config",
        ".gnupg/x/y",
        ".aws/credentials",
        ".kube/config",
        ".docker/config.json",
    ),
    *(".config/gh/hosts.yml", ".git-credentials", ".cargo/credentials.toml", "Library/Keychains/login.keychain-db"),
    ".docker/config.json",
    *("state/tark/keys/openai.json", "state/tark/sessions.sqlite3", ".config/tark/config.toml"),
]
PUBLIC = [
    ".bashrc",
    ".config",
    ".cargo/config.toml",
    "project/.ssh/config",
    ".sshx",
    ".config/tark/prompts/a.md",
    "a.py",
]


@pytest.fixture
def home(bench: Bench) -> Workspace:
    """The home folder as workspace."""
    private = PrivatePaths(bench.root, [bench.root / "state/tark", bench.root / ".config/tark/config.toml"])
    return Workspace([bench.root], MemoryBuffers(), private=private)


@pytest.mark.parametrize("name", PRIVATE)
def test_no_tool_reads_keys_and_credentials(home: Workspace, name: str) -> None:
    """Not even if a rule allows it, the user would say yes, or the path is a link. Rules of reading follow."""
    path = home.folders[0] / name
    policy = Policy(ApprovalLevel.BALANCED, allow=(Rule("read_file"), Rule("search_text")))
    inside = Preview("read", ToolKind.READ, Risk.READ_ONLY, (Location(path),))
    outside = Preview("read", ToolKind.READ, Risk.READ_ONLY, outside=(path,))
    for preview in (inside, outside):
        assert isinstance(decision := decide_call("read_file", preview, policy, home), Deny)
        assert "keys or credentials" in decision.why
    assert home.is_private(path)


@pytest.mark.parametrize("name", PUBLIC)
def test_other_files_are_read(home: Workspace, name: str) -> None:
    assert not home.is_private(home.folders[0] / name)


def test_links_to_them_are_refused(home: Workspace) -> None:
    root = home.folders[0]
    (root / ".ssh").mkdir()
    (root / "innocent").symlink_to(root / ".ssh")
    assert home.is_private(root / "innocent" / "id_ed25519")


def test_the_same_names_in_a_project_mean_nothing(tmp_path: Path) -> None:
    project = Workspace([tmp_path / "project"], MemoryBuffers(), private=PrivatePaths(tmp_path, ()))
    assert not project.is_private(tmp_path / "project/.docker/Dockerfile")
    assert project.is_private(tmp_path / ".docker/config.json")


async def test_a_search_of_the_home_folder_leaves_them_out(bench: Bench, home: Workspace) -> None:
    bench.write(".ssh/key.txt", SECRET)
    bench.write("notes.txt", SECRET)
    bench.workspace = bench.context.workspace = home
    said = await search(bench, pattern="hunter2", glob="**/.ssh/**")
    assert said.startswith("No line matches")
    assert (await search(bench, pattern="hunter2")).startswith("notes.txt:1: secret=hunter2")


async def test_they_are_not_listed(bench: Bench, home: Workspace) -> None:
    """Their names alone can tell something: a host, an account, a customer."""
    for name in (".ssh/id_acme", ".config/gh/hosts.yml", ".config/a.toml", ".yarnrc.yml", "state/tark/s.db", "b.py"):
        bench.write(name, SECRET)
    bench.workspace = bench.context.workspace = home
    listed = await call(bench, "list_directory", path=".", depth=3, include_hidden=True)
    assert listed.split() == [".config/", "a.toml", "b.py"]
    found = await call(bench, "find_files", pattern="**/{.*,.*/**,*}")
    assert set(found.split()) == {".config/a.toml", "b.py"}
    assert (await call(bench, "find_files", pattern=".ssh/*")).startswith("No file matches")
    assert (await call(bench, "list_directory", path=".config", include_hidden=True)).split() == ["a.toml"]


async def test_an_edit_of_them_says_why_it_is_refused(bench: Bench, home: Workspace) -> None:
    """The user reads it, too: there is no rule of theirs."""
    bench.rules = replace(MANUAL, deny=(Rule.parse("read_file(secrets/**)"),))
    bench.workspace = bench.context.workspace = home
    bench.make()
    for path, why in (
        (".ssh/authorized_keys", "holds keys or credentials, which no tool reads"),
        ("secrets/a", "is hidden by a rule"),
    ):
        tool = load_tools()["write_file"]
        with pytest.raises(ToolError, match=f"{path} {why}"):
            await tool.preview(tool.arguments(path=path, content="x\n"), bench.context)


# Commands that are too long to be compared with rules


def run(text: str, bench: Bench) -> Preview:
    command = Command(("/bin/bash", "-c", text), text, bench.root)
    return Preview("run", ToolKind.EXECUTE, Risk.RISKY, command=command)


LONG = {
    "many words after a wrapper": "sudo " * 4800,
    "a long command": "echo " + "x" * 24_000,
    "many braces": "{a," * 70 + "}" * 70,
    "braces that multiply": "{a,b}" * 30,
    "digits": "1" * 24_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_command_that_cannot_be_compared_is_asked_about(bench: Bench, text: str, kind: str) -> None:
    rules = (Rule("run_command", "rm *"), Rule("run_command", "* --force *"))
    policy = Policy(ApprovalLevel.BALANCED, deny=rules if kind == "deny" else (), ask=rules if kind == "ask" else ())
    decision = decide_call("run_command", run(text, bench), policy, bench.workspace)
    assert isinstance(decision, Ask)
    assert decision.once
    assert "too long to be compared with" in decision.why


def test_a_rule_for_all_commands_still_denies_it(bench: Bench) -> None:
    policy = replace(MANUAL, deny=(Rule("run_command", "rm *"), Rule("run_command")))
    assert isinstance(decide_call("run_command", run(LONG["digits"], bench), policy, bench.workspace), Deny)


def test_the_longest_that_is_compared(bench: Bench) -> None:
    policy = replace(MANUAL, deny=tuple(Rule("run_command", f"* --x{number} *") for number in range(20)))
    for text in ("1" * 20_000, "{a,b}" * 5 + " x" * 9000, "sudo " * 300 + "x", "> " * 9000, "\\\n" * 9000):
        assert isinstance(decide_call("run_command", run(text, bench), policy, bench.workspace), Ask)
