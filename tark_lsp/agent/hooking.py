"""Runs the hooks of a turn at their events. A hook can restrict calls or add text, but never allow more.

A hook that fails never ends a turn: the user gets a notice, and is asked about the call that the hook did not check.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tark_lsp.agent import events
from tark_lsp.agent.arguments import parse_arguments, parse_object
from tark_lsp.agent.drafts import on_top_of
from tark_lsp.agent.kinds import level_of, mode_of
from tark_lsp.agent.prompt import USER_SAYS
from tark_lsp.agent.results import ReadyCall
from tark_lsp.agent.state import Turn, TurnEnd
from tark_lsp.agent.user_interface import text_digest
from tark_lsp.context.hidden import without_hidden
from tark_lsp.context.system_part import escape_tags
from tark_lsp.errors import HookError, ToolError
from tark_lsp.messages import Message, StopReason, Text
from tark_lsp.receipts.receipt import Step
from tark_lsp.tools.tool import Preview
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.placing.thread import in_thread

if TYPE_CHECKING:  # loaded with the first hook
    from tark_lsp.hook_settings import HookEvent
    from tark_lsp.hooks.hook import Hook, HookAnswer

VERSION = 1
"""The version of the JSON that a hook gets (docs/hooks.md)."""
LONGEST_REASON = 500
FAILED = "the hook {} failed"


async def begin_turn(turn: Turn) -> None:
    """Runs `sessionStart` and `turnStart`. Their context becomes part of the prompt. Raises HookError for a refusal."""
    if not turn.hooks.hooks:
        return
    if not turn.policy().trusted and turn.lasting.can_ask_trust():
        async with turn.asking:
            turn.emit(events.Step("waiting for you: do you trust this folder? Hooks run only then"))
            await turn.lasting.ask_trust()
    told: list[str] = []
    about = {"prompt": turn.context.user_message, "kind": turn.request.kind.name}
    starts: tuple[HookEvent, ...] = ("turnStart",) if turn.session.messages else ("sessionStart", "turnStart")
    for event in starts:
        async for hook, answer in _answers(turn, event, about if event == "turnStart" else {}):
            if answer is not None and answer.deny is not None:
                raise HookError(f"the hook {hook.name} refused this turn: {_line(turn, answer.deny)}")
            told += [_context(turn, hook, answer)] if answer is not None and answer.context else []
    if told:
        turn.request.prompt = with_context(turn.request.prompt, "\n\n".join(told))


def with_context(prompt: Message, told: str) -> Message:
    """Adds the text of hooks to the prompt. The user's text stays last (`typed_text`), so no hook can imitate it."""
    parts = prompt.parts
    at = next((at for at, part in enumerate(parts) if isinstance(part, Text) and part.text.startswith(USER_SAYS)), None)
    if at is None:
        return replace(prompt, parts=(*parts, Text(f"\n\n{told}")))
    return replace(prompt, parts=(*parts[:at], Text(f"{told}\n\n"), *parts[at:]))


async def end_turn(turn: Turn, end: TurnEnd) -> None:
    """Runs `turnEnd`. After a cancellation, no hook is started."""
    if end.stop_reason is StopReason.CANCELLED:
        return
    paths = {turn.context.workspace.display(path): state for path, state in end.edits.items()}
    about = {"stopReason": str(end.stop_reason), "text": end.text, "edits": paths}
    try:
        async for _ in _answers(turn, "turnEnd", about):
            pass
    except asyncio.CancelledError:
        return  # the turn is over; only its hook was cancelled


async def before_tool(turn: Turn, item: ReadyCall) -> ReadyCall:
    """Runs `beforeTool`. Returns the call with the arguments that the hooks left. Raises ToolError `denied`."""
    if not turn.hooks.listening("beforeTool", item.tool.name):
        return item
    arguments = parse_object(item.call.arguments)
    given = {"tool": item.tool.name, "risk": item.tool.risk.name.lower()}
    for hook in turn.hooks.listening("beforeTool", item.tool.name):
        answer = await _run(turn, hook, {**given, "arguments": arguments})
        item = _apply(turn, item, hook, answer)
        if answer is None or answer.arguments is None or answer.arguments == arguments:
            continue
        written = json.dumps(answer.arguments, ensure_ascii=False)
        try:
            parsed = parse_arguments(item.tool, written)
        except ToolError as error:
            _notify(turn, f"the hook {hook.name} answered wrong arguments: {error.message}. They are not used.")
            item = replace(item, asked_by=FAILED.format(hook.name))
            continue
        arguments = dict(answer.arguments)
        item = replace(item, call=replace(item.call, arguments=written), arguments=parsed)
        _notify(turn, f"the hook {hook.name} changed the arguments of {item.tool.name}", "info")
        turn.hook_notes.setdefault(item.call.id, []).append(
            turn.context.masks.mask_text(f"A hook of the person ({hook.name}) changed the arguments to {written}")
        )
    return item


async def after_tool(turn: Turn, item: ReadyCall, result: str, *, failed: bool = False) -> None:
    """Runs `afterTool`. Its context follows the result."""
    if not turn.hooks.listening("afterTool", item.tool.name):
        return
    about = {
        "tool": item.tool.name,
        "arguments": parse_object(item.call.arguments),
        "status": "failed" if failed else "completed",
        "result": turn.context.masks.mask_text(result),
    }
    async for hook, answer in _answers(turn, "afterTool", about, item.tool.name):
        _apply(turn, item, hook, answer)


async def before_edit(turn: Turn, item: ReadyCall, preview: Preview) -> tuple[ReadyCall, Preview]:
    """Runs `beforeEdit`. Returns the edits with the hooks' changes to the lines of each edit. Raises ToolError
    `denied`."""
    if not turn.hooks.listening("beforeEdit", item.tool.name):
        return item, preview
    edits: list[ProposedEdit] = []
    for edit in preview.edits:
        path = turn.context.workspace.display(edit.place)
        for hook in turn.hooks.listening("beforeEdit", item.tool.name, *names_of(turn.context.workspace, edit)):
            about = {
                "tool": item.tool.name,
                "path": path,
                "from": _moved_from(turn, edit),
                "operation": edit.operation,
                "before": edit.base.text if edit.base.exists else None,
                "text": None if edit.removes else edit.after,
            }
            answer = await _run(turn, hook, about)
            item = _apply(turn, item, hook, answer)
            if answer is not None and answer.text is not None and not edit.removes:
                edit = await _with_text(turn, hook, edit, answer.text)  # the next hook gets it
        edits.append(edit)
    return item, replace(preview, edits=tuple(edits))


async def after_edits(turn: Turn, applied: Sequence[ProposedEdit]) -> None:
    """Runs `afterEdit` for the applied edits. It only observes."""
    for edit in applied:
        about = {
            "path": turn.context.workspace.display(edit.place),
            "from": _moved_from(turn, edit),
            "operation": edit.operation,
            "text": None if edit.removes else edit.after,
        }
        async for _ in _answers(turn, "afterEdit", about, "", *names_of(turn.context.workspace, edit)):
            pass


def names_of(workspace: Workspace, edit: ProposedEdit) -> list[str]:
    """Every name of every path that the edit changes: relative to its workspace folders, and absolute. So a hook for a
    file also runs if the file is moved away, and if there are several folders."""
    inside = [path.relative_to(one) for path in edit.paths for one in workspace.folders if path.is_relative_to(one)]
    return [path.as_posix() for path in (*inside, *edit.paths)]


def _moved_from(turn: Turn, edit: ProposedEdit) -> str | None:
    return turn.context.workspace.display(edit.path) if edit.target is not None else None


async def _with_text(turn: Turn, hook: "Hook", edit: ProposedEdit, text: str) -> ProposedEdit:
    from tark_lsp.hooks.hunk_text import keep_to_hunks

    own = on_top_of(turn.context.drafts.get(edit.path), edit)
    kept = await in_thread(keep_to_hunks, own, text)
    path = turn.context.workspace.display(edit.place)
    if kept.dropped:
        _notify(
            turn,
            f"the hook {hook.name} also changed text of {path} that is not part of the edit "
            f"({kept.describe_dropped}): those changes are dropped",
        )
    if kept.text == edit.after:
        return edit
    made = await in_thread(ProposedEdit.between, edit.base, kept.text)
    return replace(made, target=edit.target) if edit.target is not None else made


async def _answers(
    turn: Turn, event: "HookEvent", about: Mapping[str, Any], tool: str = "", *paths: str
) -> AsyncIterator[tuple["Hook", "HookAnswer | None"]]:
    for hook in turn.hooks.listening(event, tool, *paths):
        yield hook, await _run(turn, hook, about)


async def _run(turn: Turn, hook: "Hook", about: Mapping[str, Any]) -> "HookAnswer | None":
    """The answer of the hook. None if it failed; then the user gets a notice."""
    payload = {
        "version": VERSION,
        "event": hook.settings.on,
        "hook": hook.name,
        "sessionId": turn.session.id,
        "turnId": turn.request.id,
        "folders": [str(folder) for folder in turn.context.workspace.folders],
        "mode": str(mode_of(turn.request.kind, turn.session.mode)),
        "approval": str(level_of(turn.request.kind, turn.session.approval)),
        **about,
    }
    try:
        if not turn.policy().trusted:
            raise HookError("does not run in a folder that you do not trust")
        return await turn.hooks.run(hook, payload)
    except HookError as error:
        _notify(turn, f"the hook {hook.name} ({hook.settings.on}) {_line(turn, error.message)}")
        return None


def _apply(turn: Turn, item: ReadyCall, hook: "Hook", answer: "HookAnswer | None") -> ReadyCall:
    """Applies the context and decision of an answer to the call. Raises ToolError `denied`."""
    if answer is None:
        return replace(item, asked_by=FAILED.format(hook.name))
    if answer.context:
        turn.hook_notes.setdefault(item.call.id, []).append(_context(turn, hook, answer))
    if answer.deny is not None:
        why = f"the hook {hook.name} refused it: {_line(turn, answer.deny)}"
        name, arguments = item.tool.name, item.call.arguments
        turn.receipts.record(Step.REFUSED, item.call_id, name, text_digest([name, arguments]), name, why)
        raise ToolError("denied", why, hint="do without it")
    if answer.ask is not None:
        return replace(item, asked_by=f"the hook {hook.name} says: {_line(turn, answer.ask)}")
    return item


def _context(turn: Turn, hook: "Hook", answer: "HookAnswer") -> str:
    """The text of a hook, between tags that it cannot close. If the hook can reach the network, the text counts as from
    outside the workspace."""
    from tark_lsp.hooks.hook import LONGEST_CONTEXT

    if hook.reaches_network and (source := f"the hook {hook.name}") not in turn.context.outside_sources:
        turn.context.outside_sources.append(source)
    text = turn.context.masks.mask_text(without_hidden(answer.context)[0])
    if len(text) > LONGEST_CONTEXT:
        text = f"{text[:LONGEST_CONTEXT]}\n[cut: the hook said {len(text):,} characters]"
    return f'<hook name="{hook.name}">\n{escape_tags(text)}\n</hook>'


def _line(turn: Turn, text: str) -> str:
    """The text of a hook as one line, with secrets masked, because the hook can have read some."""
    return turn.context.masks.mask_text(" ".join(text.split()))[:LONGEST_REASON]


def _notify(turn: Turn, message: str, level: str = "warning") -> None:
    """Emits a notice, unless the turn already has the same one."""
    if message not in turn.hooks_told:
        turn.hooks_told.add(message)
        turn.emit(events.Notice(level, message))
