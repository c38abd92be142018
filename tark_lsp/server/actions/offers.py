"""What the user can do at a place in a document, as a code action, a command or a lens. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.server.protocol.outgoing import range_json

QUICKFIX, REWRITE = "quickfix", "refactor.rewrite.tark"


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that the user can do. `preferred`: an editor's key for "fix this" does it."""

    title: str
    command: str
    argument: dict[str, Any]
    kind: str = REWRITE
    preferred: bool = False

    @property
    def as_command(self) -> dict[str, Any]:
        """LSP's `Command`, for clients without code action literals."""
        return {"title": self.title, "command": self.command, "arguments": [self.argument]}

    def as_action(self, *, preferable: bool) -> dict[str, Any]:
        """LSP's `CodeAction`. `preferable`: the client supports `isPreferred`."""
        action: dict[str, Any] = {"title": self.title, "kind": self.kind, "command": self.as_command}
        if self.preferred and preferable:
            action["isPreferred"] = True
        return action

    def as_lens(self, line: int) -> dict[str, Any]:
        return {"range": range_json(line, 0, line, 0), "command": self.as_command}

    def is_wanted(self, only: Sequence[str] | None) -> bool:
        """LSP 3.17, `CodeActionContext.only`: a kind includes its sub-kinds (`a.b` is in `a`), and "" is all."""
        return not only or any(not kind or self.kind == kind or self.kind.startswith(f"{kind}.") for kind in only)
