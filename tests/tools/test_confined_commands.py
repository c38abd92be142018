"""Commands that can write, in the sandbox: what they cannot do there, what they can ask for, what they leave behind."""

import asyncio
from pathlib import Path

import pytest

from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.tools.command import Command
from tark_lsp.tools.command_findings import LEAVE, PUT_BACK
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.workspace.private import PrivatePaths
from tests.sandbox.conftest import MISSING, make_sandbox
from tests.tools.conftest import Bench

CREATE = "mkdir -p a/.vscode && echo x >a/.vscode/tasks.json"
LIMITS = "in a sandbox, it has no network"


@pytest.fixture
async def confined(bench: Bench, tmp_path: Path) -> Bench:
    if MISSING:
        pytest.skip(MISSING)
    sandbox: list[Sandbox | None] = [make_sandbox(tmp_path, bench.root)]
    bench.ctx.sandbox = SandboxAccess(lambda: sandbox[0], lambda: sandbox.__setitem__(0, None))
    return bench


async def command_of(bench: Bench, text: str, **arguments: object) -> Command:
    command = (await bench.preview("run_command", command=text, **arguments)).command
    assert command is not None
    return command


async def test_a_command_that_no_rule_understands_runs_in_the_sandbox_too(confined: Bench, tmp_path: Path) -> None:
    assert (await command_of(confined, "echo $HOME >x")).confined
    told = await confined.call("run_command", command=f"echo one >inside; echo two >{tmp_path}/new; echo x >/var/new")
    assert (confined.root / "inside").read_text() == "one\n"
    assert not (tmp_path / "new").exists()
    assert not Path("/var/new").exists()
    assert LIMITS in told
    assert LIMITS not in await confined.call("run_command", command="echo three >inside")


async def test_what_it_needs_beyond_the_workspace_is_in_the_preview(confined: Bench, tmp_path: Path) -> None:
    other, own = tmp_path / "other", confined.root / "src"
    other.mkdir()
    own.mkdir()
    command = await command_of(confined, "make", network=True, writable_paths=[str(other), "src"])
    assert (command.network, command.writable) == (True, (other,))
    assert command.beyond == f", with the network and write access to {other}"
    assert not command.reads_only
    told = await confined.call("run_command", command=f"echo x >{other}/y", writable_paths=[str(other)])
    assert (other / "y").exists(), told


async def test_git_commit_gets_its_folder_if_it_asks_for_it(confined: Bench) -> None:
    await confined.call("run_command", command="git init -q", without_sandbox=True)
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
    assert LIMITS in await confined.call("run_command", command=commit)
    told = await confined.call("run_command", command=commit, writable_paths=[".git"])
    assert told.startswith("exit code 0"), told


async def test_without_a_sandbox_if_it_says_so(confined: Bench, tmp_path: Path) -> None:
    command = await command_of(confined, "ls", without_sandbox=True, network=True)
    assert (command.confined, command.reads_only, command.network, command.beyond) == (False, False, False, "")
    await confined.call("run_command", command=f"echo x >{tmp_path}/outside", without_sandbox=True)
    assert (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("/", "invalid_arguments", "too wide"),
        ("~", "invalid_arguments", "too wide"),
        ("..", "outside_workspace", "outside"),
        ("~/.local", "denied", "keys or credentials"),
        ("/no such folder", "not_found", "does not exist"),
    ],
)
async def test_paths_that_no_command_gets(confined: Bench, path: str, code: str, says: str) -> None:
    confined.ctx.workspace.private = PrivatePaths(Path.home(), ())
    failed = await confined.failure("run_command", command="make", writable_paths=[path])
    assert failed.code == code
    assert says in failed.message


@pytest.mark.parametrize("answer", [None, LEAVE.id, PUT_BACK.id])
async def test_a_protected_path_that_it_creates_is_moved_away_and_asked_about(
    confined: Bench, answer: str | None
) -> None:
    """Without an answer it stays away."""
    notices: list[str] = []
    confined.ctx.notify_user = notices.append
    confined.editor.answers = [] if answer is None else [answer]
    told = await confined.call("run_command", command=CREATE)
    assert (confined.root / "a/.vscode/tasks.json").exists() is (answer == PUT_BACK.id)
    assert "a/.vscode" in confined.editor.asked[0][0]
    (notice,) = notices
    assert f"[{notice}]" in told
    if answer != PUT_BACK.id:
        kept = Path(notice.rsplit(" ", 1)[1])
        assert (kept / "tasks.json").read_text() == "x\n"


async def test_what_took_its_place_meanwhile_is_not_overwritten(confined: Bench) -> None:
    class Creating(type(confined.editor)):  # type: ignore[misc]  # the class of the fixture
        async def ask_user(self, *_args: object, **_options: object) -> str:
            confined.write("a/.vscode/mine", "mine")
            return PUT_BACK.id

    confined.ctx.editor = Creating(confined.buffers)
    told = await confined.call("run_command", command=CREATE)
    assert "there is another a/.vscode now" in told
    assert [path.name for path in (confined.root / "a/.vscode").iterdir()] == ["mine"]


async def test_it_is_not_put_back_through_a_link(confined: Bench, tmp_path: Path) -> None:
    """Another turn's command can make one while the question is open."""
    outside = tmp_path / "other"
    outside.mkdir()

    class Swapping(type(confined.editor)):  # type: ignore[misc]  # the class of the fixture
        async def ask_user(self, *_args: object, **_options: object) -> str:
            (confined.root / "a").rename(confined.root / "b")
            (confined.root / "a").symlink_to(outside)
            return PUT_BACK.id

    confined.ctx.editor = Swapping(confined.buffers)
    assert "leads to another place now" in await confined.call("run_command", command=CREATE)
    assert not [*outside.iterdir()]


async def test_what_is_moved_away_after_a_cancellation_is_said(confined: Bench) -> None:
    notices: list[str] = []
    confined.ctx.notify_user = notices.append
    running = asyncio.ensure_future(confined.call("run_command", command=f"{CREATE}; touch begun; sleep 600"))
    while not (confined.root / "begun").exists():  # noqa: ASYNC110  # a program makes it
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (notice,) = notices
    assert notice.startswith("the command created a/.vscode, a protected path: it was moved to ")
    assert not confined.editor.asked
