"""Nothing of a repository runs when it is opened, before you trust it: only our ripgrep is started."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tark_lsp.trust_report.promise import Ground, Outcome, Promise
from tark_lsp.trust_report.tracing import can_trace
from tests.editors.behaviour import NEOVIM
from tests.editors.memory_editor import MemoryEditor
from tests.editors.question import INPUT, MESSAGE, Question
from tests.patience import HANGS
from tests.trust_report.hostile import REPOSITORIES, Trap

SCENARIO = """\
wire = "openai-chat"

[[reply]]
tool = "run_command"
text = "I have looked."

[[reply]]
calls = [
    { name = "list_directory", arguments = { path = ".", depth = 3, include_hidden = true } },
    { name = "find_files", arguments = { pattern = "**/*" } },
    { name = "search_text", arguments = { pattern = "x" } },
    { name = "read_file", arguments = { path = "README.md" } },
    { name = "read_diagnostics", arguments = {} },
    { name = "read_changes", arguments = {} },
    { name = "run_command", arguments = { command = "git status" } },
    { name = "run_command", arguments = { command = "make" } },
]
"""
STARTED = re.compile(r'execve\("([^"]*)", \[([^\]]*)\].* = 0$')
CONNECTED = re.compile(r"(?:connect|sendto)\(.*(sa_family=AF_(?:INET6?|UNIX)[^}]*)")


async def measure(ground: Ground) -> Outcome:
    strace = can_trace()
    failures: list[str] = []
    groups = [[name] for name in REPOSITORIES] if ground.thorough else [[*FEW]]
    for number, names in enumerate(groups):
        folder = ground.folder / str(number)
        found = [*await opened(folder, names, strace)]
        if found:
            failures.append(f"{', '.join(names)}: {'; '.join(found)}")
    tried = "hostile repositories opened, searched and talked about, under strace"
    if ground.thorough:
        return Outcome(tried, len(groups), tuple(failures))
    return Outcome(f"{tried} (all in one)", len(FEW), tuple(failures * len(FEW)))


FEW = (
    *("hooks", "filters", "planted programs", "an .env file", "our settings", "settings of VS Code"),
    *("settings of ripgrep", "links outside", "settings of shells", "servers of MCP and hooks", "prompts in the code"),
)
"""Those of a quick report: together in one folder."""


async def opened(folder: Path, names: list[str], strace: str) -> list[str]:
    """What a server did that opened a folder with these repositories in it, and what it should not have."""
    workspace, traces, home = folder / "workspace", folder / "traces", folder / "home"
    for path in (workspace, traces, home / ".config" / "tark"):
        path.mkdir(parents=True)
    for name in names:
        REPOSITORIES[name](workspace, Trap(traces))
    for path in traces.iterdir():  # git ran some of it while the repository was made
        path.unlink()
    (home / "scenario.toml").write_text(SCENARIO)
    config = f'model = "scripted/m"\n[providers.scripted]\nscenario = "{home}/scenario.toml"\n'
    (home / ".config" / "tark" / "config.toml").write_text(config)
    log = folder / "log"
    server = Path(sys.executable).with_name("tark-lsp")
    traced = (
        strace,
        "-f",
        "-qq",
        "-s",
        "200",
        "-e",
        "signal=none",
        "-e",
        "trace=execve,connect,sendto",
        "-o",
        str(log),
    )
    editor = MemoryEditor(NEOVIM, frozenset({"permission", "updates", "input", "clientState"}))
    await editor.start((*traced, str(server)), folder=workspace, env=environment(home, workspace))
    editor.policy = reject
    try:
        await use(editor, workspace)
    finally:
        await editor.connection.stop()
    found = [f"{path.name} ran" for path in traces.iterdir()]
    return [*found, *beyond(log, server)]


def reject(question: Question) -> None:
    if question.method == INPUT:
        question.answer({"answer": None})
    elif question.method == MESSAGE:
        question.choose(next(title for title in ("Reject", "Not now", "Not Now") if title in question.titles))
    else:
        question.reject()


def environment(home: Path, workspace: Path) -> dict[str, str]:
    """A careless user: programs of the folder come first in PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_KEY") and "TARK" not in name}
    folders = {"CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache", "DATA": ".local/share"}
    own = {f"XDG_{name}_HOME": str(home / folder) for name, folder in folders.items()}
    path = f"{workspace}/bin:.:{os.environ['PATH']}"
    ripgrep = {"RIPGREP_CONFIG_PATH": str(workspace / ".ripgreprc")}
    return {**kept, **own, **ripgrep, "HOME": str(home), "PATH": path, "TARK_KEYRING": "off", "TARK_SANDBOX": "off"}


async def use(editor: MemoryEditor, workspace: Path) -> None:
    """What an editor does by itself, and a turn that reads all it can."""
    for path in sorted(workspace.iterdir()):
        if path.is_file() and not path.is_symlink() and path.suffix in (".py", ".md", ".txt", ".json"):
            uri = editor.open(path)
            whole = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
            await editor.actions(uri, whole)
            await editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
            editor.connection.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    await editor.command("tark.state", {})
    turn = await editor.turn("look at the project")
    await editor.end(turn, HANGS)


def beyond(log: Path, server: Path) -> Iterator[str]:
    """Processes and connections that are not ours."""
    ripgrep = shutil.which("rg", path=str(server.parent))
    programs = []
    for line in log.read_text(errors="replace").splitlines():
        started, connected = STARTED.search(line), CONNECTED.search(line)
        if started:
            programs.append(started[1])
        if started and started[1] not in (str(server), ripgrep):
            yield f"started {started[1]} {started[2][:80]}"
        if connected:
            yield f"connected: {connected[1]}"
    if ripgrep not in programs:
        yield "ripgrep did not run, so the trace shows nothing"


PROMISE = Promise(70, "Opening a repository runs nothing of it, before you trust it", measure)
