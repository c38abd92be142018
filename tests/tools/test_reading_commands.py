"""Commands that only read: which of them run in the sandbox without a question, and what they cannot do there."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Allow, Ask, Deny, Policy, decide_call
from tark_lsp.agent.grants import Grant
from tark_lsp.agent.rules import Rule
from tark_lsp.commands.grant_patterns import Pattern
from tark_lsp.errors import ToolError
from tark_lsp.messages import ApprovalLevel
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.tools.sandbox_access import NO_SANDBOX, SandboxAccess
from tark_lsp.workspace.files import Workspace
from tests.sandbox.conftest import MISSING, make_sandbox
from tests.tools.conftest import Bench

CAREFUL = Policy(ApprovalLevel.CAREFUL, trusted=True)
READING = ("cat a.txt | head -1", "ls -la", "grep -rn one .", "git status", "cd . && wc -l a.txt")


@pytest.fixture
async def confined(bench: Bench, tmp_path: Path) -> Bench:
    """A bench with a sandbox, in a workspace that the user trusts."""
    if MISSING:
        pytest.skip(MISSING)
    sandbox = make_sandbox(tmp_path, bench.root)
    assert await sandbox.check(), sandbox.why_not
    bench.ctx.sandbox = SandboxAccess(lambda: sandbox)
    bench.write("a.txt", "one\ntwo\n")
    return bench


async def decide(bench: Bench, command: str, policy: Policy = CAREFUL) -> Allow | Ask | Deny:
    preview = await bench.preview("run_command", command=command)
    return decide_call("run_command", preview, policy, bench.ctx.workspace)


@pytest.mark.parametrize(
    "command", ["cat a.txt | head -1", "ls -la", "grep -rn one .", "git status", "cd . && wc -l a.txt"]
)
async def test_commands_that_only_read_are_not_asked_about(confined: Bench, command: str) -> None:
    assert isinstance(await decide(confined, command), Allow)
    assert isinstance(await decide(confined, command, replace(CAREFUL, level=ApprovalLevel.BALANCED)), Allow)
    assert isinstance(await decide(confined, command, replace(CAREFUL, level=ApprovalLevel.MANUAL)), Ask)


@pytest.mark.parametrize(
    "command",
    [
        "touch b",
        "cat ../x",
        "cat .env",
        "cat link",
        "cat $HOME/.ssh/id_rsa",
        "git push",
        "cat a.txt >b",
        "rm -rf .",
        "head folder/credentials.json",
        "cat " + "a" * 20_000,
    ],
)
async def test_all_other_commands_are_asked_about(confined: Bench, tmp_path: Path, command: str) -> None:
    (tmp_path / "outside").write_text("x")
    (confined.root / "link").symlink_to(tmp_path / "outside")
    assert isinstance(await decide(confined, command), Ask)


@pytest.mark.parametrize(
    "command", ["cat d/link/../x", "od d/link/../../other/x", "cd d/inside && cat ../x", "cd d/link/../other && cat x"]
)
async def test_names_that_lead_out_after_a_link_are_asked_about(confined: Bench, tmp_path: Path, command: str) -> None:
    """`..` after a link is above the place that the link leads to."""
    (tmp_path / "outside").mkdir()
    confined.write("d/a.txt", "x")
    confined.write("src/deep/a.txt", "x")
    (confined.root / "d" / "link").symlink_to(tmp_path / "outside")
    (confined.root / "d" / "inside").symlink_to(confined.root / "src" / "deep")
    assert isinstance(await decide(confined, command), Ask)
    assert isinstance(await decide(confined, "cat d/../d/a.txt"), Allow)


async def test_a_part_that_only_reads_does_not_take_a_grant_to_another_folder(confined: Bench, tmp_path: Path) -> None:
    other = (tmp_path / "second").resolve()
    other.mkdir()
    confined.ctx.workspace = Workspace([confined.root, other], confined.buffers)
    (confined.root / "link").symlink_to(other)
    (confined.root / "sub").mkdir()
    grant = Grant("g", "session", "make ...", confined.root, patterns=(Pattern(("make",), any_arguments=True),))
    policy = replace(CAREFUL, grants=(grant,))
    assert isinstance(await decide(confined, "cd sub && make", policy), Allow)
    assert isinstance(await decide(confined, "cd ../second && make", policy), Ask)
    assert isinstance(await decide(confined, "cd link && make", policy), Ask)


async def test_git_is_asked_about_in_a_workspace_that_you_have_not_said_to_trust(confined: Bench) -> None:
    untrusted = replace(CAREFUL, trusted=False)
    for command in ("git status", "timeout 5 git status"):
        decision = await decide(confined, command, untrusted)
        assert isinstance(decision, Ask)
        assert decision.for_trust
    assert isinstance(await decide(confined, "ls", untrusted), Allow)


async def test_a_program_of_the_workspace_needs_trust(confined: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = confined.root / "bin"
    planted.mkdir()
    untrusted, path = replace(CAREFUL, trusted=False), os.environ["PATH"]
    for search, is_asked in ((f"{planted}:{path}", True), (f"{path}:{planted}", False), (f".:{path}", True)):
        (planted / "wc").touch(mode=0o755)
        monkeypatch.setenv("PATH", search)
        decision = await decide(confined, "timeout 5 wc -l a.txt", untrusted)
        assert (isinstance(decision, Ask) and decision.for_trust) is is_asked, search
        assert isinstance(await decide(confined, "timeout 5 wc -l a.txt"), Allow)


async def test_parts_that_only_read_are_known_one_by_one(confined: Bench) -> None:
    (confined.root / "sub").mkdir()

    async def reading(command: str) -> frozenset[int]:
        preview = await confined.preview("run_command", command=command)
        assert preview.command is not None
        return preview.command.reading_parts

    assert await reading("make test 2>&1 | tail -5") == {1}
    assert await reading("cd sub && make && cat a.txt") == {0, 2}
    assert await reading("cd sub && cat ../../x") == {0}  # both from the folder and from `sub`
    assert await reading("cat .env; ls") == {1}
    assert await reading("git status; ls") == {1}
    assert await reading("pushd /tmp; cat a.txt; ls") == frozenset()
    assert await reading("ls $X") == frozenset()


async def test_rules_and_trust_come_first(confined: Bench) -> None:
    deny, ask = Rule.parse("run_command(cat *)"), Rule.parse("run_command(cat *)")
    assert isinstance(await decide(confined, "cat a.txt", replace(CAREFUL, deny=(deny,))), Deny)
    assert isinstance(await decide(confined, "cat a.txt", replace(CAREFUL, ask=(ask,))), Ask)
    assert isinstance(await decide(confined, "cat a.txt", replace(CAREFUL, no_commands="not trusted")), Deny)
    required = replace(CAREFUL, no_commands="a sandbox is required", sandbox_required=True)
    assert isinstance(await decide(confined, "cat a.txt", required), Allow)
    assert isinstance(await decide(confined, "touch a.txt", required), Ask)
    confined.ctx.sandbox = NO_SANDBOX
    assert isinstance(await decide(confined, "cat a.txt", required), Deny)


async def test_files_that_a_rule_hides_are_not_read_by_a_command(confined: Bench) -> None:
    """A search of a folder above such a file asks: the command does not know the rule."""
    confined.write("hidden/key", "x")
    hidden = confined.root / "hidden"
    confined.ctx.is_read_denied = lambda path: path.is_relative_to(hidden)
    confined.ctx.may_hide_below = lambda folders: any(hidden.is_relative_to(folder) for folder in folders)
    assert isinstance(await decide(confined, "cat hidden/key"), Ask)
    assert isinstance(await decide(confined, "grep -r x ."), Ask)
    ask = Rule.parse("read_file(a.txt)")
    confined.ctx.is_read_denied = lambda _: False
    confined.ctx.may_hide_below = lambda _: False
    assert isinstance(await decide(confined, "cat a.txt", replace(CAREFUL, ask=(ask,))), Ask)


async def test_unsaved_text_is_asked_about(confined: Bench) -> None:
    confined.buffers.open(confined.root / "a.txt", "not saved\n")
    assert isinstance(await decide(confined, "cat a.txt"), Ask)


async def test_it_runs_where_it_is_and_sees_the_files(confined: Bench) -> None:
    told = await confined.call("run_command", command="cat a.txt && pwd")
    assert told.splitlines()[1:] == ["one", "two", str(confined.root)]
    assert (await confined.facts("run_command", command="grep x a.txt")).exit_code == 1
    assert [path.name for path in confined.root.iterdir()] == ["a.txt"]


async def test_a_command_that_does_not_end_is_ended(confined: Bench) -> None:
    failed = await confined.failure("run_command", command="seq 1 999999999999", timeout_seconds=0.5)
    assert failed.code == "timeout"


async def test_a_program_of_the_repository_with_the_name_of_another_one(
    confined: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ls` can be a script that the repository brings: the sandbox keeps it from writing and from other files."""
    bin_folder = confined.root / "bin"
    bin_folder.mkdir()
    (bin_folder / "ls").write_text("#!/bin/sh\ntouch planted; cat .env; echo ran\n")
    (bin_folder / "ls").chmod(0o755)
    confined.write(".env", "KEY=1")
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    told = await confined.call("run_command", command="ls")
    assert "ran" in told
    assert "KEY" not in told
    assert not (confined.root / "planted").exists()


async def test_a_sandbox_that_cannot_be_set_up_runs_nothing_unasked(confined: Bench, tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path, confined.root)
    await sandbox.check()
    found: list[Sandbox | None] = [sandbox]
    confined.ctx.sandbox = SandboxAccess(lambda: found[0], lambda: found.__setitem__(0, None))
    preview = await confined.preview("run_command", command="cat a.txt")
    assert preview.command is not None
    assert preview.command.reads_only
    (tmp_path / "state").write_text("no folder")  # so that covers and states cannot be kept
    with pytest.raises(ToolError, match="sandbox cannot be set up"):
        await confined.call("run_command", command="cat a.txt")
    assert isinstance(await decide(confined, "cat a.txt"), Ask)
