"""Decides about commands like a turn: preview of `run_command`, then `decide_call`. No command runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.agent.approval import Ask, Decision, Policy, decide_call
from tark_lsp.errors import FailureForModel
from tark_lsp.messages import ApprovalLevel
from tark_lsp.sandbox.planning import Places
from tark_lsp.sandbox.sandbox import Sandbox
from tark_lsp.tools import load_tools
from tark_lsp.tools.checkpoint_access import CheckpointAccess
from tark_lsp.tools.command_checkpoint import list_not_ignored
from tark_lsp.tools.editor import Diagnostic, Option
from tark_lsp.tools.language_servers import CodeQuestion
from tark_lsp.tools.sandbox_access import SandboxAccess
from tark_lsp.tools.tool import ToolContext
from tark_lsp.trust_report.promise import NotMeasured
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints
from tark_lsp.workspace.checkpoints.store import CheckpointStore
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Outcome, Refused

if TYPE_CHECKING:
    from tark_lsp.workspace.edits import ProposedEdit
    from tark_lsp.workspace.snapshot import Snapshot


class NoEditor:
    """An editor without documents and without a user. It implements both buffers and editor."""

    def get(self, path: Path) -> "Snapshot | None":  # noqa: ARG002  # as in all editors
        return None

    def paths(self) -> Sequence[Path]:
        return ()

    async def apply(self, edit: "ProposedEdit", label: str) -> Outcome:  # noqa: ARG002
        return Refused("no document is open")

    async def move(self, snapshot: "Snapshot", target: Path) -> Outcome | None:  # noqa: ARG002
        return None

    async def remove(self, snapshot: "Snapshot") -> Outcome | None:  # noqa: ARG002
        return None

    async def read_diagnostics(self, path: Path | None) -> Sequence[Diagnostic]:  # noqa: ARG002
        return ()

    async def ask_user(
        self,
        question: str,  # noqa: ARG002
        options: Sequence[Option] = (),  # noqa: ARG002
        *,
        multiple: bool = False,  # noqa: ARG002
        free_text: bool = True,  # noqa: ARG002
        by_model: bool = False,  # noqa: ARG002
    ) -> None:
        return None

    async def save_documents(self, paths: Sequence[Path]) -> Sequence[Path]:  # noqa: ARG002
        return ()

    def unsaved_documents(self, folder: Path) -> Sequence[Path]:  # noqa: ARG002
        return ()

    async def ask_language_servers(self, question: CodeQuestion) -> None:  # noqa: ARG002
        return None


async def working_sandbox(root: Path, workspace: Path) -> Sandbox:
    """A sandbox that passed its self-test. Raises NotMeasured."""
    home = root / "home"
    home.mkdir(parents=True, exist_ok=True)
    sandbox = Sandbox(Places(home, root / "caches", root / "state"), [workspace])
    if not await sandbox.check():
        raise NotMeasured(sandbox.why_not)
    return sandbox


class AssumedSandbox(Sandbox):
    """For decisions only: it always reports that it works, so that the decision depends only on the gate."""

    async def check(self) -> bool:
        return True


class Gate:
    """For one workspace that the user trusts."""

    def __init__(self, workspace: Path, sandbox: Sandbox | None = None, *, undoes: bool = False) -> None:
        """`sandbox`: None to assume one that works. `undoes`: changes of commands can be undone, which `balanced`
        needs; then each decision scans the files."""
        workspace.mkdir(parents=True, exist_ok=True)
        nowhere = workspace / "nowhere"
        found = sandbox or AssumedSandbox(Places(nowhere, nowhere, nowhere), [workspace])
        editor = NoEditor()
        self.context = ToolContext(Workspace([workspace], editor), editor)
        self.context.sandbox = SandboxAccess(lambda: found)
        if undoes:
            self.context.checkpoint = CheckpointAccess(_commands(workspace.with_name("checkpoints")), "turn")
        self._tool = load_tools()["run_command"]

    async def decide(self, command: str, level: ApprovalLevel = ApprovalLevel.CAREFUL) -> Decision:
        try:
            preview = await self._tool.preview(self._tool.arguments(command=command), self.context)
        except FailureForModel as error:
            return Ask(f"it is refused: {error}")
        return decide_call("run_command", preview, Policy(level, trusted=True), self.context.workspace)


def _commands(state: Path) -> CommandCheckpoints:
    """Records changes of commands, so that they can be undone."""
    state.mkdir(exist_ok=True)
    store = CheckpointStore(lambda: state / "checkpoints.sqlite3", lambda *_: None)
    checkpoints = Checkpoints(store, copies_folder=lambda: state / "copies")
    return CommandCheckpoints(checkpoints, lambda: state / "running", list_not_ignored)


async def why_asked(gate: Gate, commands: Sequence[str], level: ApprovalLevel) -> dict[str, str]:
    """The commands that need a question, with the reasons."""
    decisions = {command: await gate.decide(command, level) for command in commands}
    return {command: found.why for command, found in decisions.items() if isinstance(found, Ask)}
