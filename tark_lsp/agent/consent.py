"""May this call happen now? Decided by the policy of this moment, and asked of the person where that is due."""

from tark_lsp.agent import approval
from tark_lsp.agent.events import CallChanged, CallStatus, Step
from tark_lsp.agent.person import PermissionRequest, Permitted, Rejected, digest_of
from tark_lsp.agent.results import Ready
from tark_lsp.agent.state import Turn
from tark_lsp.errors import ToolError
from tark_lsp.tools.tool import Preview, Risk


def decide(
    turn: Turn, item: Ready, preview: Preview, *, outside_selection: bool = False
) -> approval.Allow | approval.Ask:
    """By the mode, rules, grants and level of this moment. Raises ToolError `denied`."""
    if item.tool.risk is not Risk.READ_ONLY and item.tool.name not in turn.offered():
        mode = turn.session.mode
        raise ToolError("denied", f"the mode is {mode} by now, which has no {item.tool.name}", hint="do without it")
    decision = approval.decide(
        item.tool.name, preview, turn.policy(), turn.context.workspace, outside_selection=outside_selection
    )
    match decision:
        case approval.Deny(why):
            raise ToolError("denied", why, hint="do without it")
        case approval.Allow() if turn.repetition.asks_first(item.tool.name, item.call.arguments):
            return approval.Ask("the same call was made again and again", once=True)
        case _:
            return decision


async def permit(turn: Turn, item: Ready, preview: Preview) -> None:
    """Returns where the call may run; raises ToolError `denied` where it may not."""
    asked = decide(turn, item, preview)
    if isinstance(asked, approval.Allow):
        return
    digest = digest_of(preview)
    if digest in turn.rejected:
        raise ToolError("denied", "the person rejected this already in this turn", hint="do without it")
    ids = (f"turn-{digest[:12]}", f"session-{digest[:12]}")
    grants = () if asked.once else approval.grants_for(preview, turn.context.workspace, ids)
    request = PermissionRequest(
        (item.call_id,), preview.title, preview.kind, preview.risk, asked.why, digest, preview.command, (), grants
    )
    await ask(turn, request)
    if digest_of(await item.tool.preview(item.arguments, turn.context)) != digest:
        raise ToolError("stale", "what the call would do changed while the person decided", hint="make the call again")
    turn.repetition.forgive(item.tool.name, item.call.arguments)


async def ask(turn: Turn, request: PermissionRequest) -> None:
    """One question at a time. Raises ToolError `denied` on a no, and keeps the grant of a yes."""
    for call_id in request.call_ids:
        turn.emit(CallChanged(call_id, CallStatus.WAITING))
    async with turn.asking:
        turn.emit(Step(f"waiting for you: {request.title}"))
        answer = await turn.person.permit(request)
    match answer:
        case Permitted(grant):
            if grant is not None:
                turn.keep(grant)
        case Rejected(reason):
            turn.rejected.add(request.digest)
            raise ToolError("denied", f"the person said no{': ' + reason if reason else ''}", hint="do without it")
