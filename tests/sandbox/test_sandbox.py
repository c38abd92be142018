"""Runs in the sandbox: what they can do, what is found after them, and what the user is told if there is none."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tark_lsp.sandbox.covers import COVERED
from tark_lsp.sandbox.plan import Needs
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.program import find_bubblewrap
from tark_lsp.sandbox.sandbox import NotSandboxed, Run, Sandbox
from tark_lsp.workspace.protected import is_protected_path
from tests.patience import HANGS
from tests.sandbox.conftest import MISSING, PATH, Shell, make_sandbox, start

pytestmark = pytest.mark.slow


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that commands see: all below /tmp is hidden."""
    with tempfile.TemporaryDirectory(dir="/opt" if os.geteuid() == 0 else "/dev/shm") as name:
        yield Path(name)


async def exit_code(run: Run) -> int:
    return (await start(run))[0]


async def test_a_command_writes_to_the_workspace_and_leaves_no_covers(shell: Shell, root: Path) -> None:
    code, output, findings = await shell("echo hello >file; cat file; exit 3")
    assert (code, output) == (3, "hello\n")
    assert findings.is_clean
    assert [path.name for path in (root / "workspace").iterdir()] == ["file"]


async def test_new_protected_paths_are_moved_out_of_the_tree(shell: Shell, root: Path) -> None:
    """Also those in upper case, as file systems that ignore case would see them."""
    lines = "mkdir -p sub/.git/hooks x/.VSCODE; echo a >sub/.git/hooks/b; echo b >AGENTS.md; ln -s file x/.envrc"
    _, _, findings = await shell(lines)
    names = sorted(str(one.path.relative_to(root / "workspace")) for one in findings.quarantined)
    assert names == ["AGENTS.md", "sub/.git", "x/.VSCODE", "x/.envrc"]
    kept = {one.path.name: one.kept for one in findings.quarantined}
    assert (kept[".git"] / "hooks" / "b").read_text() == "a\n"
    assert kept[".envrc"].readlink() == Path("file")
    assert sorted(path.name for path in (root / "workspace").rglob("*")) == ["sub", "x"]


async def test_a_bare_repository_is_moved_away(shell: Shell, root: Path) -> None:
    """Git takes a folder with these names for a repository, and executes what its settings say."""
    _, _, findings = await shell("mkdir objects refs hooks; echo ref >HEAD; echo x >config; echo x >hooks/merge")
    assert sorted(one.path.name for one in findings.quarantined) == ["HEAD", "config", "hooks"]
    assert not (root / "workspace" / "HEAD").exists()


async def test_a_repository_in_two_folders_is_moved_away(shell: Shell) -> None:
    """Git takes a folder with `HEAD` and `commondir` for one, too, with the settings of the folder that this names."""
    lines = "mkdir -p x y/objects y/refs; echo ref: refs/heads/m >x/HEAD; echo ../y >x/commondir; echo >y/config"
    _, _, findings = await shell(lines)
    assert sorted(one.path.name for one in findings.quarantined) == ["HEAD", "commondir"]


@pytest.mark.parametrize("then", ["true", "mkdir node_modules; mv moved node_modules"])
async def test_a_protected_path_is_not_replaced_with_the_folder_above_it(shell: Shell, root: Path, then: str) -> None:
    """`AGENTS.md` is not looked for in `node_modules`."""
    workspace = root / "workspace"
    (workspace / "sub").mkdir()
    (workspace / "sub" / "AGENTS.md").write_text("mine\n")
    code, output, findings = await shell(f"mv sub moved; mkdir sub; echo evil >sub/AGENTS.md; {then}")
    assert code == 0, output
    assert [one.path for one in findings.quarantined] == [workspace / "sub" / "AGENTS.md"]
    assert {path.read_text() for path in workspace.rglob("AGENTS.md")} == {"mine\n"}


@pytest.mark.parametrize(
    "line",
    [
        "mv docs moved; mkdir docs; echo evil >docs/guide",
        "echo evil >evil; ln -sfn evil step",
        "echo evil >missing",
    ],
)
async def test_a_protected_link_that_leads_to_something_else_is_moved_away(shell: Shell, root: Path, line: str) -> None:
    workspace = root / "workspace"
    (workspace / "docs").mkdir()
    (workspace / "docs" / "guide").write_text("mine")
    (workspace / "step").symlink_to("docs/guide")
    (workspace / "CLAUDE.md").symlink_to("docs/guide")
    (workspace / "AGENTS.md").symlink_to("step")
    (workspace / ".cursorrules").symlink_to("missing")
    code, output, findings = await shell(line)
    assert code == 0, output
    moved = {one.path.name for one in findings.quarantined}
    assert moved
    for name in ("CLAUDE.md", "AGENTS.md", ".cursorrules"):
        link = workspace / name
        assert link.is_symlink() is (name not in moved)
        assert not link.exists() or link.read_text() == "mine"


async def test_a_command_whose_sandbox_is_killed_does_not_run_again(sandbox: Sandbox, root: Path) -> None:
    workspace = root / "workspace"

    async def start_and_kill(run: Run) -> int:
        process = await asyncio.create_subprocess_exec(*run.argv, env=run.env)
        while not (workspace / "begun").exists():  # noqa: ASYNC110  # a program makes it
            await asyncio.sleep(0.01)
        process.kill()
        return await process.wait()

    line = "echo x >>count; touch begun; sleep 600"
    code, _ = await sandbox.execute(("/bin/bash", "-c", line), workspace, PATH, start_and_kill)
    assert code == -9
    assert (workspace / "count").read_text() == "x\n"


async def test_links_that_lead_to_themselves(shell: Shell, root: Path) -> None:
    for name in (".envrc", ".env"):
        (root / "workspace" / name).symlink_to(name)
    code, output, findings = await shell("true")
    assert code == 0, output
    assert findings.is_clean


async def test_an_editor_that_replaces_a_protected_file_during_a_run_keeps_it(sandbox: Sandbox, root: Path) -> None:
    file = root / "workspace" / "AGENTS.md"
    file.write_text("old")
    async with sandbox.run(("/bin/bash", "-c", "true"), root / "workspace", PATH) as run:
        file.with_suffix(".new").write_text("new")
        file.with_suffix(".new").rename(file)
    assert run.findings.is_clean
    assert file.read_text() == "new"


async def test_links_to_secrets_and_links_that_lead_nowhere(shell: Shell, root: Path) -> None:
    workspace = root / "workspace"
    (workspace / "plain").write_text("KEY=1")
    (workspace / ".env").symlink_to("plain")
    (workspace / ".env.local").symlink_to("nowhere")
    (workspace / ".envrc").symlink_to("/nowhere/at/all")
    (root / "home" / "kept").write_text("KEY=2")
    (workspace / ".env.home").symlink_to(root / "home" / "kept")
    code, output, findings = await shell("cat .env plain .env.home; echo end")
    assert code == 0, output
    assert "KEY" not in output
    assert output.endswith("end\n")
    assert findings.is_clean


async def test_a_process_in_the_background_creates_nothing_after_the_search(shell: Shell, root: Path) -> None:
    """Bubblewrap returns before the last process is gone."""
    for _ in range(5):
        _, _, findings = await shell("for i in 1 2 3; do (while :; do : >AGENTS.md; done) & done; sleep 0.05")
        assert findings.problem == ""
        assert not (root / "workspace" / "AGENTS.md").exists()


async def test_no_handle_of_ours_is_open_inside(shell: Shell) -> None:
    _, output, _ = await shell("readlink /proc/$$/fd/*")
    assert len(output.splitlines()) >= 3
    assert ".info" not in output


async def test_a_replaced_link_at_a_protected_name_is_found(shell: Shell, root: Path) -> None:
    (root / "workspace" / "real").write_text("x")
    (root / "workspace" / ".envrc").symlink_to("real")
    _, output, findings = await shell("echo y >>real; rm .envrc; echo evil >.envrc")
    assert "Read-only file system" in output
    assert [one.kept.read_text() for one in findings.quarantined] == ["evil\n"]
    assert (root / "workspace" / ".envrc").readlink() == Path("real")


async def test_a_protected_path_that_moved_with_its_folder_is_only_reported(shell: Shell, root: Path) -> None:
    (root / "workspace" / "old").mkdir()
    (root / "workspace" / "old" / "AGENTS.md").write_text("x")
    _, _, findings = await shell("mv old new")
    workspace = root / "workspace"
    assert findings.moved == ((workspace / "old" / "AGENTS.md", workspace / "new" / "AGENTS.md"),)
    assert findings.quarantined == ()


async def test_what_was_granted_is_not_moved_away(shell: Shell, root: Path) -> None:
    folder = root / "workspace" / ".git"
    folder.mkdir()
    code, _, findings = await shell("echo x >.git/index", Needs(writable=(folder,)))
    assert code == 0
    assert findings.is_clean
    assert (folder / "index").exists()


async def test_a_read_only_workspace(shell: Shell, root: Path) -> None:
    (root / "workspace" / "file").write_text("x")
    code, output, _ = await shell("cat file; echo y >file", Needs(read_only=True))
    assert code != 0
    assert "Read-only file system" in output
    assert (root / "workspace" / "file").read_text() == "x"


async def test_the_network_is_there_if_it_was_granted(shell: Shell) -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        line = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
        assert (await shell(line, Needs(network=True)))[0] == 0
        assert (await shell(line))[0] != 0


async def test_no_variable_but_the_allowed_ones(shell: Shell) -> None:
    _, output, _ = await shell("env", SSH_AUTH_SOCK="/x", GIT_DIR="/y", LD_PRELOAD="z", LANG="C.UTF-8")
    names = {line.partition("=")[0] for line in output.splitlines()}
    assert "LANG" in names
    assert names.isdisjoint({"SSH_AUTH_SOCK", "GIT_DIR", "LD_PRELOAD"})


async def test_a_cancelled_run_is_looked_at_as_well(sandbox: Sandbox, root: Path) -> None:
    runs = []
    started = asyncio.Event()

    async def cancelled() -> None:
        async with sandbox.run(("/bin/true",), root / "workspace", PATH) as run:
            runs.append(run)
            started.set()
            (root / "workspace" / "AGENTS.md").write_text("x")
            await asyncio.Event().wait()

    task = asyncio.create_task(cancelled())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one.path.name for one in runs[0].findings.quarantined] == ["AGENTS.md"]
    assert list((root / "workspace").iterdir()) == []


async def test_runs_at_the_same_time_share_covers(sandbox: Sandbox, root: Path) -> None:
    workspace = root / "workspace"
    async with sandbox.run(("/bin/true",), workspace, PATH):
        async with sandbox.run(("/bin/true",), workspace, PATH):
            pass
        assert (workspace / ".git").is_dir()
    assert list(workspace.iterdir()) == []


async def test_what_one_run_may_create_is_not_taken_away_by_another(sandbox: Sandbox, root: Path) -> None:
    """`git init` with a grant, while another command runs."""
    workspace = root / "workspace"
    granted = Needs(writable=(workspace / ".git",))
    async with sandbox.run(("/bin/true",), workspace, PATH) as other:
        command = ("/bin/bash", "-c", "echo x >.git/config")
        code, run = await sandbox.execute(command, workspace, PATH, exit_code, granted)
        assert code == 0
        assert (workspace / ".git" / "config").read_text() == "x\n"
    assert run.findings.is_clean
    assert other.findings.is_clean
    assert (workspace / ".git" / "config").exists()


async def test_a_socket_that_goes_away_while_the_run_is_set_up(sandbox: Sandbox, root: Path, outside: Path) -> None:
    """Bubblewrap hides the socket of another program, which removes it at that moment."""
    path = outside / "editor.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        codes = []

        async def remove_and_start(run: Run) -> int:
            path.unlink(missing_ok=True)
            codes.append(await exit_code(run))
            return codes[-1]

        code, _ = await sandbox.execute(("/bin/bash", "-c", "exit 7"), root / "workspace", PATH, remove_and_start)
    assert (code, codes) == (7, [1, 7])


async def test_a_sandbox_that_never_comes_up_is_an_error(sandbox: Sandbox, root: Path) -> None:
    async def fail(_: Run) -> int:
        return 1

    with pytest.raises(NotSandboxed, match="could not set up"):
        await sandbox.execute(("/bin/true",), root / "workspace", PATH, fail)


async def test_a_cover_that_somebody_removes_meanwhile(sandbox: Sandbox, root: Path) -> None:
    folder = root / "workspace" / ".git"
    async with sandbox.run(("/bin/true",), root / "workspace", PATH) as run:
        folder.rmdir()
        folder.mkdir()
        (folder / "config").write_text("x")
    assert [one.path for one in run.findings.quarantined] == [folder]


async def test_what_does_not_exist_cannot_be_granted(sandbox: Sandbox, root: Path) -> None:
    with pytest.raises(NotSandboxed, match="does not exist"):
        async with sandbox.run(("/bin/true",), root / "workspace", PATH, Needs(writable=(root / "absent",))):
            pass
    assert list((root / "workspace").iterdir()) == []


async def test_a_path_that_became_a_link_is_not_granted(sandbox: Sandbox, root: Path) -> None:
    (root / "secret" / "x").mkdir(parents=True)
    (root / "workspace" / "out").symlink_to(root / "secret")
    needs = Needs(writable=(root / "workspace" / "out" / "x",))
    with pytest.raises(NotSandboxed, match="leads to another place"):
        async with sandbox.run(("/bin/true",), root / "workspace", PATH, needs):
            pass


async def test_a_workspace_with_the_home_folder_is_not_sandboxed(sandbox: Sandbox, root: Path) -> None:
    assert sandbox.is_effective
    whole = Sandbox(Places(root / "workspace", root / "caches", root / "state"), [root])
    with pytest.raises(NotSandboxed, match="contains your home folder"):
        async with whole.run(("/bin/true",), root, PATH):
            pass


async def test_without_bubblewrap_the_user_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    monkeypatch.setattr(sys, "path", [])
    without = make_sandbox(root)
    if not await without.check():  # unless the wheel is installed
        assert "bubblewrap is not installed" in without.why_not
    with pytest.raises(NotSandboxed):
        async with without.run(("/bin/true",), root / "workspace", PATH):
            pass


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "does not let users create namespaces"),
        ("exit 0", "could not start a command"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "self-test of the sandbox failed"),
    ],
)
async def test_a_sandbox_that_does_not_work_is_not_effective(
    root: Path, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    """The last program starts the command without any sandbox: the self-test notices."""
    (root / "bin").mkdir()
    (root / "bin" / "bwrap").write_text(f"#!/bin/sh\n{program}\n")
    (root / "bin" / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    broken = make_sandbox(root)
    assert not await broken.check()
    assert why in broken.why_not


async def test_the_self_test_is_planned_again_if_a_socket_that_it_hides_goes_away(
    root: Path, monkeypatch: pytest.MonkeyPatch, outside: Path
) -> None:
    """With its folder, just before bubblewrap starts: sockets of other programs come and go."""
    real = find_bubblewrap([root])
    if MISSING or real is None:
        pytest.skip(MISSING)
    gone = outside / "gone"
    gone.mkdir()
    (root / "bin").mkdir()
    (root / "bin" / "bwrap").write_text(f'#!/bin/sh\nrm -rf {gone}\nexec {real} "$@"\n')
    (root / "bin" / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(gone / "agent.sock"))
        listener.listen()
        sandbox = make_sandbox(root)
        assert await sandbox.check(), sandbox.why_not
    assert not gone.exists()


async def test_bubblewrap_in_the_workspace_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = root / "workspace" / "bwrap"
    planted.write_text(f"#!/bin/sh\ntouch {root}/planted\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{root / 'workspace'}{os.pathsep}{os.environ['PATH']}")
    await make_sandbox(root).check()
    assert not (root / "planted").exists()


def test_what_gets_a_cover_is_protected() -> None:
    """`.cargo` is not: a file in it is."""
    assert [name for name in COVERED if not is_protected_path(Path(name))] == [".cargo"]


NO_NAMESPACES = "echo 0 >/proc/sys/user/max_user_namespaces && exec "
CHECK = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.conftest import make_sandbox
sandbox = make_sandbox(Path(sys.argv[1]))
print(asyncio.run(sandbox.check()), sandbox.why_not)
"""


def test_where_nobody_can_make_namespaces_the_user_is_told(root: Path) -> None:
    """As in many containers: a real kernel that refuses them."""
    inside = [sys.executable, "-c", CHECK, str(root)]
    limited = ["unshare", "-Ur", "sh", "-c", NO_NAMESPACES + '"$@"', "sh", *inside]
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-Ur", "true"], check=False).returncode:
        pytest.skip("this test needs a user namespace itself")
    done = subprocess.run(limited, cwd=Path(__file__).parents[2], stdout=-1, text=True, timeout=HANGS, check=True)
    assert done.stdout.startswith("False ")
    assert "bubblewrap could not start a command" in done.stdout
    assert "namespaces" in done.stdout


async def test_the_command_runs_in_the_very_folder_that_was_named(sandbox: Sandbox, root: Path) -> None:
    folder = root / "workspace" / "sub"
    folder.mkdir()
    found = folder.stat()
    same = f"{found.st_dev}:{found.st_ino}"
    outputs: list[str] = []

    async def start_and_read(run: Run) -> int:
        code, output = await start(run)
        outputs.append(output)
        return code

    for cwd_id, expected in ((same, 0), (f"{found.st_dev}:{found.st_ino + 1}", 125)):
        code, _ = await sandbox.execute(("/bin/sh", "-c", "echo ran"), folder, PATH, start_and_read, cwd_id=cwd_id)
        assert code == expected, outputs
        assert ("ran" in outputs[-1]) == (not expected)
