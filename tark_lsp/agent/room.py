"""Before each request of a turn: is there room in the model's window, and what is done where there is little."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.endless import AnswerTooLong
from tark_lsp.agent.spending import count, within_limits
from tark_lsp.agent.state import Turn
from tark_lsp.agent.told import Told
from tark_lsp.context.budget import COMPACT_AT, LARGEST_ERROR, SHORTEN_AT
from tark_lsp.context.tokens import message_tokens, shown
from tark_lsp.errors import ContextOverflow, ModelError
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Usage
from tark_lsp.tools.tool import Tool


def told_of(turn: Turn, tools: Mapping[str, Tool[Any]]) -> Told:
    """What the next request of the turn tells."""
    definitions = tuple(tool.definition for tool in tools.values())
    keep = turn.context.results.keep
    return Told(turn.session, turn.model, turn.system, definitions, turn.estimates, keep, turn.emit)


def refuse_too_long(turn: Turn) -> None:
    """Raises ContextOverflow where the prompt could not be sent even if nothing had been said before it."""
    told = told_of(turn, turn.offered())
    load = told.load()
    if load.window is None:
        return
    prompt = told.tokens(message_tokens(turn.prompt))
    if prompt + load.fixed <= load.window * LARGEST_ERROR:
        return
    if load.fixed > load.window // 2 and prompt < load.window // 2:
        what = f"instructions and tools alone are about {shown(load.fixed)} tokens"
        hint = "choose a model with a larger window"
    else:
        what = f"this prompt, with what it points at, is about {shown(prompt)} tokens"
        hint = "put long text into a file and name the file, select less, or choose a model with a larger window"
    raise ContextOverflow(
        f"{what}, and {turn.model.name} takes {shown(load.window)} in all; nothing was sent", hint=hint
    )


async def make_room(turn: Turn, told: Told) -> None:
    """Shortens old results or sums up what was said before, where the window is that full. Raises LimitReached."""
    if told.load().share >= SHORTEN_AT:
        told.shorten()
    if told.load().share >= COMPACT_AT and not turn.compacted:
        await sum_up(turn, told)


async def make_room_after_overflow(turn: Turn, told: Told) -> bool:
    """The provider said it was too long: whatever can be done at once. False: nothing. Raises LimitReached."""
    turn.estimates.overflowed(turn.model.name, told.load().sent)
    freed = told.shorten(least_share=0)
    if told.load().share >= COMPACT_AT and not turn.compacted:
        freed = await sum_up(turn, told) or freed
    return freed


async def sum_up(turn: Turn, told: Told) -> bool:
    """Once in a turn; what fails is said, and the turn goes on with the history as it was."""
    from tark_lsp.agent.aside import ask_aside
    from tark_lsp.agent.compaction import SUMMARY, GivenUp, compact

    turn.compacted = True

    async def ask(request: ChatRequest) -> str:
        await within_limits(turn)
        turn.requests += 1
        return await ask_aside(SUMMARY, turn.model, request, turn.requests, turn.emit, partial(counted, turn, told))

    try:
        await compact(told, turn.prompt, ask)
    except (GivenUp, ModelError, AnswerTooLong) as error:
        turn.emit(events.Notice("warning", f"The conversation is told as it is, though it is long: {error}."))
        return False
    return True


def counted(turn: Turn, told: Told, usage: Usage) -> None:
    count(turn, usage, told.load().sent)
