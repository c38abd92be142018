"""The slash commands about settings: model, mode, approval level and thinking level."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from tark_lsp.cli.chatting.conversation import Conversation
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.visible import one_line
from tark_lsp.errors import RequestError
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings_types import Thinking

MAX_MODELS = 25
MODES: Mapping[str, str] = {
    Mode.ASK.value: "answers questions, changes nothing",
    Mode.PLAN.value: "proposes edits that you review at the end",
    Mode.BUILD.value: "edits files and runs commands that you allow",
}
APPROVALS: Mapping[str, str] = {
    ApprovalLevel.MANUAL.value: "everything asks for permission",
    ApprovalLevel.CAREFUL.value: "edits ask for permission, and commands that do not only read",
    ApprovalLevel.BALANCED.value: "the same here; in editors, edits are applied at once for your review",
}


class SettingCommands:
    def __init__(self, conversation: Conversation, keyboard: AnswerInput) -> None:
        self._chat = conversation
        self._keyboard = keyboard
        self._screen = conversation.screen
        self._models: Sequence[Mapping[str, Any]] = ()

    async def model(self, wanted: str) -> None:
        """Lists the models that match all words, and sets the one that the user selects. A whole id is set at once."""
        now = self._chat.session.facts.model
        models = await self._listed()
        found = [str(model["id"]) for model in models if _matches(model, wanted)]
        if wanted in found:
            chosen: str | None = wanted
        elif not found and "/" in wanted and " " not in wanted:
            chosen = await self._checked(wanted, now)
        elif not found and wanted:
            raise RequestError(f"no model matches {one_line(wanted)!r}", hint="write it as <provider>/<model>")
        else:
            chosen = found[0] if wanted and len(found) == 1 else await self._pick(found, now)
        if chosen is not None:
            await self._chat.current.change_settings(model=chosen)
        self._screen.print_line(f"model: {one_line(self._chat.session.facts.model or 'none yet')}")

    async def _checked(self, wanted: str, now: str | None) -> str | None:
        """The model, or the user's choice of another one if the provider does not list it. Raises ServerError."""
        check = await self._chat.command("tark.models.check", {"model": wanted})
        if check["message"]:
            self._screen.print_line(one_line(check["message"]), "yellow")
        return wanted if check["listed"] is not False else await self._pick(check["near"], now, anyway=wanted)

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
        facts = self._chat.session.facts
        value = getattr(facts, name)
        about = known.get(value)
        if wanted and value != wanted:
            about = f"at most that of the agent {facts.agent}"
        self._screen.print_line(f"{name}: {value}{f' ({about})' if about else ''}")

    async def _pick(self, models: Sequence[str], now: str | None, anyway: str = "") -> str | None:
        """Lets the user select a model by its number, or filter the list by words. `anyway`: an unlisted model, offered
        as the last choice."""
        if not models and not anyway:
            self._screen.print_line("no provider with a key lists models; /model <provider>/<model> sets any", "dim")
            return None
        shown = models[:MAX_MODELS]
        for number, model in enumerate(shown, 1):
            mark, style = ("*", "bold") if model == now else (" ", "none")
            self._screen.print_line(f"{number:3} {mark} {one_line(model)}", style)
        if anyway:
            shown = [*shown, anyway]
            self._screen.print_line(f"{len(shown):3}   use {one_line(anyway)} anyway")
        if len(models) > MAX_MODELS:
            self._screen.print_line(f"      and {len(models) - MAX_MODELS} more: type a part of a name", "dim")
        typed = await self._keyboard.ask("number, or a part of a name (Enter: no change): ")
        if not typed:
            return None
        if typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(shown):
            return shown[int(typed) - 1]
        matching = [model for model in models if _matches({"id": model}, typed)]
        if not matching:
            raise RequestError(f"no model matches {one_line(typed)!r}", hint="write it as <provider>/<model>")
        return matching[0] if len(matching) == 1 else await self._pick(matching, now)

    async def _listed(self) -> Sequence[Mapping[str, Any]]:
        if not self._models:
            self._models = (await self._chat.command("tark.models.list"))["models"]
        return self._models


def _matches(model: Mapping[str, Any], wanted: str) -> bool:
    text = f"{model['id']} {model.get('name') or ''}".lower()
    return all(word in text for word in wanted.lower().split())
