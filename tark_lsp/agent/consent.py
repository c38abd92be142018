"""Decides by the current policy whether a call may run now, and asks the user if the policy requires it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tark_lsp.agent import approval, events
from tark_lsp.agent.events import CallChanged, CallStatus
from tark_lsp.agent.grants import grants_for
from tark_lsp.agent.receipting import YOU
from tark_lsp.agent.results import ReadyCall
from tark_lsp.agent.state import Turn
from tark_lsp.agent.taint import narrow
from tark_lsp.agent.user_interface import PermissionRequest, Permitted, Rejected, preview_digest
from tark_lsp.errors import ToolError
from tark_lsp.receipts.receipt import Step
from tark_lsp.tools.tool import Preview, Risk
from tark_lsp.tools.unsaved import describe_unsaved


def decide_now(
    turn: Turn, item: ReadyCall, preview: Preview, *, outside_selection: bool = False
) -> approval.Allow | approval.Ask:
    """The decision by the current mode, rules, grants and approval level. Raises ToolError `denied`."""
    if item.tool.risk is not Risk.READ_ONLY and item.tool.name not in turn.offered_tools():
        mode = turn.session.mode
        raise ToolError("denied", f"{item.tool.name} is not available in mode {mode}", hint="do without it")
    decision = approval.decide_call(
        item.tool.name, preview, turn.policy(), turn.context.workspace, outside_selection=outside_selection
    )
    match decision:
        case approval.Deny(why):
            digest = preview_digest(preview)
            turn.receipts.record(Step.REFUSED, item.call_id, item.tool.name, digest, preview.title, why)
            raise ToolError("denied", why, hint="do without it")
        case approval.Allow() if item.asked_by:
            return approval.Ask(item.asked_by, once=True)
        case approval.Ask() if item.asked_by:
            return replace(decision, why=f"{decision.why}; {item.asked_by}", once=True)
        case approval.Allow() if turn.loops.is_looping(item.tool.name, item.call.arguments):
            return approval.Ask("the same call was repeated with the same result", once=True)
        case _:
            return decision


async def require_permission(turn: Turn, item: ReadyCall, preview: Preview) -> None:
    """Returns if the call may run. Raises ToolError: `denied`, or `stale` if the call would now do something else."""
    digest = preview_digest(preview)
    decision = decide_now(turn, item, preview)
    if isinstance(decision, approval.Ask) and decision.for_trust:
        if await ask_trust(turn, item):
            decision = decide_now(turn, item, await preview_again(turn, item, preview))
        elif preview.mcp is not None:
            why = "no MCP server is used in a folder that the person does not trust"
            turn.receipts.record(Step.REFUSED, item.call_id, item.tool.name, digest, preview.title, why)
            raise ToolError("denied", why, hint="do without it")
    asked = with_receipt(turn, (item.call_id,), item.tool.name, digest, preview.title, decision)
    if isinstance(asked, approval.Allow):
        return
    if digest in turn.rejected:
        turn.receipts.record(Step.REFUSED, item.call_id, item.tool.name, digest, preview.title, f"{YOU}, before")
        raise ToolError("denied", "the person already rejected this call in this turn", hint="do without it")
    grants = () if asked.once else grants_for(preview, turn.context.workspace, digest[:12])
    if turn.context.outside_sources:
        grants = narrow(grants)
    request = PermissionRequest(
        (item.call_id,),
        preview.title,
        preview.kind,
        preview.risk,
        asked.why,
        digest,
        preview.command,
        grants=grants,
        unsaved=preview.unsaved,
    )
    permitted = await ask_permission(turn, request, item.tool.name)
    if permitted.save:
        await save_first(turn, preview.unsaved)
    await preview_again(turn, item, preview)
    turn.loops.forgive_call(item.tool.name, item.call.arguments)


async def preview_again(turn: Turn, item: ReadyCall, preview: Preview) -> Preview:
    """The preview of the call after a question. Raises ToolError `stale` if it would now do something else."""
    now = await item.tool.preview(item.arguments, turn.context)
    if preview_digest(now) != preview_digest(preview):
        raise ToolError("stale", "the effect of the call changed while the person decided", hint="make the call again")
    if not {*now.unsaved} <= {*preview.unsaved}:
        unsaved = describe_unsaved(now.unsaved, turn.context.workspace.display)
        raise ToolError("stale", f"{unsaved} since the person decided", hint="make the call again")
    return now


async def ask_trust(turn: Turn, item: ReadyCall) -> bool:
    """Whether the user trusts the workspace. They are asked only once."""
    if not turn.lasting.can_ask_trust():
        return turn.lasting.is_trusted()
    turn.emit(CallChanged(item.call_id, CallStatus.WAITING))
    async with turn.asking:
        turn.emit(events.Step("waiting for you: do you trust this folder?"))
        return await turn.lasting.ask_trust()


def with_receipt(
    turn: Turn,
    call_ids: Sequence[str],
    tool: str,
    digest: str,
    title: str,
    decision: approval.Allow | approval.Ask,
) -> approval.Allow | approval.Ask:
    """The decision. An `Allow` gets a receipt. If the receipt cannot be stored, the user is asked instead."""
    if isinstance(decision, approval.Ask):
        return decision
    problem = turn.receipts.record(Step.APPROVED, receipt_id(call_ids), tool, digest, title, decision.by)
    return approval.Ask(f"it would have no receipt: {problem}", once=True) if problem else decision


def receipt_id(call_ids: Sequence[str]) -> str:
    """The id for the receipt. Several calls can be one proposal, which is decided as a whole."""
    return " ".join(call_ids)


async def save_first(turn: Turn, paths: Sequence[Path]) -> None:
    """Saves these documents in the editor. Raises ToolError if it does not save all of them."""
    saved = {*await turn.context.editor.save_documents(paths)}
    if missing := [path for path in paths if path not in saved]:
        unsaved = describe_unsaved(missing, turn.context.workspace.display)
        raise ToolError(
            "unsupported",
            f"the editor did not save everything: {unsaved}, so the command was not run",
            hint="ask the person to save, then make the call again",
        )


async def ask_permission(turn: Turn, request: PermissionRequest, tool: str) -> Permitted:
    """Asks the user, one question at a time. Keeps their grant. Raises ToolError `denied` if they decline."""
    call, receipts = receipt_id(request.call_ids), turn.receipts
    receipts.record(Step.SHOWN, call, tool, request.digest, request.title, request.why)
    for call_id in request.call_ids:
        turn.emit(CallChanged(call_id, CallStatus.WAITING))
    async with turn.asking:
        turn.emit(events.Step(f"waiting for you: {request.title}"))
        answer = await turn.user.request_permission(request)
    match answer:
        case Permitted(grant):
            given = f"{YOU}, with the grant of {grant.covers}" if grant is not None else YOU
            receipts.record(Step.APPROVED, call, tool, request.digest, request.title, given)
            if grant is not None:
                turn.keep_grant(grant)
            return answer
        case Rejected(reason):
            turn.rejected.add(request.digest)
            why = f"{YOU}: {reason}" if reason else YOU
            receipts.record(Step.REFUSED, call, tool, request.digest, request.title, why)
            raise ToolError("denied", f"the person said no{': ' + reason if reason else ''}", hint="do without it")
