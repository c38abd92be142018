"""`tark.codeBlock.apply`: puts a code block of an answer into its file, without asking a model.

If the place is certain, the block becomes the tool calls that a model would have made, and a turn runs them. So the
rules of the workspace apply as to any edit, the user reviews and undoes it as usual, and the model of the next turn
knows about it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tark_lsp.agent.arguments import parse_arguments
from tark_lsp.agent.kinds import KINDS
from tark_lsp.errors import FailureForModel, FileMissing, OutsideWorkspace, ToolError
from tark_lsp.messages import ToolCall
from tark_lsp.server.commands import Command
from tark_lsp.server.documents.targets import Target, Targets
from tark_lsp.server.protocol import incoming
from tark_lsp.server.protocol.code_block import ApplyCodeBlock
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.tool_contexts import ToolContexts
from tark_lsp.server.turns.turn_workspaces import TurnWorkspaces
from tark_lsp.server.turns.turns import Turns
from tark_lsp.tools.masking import mask_file
from tark_lsp.tools.tool import ToolContext
from tark_lsp.workspace.placing.deadline import limited_time
from tark_lsp.workspace.placing.thread import in_thread
from tark_lsp.workspace.uris import path_from_uri

NO_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z]:[\\/]|[\\/]{2}|file:", re.IGNORECASE)
"""Matches URIs, drives and hosts. On Linux they would be names of new files inside the workspace."""

REASONS: Mapping[str, str] = {
    "not_found": "the text that it replaces is not there",
    "not_unique": "the text that it replaces is there several times",
}
"""Messages for the user by error code, because the messages of tools are worded for a model."""
REFUSED = frozenset({"denied", "outside_workspace"})


class NotPlaced(Exception):
    """`code`: one of protocol.md ("Code blocks"). The message is for the user."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls that apply the block. `name`: the displayed name of the file; "" for a patch of several files."""

    name: str
    calls: tuple[ToolCall, ...]
    target: Target | None = None


class CodeBlockCommand:
    def __init__(
        self,
        workspaces: TurnWorkspaces,
        contexts: ToolContexts,
        targets: Targets,
        sessions: Sessions,
        turns: Turns,
    ) -> None:
        self._workspaces = workspaces
        self._contexts = contexts
        self._targets = targets
        self._sessions = sessions
        self._turns = turns

    def commands(self) -> Iterable[Command]:
        yield Command("tark.codeBlock.apply", ApplyCodeBlock, self.apply)

    async def apply(self, request: ApplyCodeBlock) -> Any:
        try:
            plan = await self._plan(request)
        except NotPlaced as problem:
            return {"problem": {"code": problem.code, "message": str(problem)}}
        session = self._sessions.use(request.session_id) if request.session_id else self._sessions.new()
        words = f"Apply the code block to `{plan.name}`." if plan.name else "Apply the patch."
        start = incoming.StartTurn(prompt=words, no_document=True)
        return self._turns.start(start, KINDS["agent"], session, plan.target, calls=plan.calls)

    async def _plan(self, request: ApplyCodeBlock) -> Plan:
        """Raises NotPlaced."""
        from tark_lsp.server.code_blocks.forms import names_its_files  # loaded with the first block

        if names_its_files(request.text):
            return await self._checked(Plan("", _calls(("apply_patch", {"patch": request.text}))), self._context(None))
        if request.path is not None:
            return await self._plan_of(request, request.path, None)
        return await self._only_plan(request)

    async def _only_plan(self, request: ApplyCodeBlock) -> Plan:
        """The plan for the only file of `uris` to which the block certainly belongs."""
        plans: list[Plan] = []
        problems: list[NotPlaced] = []
        for uri in dict.fromkeys(request.uris):
            path = path_from_uri(uri)
            try:
                if path is None:
                    raise NotPlaced("refused", f"{uri[:200]} is not a file")
                plans.append(await self._plan_of(request, str(path), path))
            except NotPlaced as problem:
                problems.append(problem)
        if len(plans) == 1:
            return plans[0]
        if not plans and len(problems) == 1:
            raise problems[0]
        many = "it fits into several files" if plans else "it does not say which file it is about"
        raise NotPlaced("inexact", f"it is not certain where this code goes: {many}")

    async def _plan_of(self, request: ApplyCodeBlock, named: str, path: Path | None) -> Plan:
        """The plan for one file: `path` comes from an editor, `named` is a path in the workspace."""
        context = self._context(path)
        resolved = self._resolved(context, named, path)
        name = context.workspace.display(resolved)
        text = self._text_of(context, resolved)
        if text is None and not request.create:
            raise NotPlaced("missing", f"{name} does not exist")
        calls = await in_thread(_calls_for, request.text, request.language, name, text)
        if not calls:
            raise NotPlaced("inexact", f"it is not certain where this code goes in {name}")
        target = None
        if path is not None and text is not None:
            target = await self._targets.find_target(incoming.DocumentId(uri=path.as_uri()), None)
        return await self._checked(Plan(name, calls, target), context)

    def _context(self, document: Path | None) -> ToolContext:
        workspace, _ = self._workspaces.workspace_of(document)
        return self._contexts.context_of_previews(workspace)

    def _resolved(self, context: ToolContext, named: str, path: Path | None) -> Path:
        if path is None and NO_PATH.match(named):
            raise NotPlaced("refused", f"{named[:200]} is not the path of a file in the workspace")
        try:
            return context.workspace.resolve(named)
        except OutsideWorkspace as error:
            raise NotPlaced(
                "refused", f"{named[:200]} is outside the workspace, where nothing can be changed"
            ) from error

    def _text_of(self, context: ToolContext, path: Path) -> str | None:
        """None if the file does not exist. The text becomes part of a call, which the model of the next turn sees."""
        if context.is_read_denied(path) or context.is_read_asked(path):
            raise NotPlaced(
                "refused", f"a rule keeps {context.workspace.display(path)} from models, so it is not edited here"
            )
        try:
            return mask_file(context, path, context.workspace.read(path).text).text
        except FileMissing:
            return None
        except FailureForModel as error:
            raise NotPlaced("refused", error.message) from error

    async def _checked(self, plan: Plan, context: ToolContext) -> Plan:
        """Try the calls without changing anything. Raises NotPlaced if a call would fail."""
        tools = self._contexts.tools()
        before = len(context.drafts)
        try:
            for call in plan.calls:
                tool = tools[call.name]
                preview = await tool.preview(parse_arguments(tool, call.arguments), context)
                context.drafts.update({edit.path: edit for edit in preview.edits})
        except FailureForModel as error:
            where = f" to {plan.name}" if plan.name else ""
            why = error.message if call.name == "apply_patch" else REASONS.get(error.code, error.message)
            code = "refused" if error.code in REFUSED else "inexact" if plan.name else "does_not_fit"
            raise NotPlaced(code, f"the code block cannot be applied{where}: {why}") from error
        if len(context.drafts) == before or not any(edit.hunks or edit.operation for edit in context.drafts.values()):
            raise NotPlaced("unchanged", f"{plan.name or 'the workspace'} has this code already")
        return plan


def _calls_for(block: str, language: str, name: str, text: str | None) -> tuple[ToolCall, ...]:
    """The calls that put the block into the file with this text; None: a new file. Empty if no place is certain.

    Raises NotPlaced if the file already has the block.
    """
    from tark_lsp.server.code_blocks.forms import patch_of, replacements
    from tark_lsp.server.code_blocks.placing import find_replacement

    if (patch := patch_of(block, language, name)) is not None:
        return _calls(("apply_patch", {"patch": patch})) if text is not None else ()
    if (pairs := replacements(block)) is not None:
        edits = [("edit_file", {"path": name, "old_text": old, "new_text": new}) for old, new in pairs if old]
        if text is None and len(pairs) == 1 and not pairs[0][0]:
            return _calls(("write_file", {"path": name, "content": pairs[0][1]}))
        return _calls(*edits) if text is not None and len(edits) == len(pairs) else ()
    if text is None or not text.strip():
        return _calls(("write_file", {"path": name, "content": block}))
    try:
        with limited_time():
            found = find_replacement(text, block)
    except ToolError:
        return ()
    if found is None:
        return ()
    if found.old.replace("\r\n", "\n").rstrip() == found.new.replace("\r\n", "\n").rstrip():
        raise NotPlaced("unchanged", f"{name} has this code already")
    arguments = {"path": name, "old_text": found.old, "new_text": found.new, "line_hint": found.line}
    return _calls(("edit_file", arguments))


def _calls(*calls: tuple[str, dict[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(f"applied-{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls, 1)
    )
