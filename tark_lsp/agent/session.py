"""Session: the state that persists between turns: history, model, mode, approval level, grants, and texts read."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tark_lsp.agent.grants import Grant
from tark_lsp.context.system_part import SystemPart
from tark_lsp.context.tokens import SizeCache, message_tokens
from tark_lsp.messages import ApprovalLevel, Message, Mode, ToolDefinition, Usage
from tark_lsp.workspace.snapshot import Snapshot

if TYPE_CHECKING:  # loaded with the first turn
    from tark_lsp.secrets.masks import SecretMasks


@dataclass(slots=True)
class Session:
    """`model` is `<provider>/<model>`; None is the default, which is determined when the first turn starts.

    `messages` are the messages for the model. After a compaction, the first one is the summary of the earlier ones. The
    tool results in the first `shortened` messages are shortened. `memory`: by workspace folder, the part of the system
    prompt about the model's notes, from the start of the session.
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
    sizes: SizeCache[Message] = field(default_factory=lambda: SizeCache(message_tokens))
    unpriced: set[str] = field(default_factory=set)
    """The models whose price is unknown, so that limits in dollars do not apply. The user was notified."""
    memory: dict[Path, tuple[SystemPart, ...]] = field(default_factory=dict)
    deferred: tuple[ToolDefinition, ...] = ()
    """The tools whose schemas the model gets only when it finds them. Stored, so that the list stays the same."""
    agent: str = ""
    """The name of the custom agent of the session's turns; empty if there is none."""
    usual_model: str | None = None
    """The session's model outside of modes that have their own model, while the session is in such a mode."""
    masks: "SecretMasks | None" = None
    """The tokens that replaced secrets; None until the first turn."""
