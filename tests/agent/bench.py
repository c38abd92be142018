"""Everything a turn needs, in memory but for the files: a workspace, an editor, a scripted model and person."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tark_lsp.agent import history
from tark_lsp.agent.approval import Policy
from tark_lsp.agent.edit_check import EditCheck
from tark_lsp.agent.events import AgentEvent, CallChanged
from tark_lsp.agent.kinds import KINDS
from tark_lsp.agent.session import Session
from tark_lsp.agent.state import Turn, TurnEnd, TurnRequest, TurnResources
from tark_lsp.agent.turn import run_turn
from tark_lsp.messages import ApprovalLevel, Message, Mode, Text, ToolResult
from tark_lsp.settings import Limits
from tark_lsp.tools import load_tools
from tark_lsp.tools.tool import Selection, Tool, ToolContext
from tark_lsp.workspace.files import Workspace
from tests.agent.script import Answer, ScriptedModel
from tests.agent.scripted_user import Decision, ScriptedUser
from tests.memory import MemoryBuffers, MemoryEditor


@dataclass
class Bench:
    root: Path
    tools: dict[str, Tool[Any]] = field(default_factory=load_tools)
    mode: Mode = Mode.BUILD
    level: ApprovalLevel = ApprovalLevel.CAREFUL
    kind: str = "agent"
    rules: Policy = field(default_factory=lambda: Policy(ApprovalLevel.CAREFUL))
    limits: Limits = field(default_factory=Limits)
    edit_check: EditCheck | None = None

    def __post_init__(self) -> None:
        self.buffers = MemoryBuffers()
        self.editor = MemoryEditor(self.buffers)
        self.workspace = Workspace([self.root], self.buffers)
        self.user = ScriptedUser(self.workspace)
        self.model = ScriptedModel()
        self.session = Session("session-1", None, self.mode, self.level)
        self.context = ToolContext(self.workspace, self.editor, seen=self.session.seen, mode=self.mode)
        self.context.set_mode = self._set_mode
        self.heard: list[AgentEvent] = []
        self.turn: Turn | None = None

    def write(self, name: str, text: str) -> Path:
        """A closed file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def open(self, name: str, text: str) -> Path:
        """A document open in the editor, saved."""
        path = self.write(name, text)
        self.buffers.open(path, text)
        return path

    def text(self, name: str) -> str:
        return self.workspace.read(self.root / name).text

    def select(self, path: Path, start: int, end: int) -> None:
        self.context.selection = Selection(self.workspace.read(path), start, end)

    def make(self, *answers: Answer, decisions: list[Decision] | None = None) -> Turn:
        self.model.answers += answers
        self.user.decisions += decisions or []
        self.session.mode, self.session.approval, self.context.mode = self.mode, self.level, self.mode
        request = TurnRequest("turn-1", KINDS[self.kind], Message("user", (Text("do it"),)), "system")
        resources = TurnResources(self.model, self.tools, edit_check=self.edit_check)
        self.turn = Turn(
            request, self.session, resources, self.context, self.user, self.heard.append, self.rules, self.limits
        )
        return self.turn

    async def run(self, *answers: Answer, decisions: list[Decision] | None = None) -> TurnEnd:
        end = await run_turn(self.make(*answers, decisions=decisions))
        history.check_history(self.session.messages)
        return end

    def results(self) -> list[str]:
        """What the model was told, call by call, over all answers."""
        return [
            part.content for message in self.session.messages for part in message.parts if isinstance(part, ToolResult)
        ]

    def errors(self) -> list[str | None]:
        """The code of each result that is a failure, None for the others."""
        return [error_of(content).get("code") for content in self.results()]

    def offered(self, request: int = -1) -> set[str]:
        return {tool.name for tool in self.model.requests[request].tools}

    def statuses(self) -> dict[str, str]:
        """The last status of each call the listener heard of, by our id."""
        return {event.call_id: event.status.value for event in self.heard if isinstance(event, CallChanged)}

    def _set_mode(self, mode: Mode) -> None:
        self.session.mode = self.context.mode = mode


def error_of(content: str) -> Mapping[str, Any]:
    """The failure a result tells of, in the one line of JSON of tools.md; {} where it is none."""
    if not content.startswith('{"ok"'):
        return {}
    assert "\n" not in content
    told: dict[str, Any] = json.loads(content)
    assert told["ok"] is False
    assert set(told["error"]) >= {"code", "message", "retry_hint"}
    error: dict[str, Any] = told["error"]
    return error
