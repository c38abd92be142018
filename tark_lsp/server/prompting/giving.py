"""What mentions are given with: the tools, rules and person of one turn, so that none gives more than a tool would."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tark_lsp.agent.approval import Allow, Ask, Decision, Deny, Policy, decide
from tark_lsp.agent.person import Answer, PermissionRequest, Rejected, digest_of
from tark_lsp.errors import TarkError
from tark_lsp.tools.places import Place
from tark_lsp.tools.tool import Location, Preview, Risk, Tool, ToolContext, ToolKind

SECONDS = 30.0
"""For what one mention gives; waiting for the person is not in it."""


@dataclass(frozen=True, slots=True)
class Means:
    """`permit` asks the person, as it is asked for a call of the model's. `rules`: with the level and grants of now."""

    context: ToolContext
    rules: Policy
    tools: Mapping[str, Tool[Any]]
    permit: Callable[[PermissionRequest], Awaitable[Answer]]


class NotThere(TarkError):
    """What was mentioned is not to be had."""

    code = "not_found"


def withheld(place: Place, means: Means) -> str:
    """Why read_file would not give it without asking; empty: it would."""
    preview = Preview(
        f"read_file {place.shown}",
        ToolKind.READ,
        Risk.READ_ONLY,
        locations=(Location(place.path),),
        outside=place.outside,
    )
    return _unasked("read_file", decide("read_file", preview, means.rules, means.context.workspace))


async def by_tool(name: str, arguments: Mapping[str, Any], means: Means, *, asks: bool) -> str:
    """What a call of the tool gives. `asks`: the person is asked where that is due; else it is for the model to ask.

    Raises TarkError.
    """
    tool, context = means.tools[name], means.context
    try:
        wanted = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise NotThere("; ".join(each["msg"] for each in error.errors())) from error
    preview = await tool.preview(wanted, context)
    decision = decide(name, preview, means.rules, context.workspace)
    if isinstance(decision, Ask) and asks:
        await _ask(preview, decision.why, means)
    elif why := _unasked(name, decision):
        raise NotThere(why)
    assert tool.run is not None  # what is done by its edits alone is no mention
    try:
        async with asyncio.timeout(SECONDS) as deadline:
            return await tool.run(wanted, context, preview)
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise NotThere(f"not done after {SECONDS:g} s") from error


async def _ask(preview: Preview, why: str, means: Means) -> None:
    """Raises NotThere on a no."""
    means.context.report(f"waiting for you: {preview.title}")
    request = PermissionRequest((), preview.title, preview.kind, preview.risk, why, digest_of(preview))
    answer = await means.permit(request)
    if isinstance(answer, Rejected):
        raise NotThere(f"the person said no{': ' + answer.reason if answer.reason else ''}")


def _unasked(tool: str, decision: Decision) -> str:
    match decision:
        case Allow():
            return ""
        case Ask(why):
            return f"{why}, so the model has to ask for it with {tool}"
        case Deny(why):
            return why
