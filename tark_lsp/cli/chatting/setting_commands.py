"""The slash commands about settings: model, mode, approval level and thinking level."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings import Thinking

MAX_MODELS = 25
MODES: Mapping[str, str] = {
    Mode.ASK.value: "answers questions, changes nothing",
    Mode.PLAN.value: "proposes edits that you review at the end",
    Mode.BUILD.value: "edits files and runs commands that you allow",
}
APPROVALS: Mapping[str, str] = {
    ApprovalLevel.MANUAL.value: "everything asks for permission",
    ApprovalLevel.CAREFUL.value: "everything except reading asks for permission",
    ApprovalLevel.BALANCED.value: "fewer questions than careful",
}


class SettingCommands:
    def __init__(self, conversation: Conversation) -> None:
        self._chat = conversation
        self._screen = conversation.screen
        self._models: Sequence[Mapping[str, Any]] = ()

    async def model(self, wanted: str) -> None:
        ids = [str(model["id"]) for model in await self._listed()] if wanted else []
        matches = [model for model in ids if wanted.lower() in model.lower()]
        if wanted and ("/" in wanted or len(matches) == 1):
            await self._chat.current.change_settings(model=wanted if "/" in wanted else matches[0])
        elif wanted:
            self._print_matches(matches, wanted)
        self._screen.print_line(f"model: {one_line(self._chat.session.facts.model or 'none yet')}")

    async def model_ids(self) -> Sequence[tuple[str, str]]:
        return [(model["id"], model.get("name") or "") for model in await self._listed()]

    async def mode(self, wanted: str) -> None:
        await self._change("mode", wanted, MODES)

    async def approval(self, wanted: str) -> None:
        await self._change("approval", wanted, APPROVALS)

    async def thinking(self, wanted: str) -> None:
        await self._change("thinking", wanted, dict.fromkeys(get_args(Thinking), ""))

    async def _change(self, name: str, wanted: str, known: Mapping[str, str]) -> None:
        if wanted and wanted not in known:
            raise RequestError(f"{name} cannot be {one_line(wanted)!r}", hint=f"use one of {', '.join(known)}")
        if wanted:
            await self._chat.current.change_settings(**{name: wanted})
        value = getattr(self._chat.session.facts, name)
        about = known.get(value)
        self._screen.print_line(f"{name}: {value}{f' ({about})' if about else ''}")

    def _print_matches(self, matches: Sequence[str], wanted: str) -> None:
        if not matches:
            raise RequestError(f"no model matches {one_line(wanted)!r}", hint="write it as <provider>/<model>")
        for model in matches[:MAX_MODELS]:
            self._screen.print_line(f"  {one_line(model)}")
        if len(matches) > MAX_MODELS:
            self._screen.print_line(f"  and {len(matches) - MAX_MODELS} more", "dim")

    async def _listed(self) -> Sequence[Mapping[str, Any]]:
        if not self._models:
            self._models = (await self._chat.command("tark.models.list"))["models"]
        return self._models
