"""What a person can do at a place of a document, and how it is told as a code action, a command or a lens. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tark_lsp.server.protocol_json import range_json

QUICKFIX, REWRITE = "quickfix", "refactor.rewrite.tark"


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing a person can do here. `preferred` is what an editor's key for "just fix it" does."""

    title: str
    command: str
    argument: dict[str, Any]
    kind: str = REWRITE
    preferred: bool = False

    @property
    def as_command(self) -> dict[str, Any]:
        """LSP's `Command`: all that clients without code action literals know."""
        return {"title": self.title, "command": self.command, "arguments": [self.argument]}

    def as_action(self, *, preferable: bool) -> dict[str, Any]:
        """LSP's `CodeAction`; `preferable`: the client knows `isPreferred`."""
        action: dict[str, Any] = {"title": self.title, "kind": self.kind, "command": self.as_command}
        if self.preferred and preferable:
            action["isPreferred"] = True
        return action

    def as_lens(self, line: int) -> dict[str, Any]:
        return {"range": range_json(line, 0, line, 0), "command": self.as_command}

    def wanted(self, only: Sequence[str] | None) -> bool:
        """LSP 3.17, `CodeActionContext.only`: a kind holds those that go on after its dot; "" holds all."""
        return not only or any(not each or self.kind == each or self.kind.startswith(f"{each}.") for each in only)
