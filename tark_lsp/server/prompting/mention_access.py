"""Access for mentions. They use the tools, rules and user of their turn, so they cannot read more than a tool could."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tark_lsp.agent.approval import Allow, Ask, Decision, Deny, Policy, decide_call
from tark_lsp.agent.taint import note_source
from tark_lsp.agent.user_interface import PermissionAnswer, PermissionRequest, Rejected, preview_digest
from tark_lsp.errors import TarkError
from tark_lsp.tools.places import Place
from tark_lsp.tools.results import result_text
from tark_lsp.tools.tool import Location, Preview, Risk, Tool, ToolContext, ToolKind

SECONDS = 30.0
"""The time limit for one mention, without the user's time to answer."""


@dataclass(frozen=True, slots=True)
class MentionAccess:
    """`request_permission` asks the user, as for a tool call. `rules` have the current level and grants."""

    context: ToolContext
    rules: Policy
    tools: Mapping[str, Tool[Any]]
    request_permission: Callable[[PermissionRequest], Awaitable[PermissionAnswer]]


class NotAvailable(TarkError):
    """The mentioned thing does not exist, or may not be read."""

    code = "not_found"


def why_not_readable(place: Place, access: MentionAccess) -> str:
    """Why read_file could not read the file without asking; empty if it could."""
    preview = Preview(
        f"read_file {place.shown}",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path),),
        outside=place.outside,
    )
    why = _why_not_allowed("read_file", decide_call("read_file", preview, access.rules, access.context.workspace))
    if not why:  # the caller reads it next
        note_source(access.context, access.tools["read_file"], preview, "")
    return why


async def run_tool(name: str, arguments: Mapping[str, Any], access: MentionAccess, *, asks: bool) -> str:
    """The result of a tool. `asks`: if the call needs permission, ask the user; otherwise, such a call is not made.

    Raises TarkError.
    """
    tool, context = access.tools[name], access.context
    try:
        wanted = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise NotAvailable("; ".join(item["msg"] for item in error.errors())) from error
    preview = await tool.preview(wanted, context)
    decision = decide_call(name, preview, access.rules, context.workspace)
    if isinstance(decision, Ask) and asks:
        await ask_user(preview, decision.why, access)
    elif why := _why_not_allowed(name, decision):
        raise NotAvailable(why)
    assert tool.run is not None  # no mention uses a tool that only makes edits
    try:
        async with asyncio.timeout(SECONDS) as deadline:
            result = result_text(await tool.run(wanted, context, preview))
            note_source(context, tool, preview, result)
            return result
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise NotAvailable(f"not done after {SECONDS:g} s") from error


async def ask_user(preview: Preview, why: str, access: MentionAccess) -> None:
    """Raises NotAvailable if the user declines."""
    access.context.report_progress(f"waiting for you: {preview.title}")
    request = PermissionRequest((), preview.title, preview.kind, preview.risk, why, preview_digest(preview))
    answer = await access.request_permission(request)
    if isinstance(answer, Rejected):
        raise NotAvailable(f"the person said no{': ' + answer.reason if answer.reason else ''}")


def _why_not_allowed(tool: str, decision: Decision) -> str:
    match decision:
        case Allow():
            return ""
        case Ask(why):
            return f"{why}, so the model has to ask for it with {tool}"
        case Deny(why):
            return why
