"""Session: what lasts from turn to turn: history, model, mode, level, grants, what the model has read."""

from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.agent.approval import Grant
from tark_lsp.context.system_part import SystemPart
from tark_lsp.context.tokens import Sizes, message_tokens
from tark_lsp.messages import ApprovalLevel, Message, Mode, Usage
from tark_lsp.workspace.snapshot import Snapshot


@dataclass(slots=True)
class Session:
    """`model` is `<provider>/<model>`, or None: the default, found when the first turn starts.

    `messages` are those the model is told: after a compaction the first of them is the summary of what was before.
    The tool results in the first `shortened` of them were shortened. `memory`: by workspace folder, what was told
    of the notes about it when the session began.
    """

    id: str
    model: str | None
    mode: Mode
    approval: ApprovalLevel
    thinking: str = "auto"
    messages: list[Message] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    seen: dict[Path, Snapshot] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    shortened: int = 0
    title: str = ""
    sizes: Sizes[Message] = field(default_factory=lambda: Sizes(message_tokens))
    unpriced: set[str] = field(default_factory=set)
    """Models of which it was said that their price is unknown, so that no limit in dollars holds."""
    memory: dict[Path, tuple[SystemPart, ...]] = field(default_factory=dict)
