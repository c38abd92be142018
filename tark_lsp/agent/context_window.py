"""Keeps the requests of a turn within the context window of the model: shortens old results, compacts old messages."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.answer_limit import AnswerTooLong
from tark_lsp.agent.deferring import sent_definitions
from tark_lsp.agent.prompt_budget import PromptBudget
from tark_lsp.agent.spending import count_usage, require_turn_within_limits
from tark_lsp.agent.state import Turn
from tark_lsp.context.budget import COMPACT_AT, LARGEST_ERROR, SHORTEN_AT
from tark_lsp.context.tokens import format_tokens, message_tokens
from tark_lsp.errors import ContextOverflow, ModelError
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Usage
from tark_lsp.tools.tool import Tool


def measure_prompt(turn: Turn, tools: Mapping[str, Tool[Any]]) -> PromptBudget:
    """The prompt budget of the turn's next request."""
    definitions = sent_definitions(tools, turn.session.deferred)
    keep = turn.context.results.keep_result
    return PromptBudget(
        turn.session, turn.resources.model, turn.request.system, definitions, turn.resources.estimates, keep, turn.emit
    )


def refuse_too_long_prompt(turn: Turn) -> None:
    """Raises ContextOverflow if the prompt is too long even without any earlier messages."""
    budget = measure_prompt(turn, turn.offered_tools())
    load = budget.load()
    if load.window is None:
        return
    prompt = budget.tokens(message_tokens(turn.request.prompt))
    if prompt + load.fixed <= load.window * LARGEST_ERROR:
        return
    if load.fixed > load.window // 2 and prompt < load.window // 2:
        what = f"instructions and tools alone are about {format_tokens(load.fixed)} tokens"
        hint = "choose a model with a larger window"
    else:
        what = f"this prompt, with everything attached to it, is about {format_tokens(prompt)} tokens"
        hint = "put long text into a file and name the file, select less, or choose a model with a larger window"
    raise ContextOverflow(
        f"{what}, but {turn.resources.model.name} takes only {format_tokens(load.window)}; nothing was sent", hint=hint
    )


async def make_room(turn: Turn, budget: PromptBudget) -> None:
    """Shorten old results and compact old messages, as the window fills up. Raises LimitReached."""
    if budget.load().share >= SHORTEN_AT:
        budget.shorten()
    if budget.load().share >= COMPACT_AT and not turn.compacted:
        await compact_history(turn, budget)


async def make_room_after_overflow(turn: Turn, budget: PromptBudget) -> bool:
    """Free as much as possible, because the provider refused the request as too long. Returns whether that freed any.

    Raises LimitReached.
    """
    turn.resources.estimates.record_overflow(turn.resources.model.name, budget.load().sent)
    freed = budget.shorten(least_share=0)
    if budget.load().share >= COMPACT_AT and not turn.compacted:
        freed = await compact_history(turn, budget) or freed
    return freed


async def compact_history(turn: Turn, budget: PromptBudget) -> bool:
    """Compact the history, at most once per turn. If that fails, the user gets a notice and the turn continues."""
    from tark_lsp.agent.compaction import SUMMARY_REQUEST, CompactionRefused, compact_messages
    from tark_lsp.agent.side_request import send_side_request

    turn.compacted = True

    async def ask(request: ChatRequest) -> str:
        await require_turn_within_limits(turn)
        turn.requests += 1
        return await send_side_request(
            SUMMARY_REQUEST,
            turn.resources.model,
            replace(request, starts_turn=turn.requests == 1),
            turn.requests,
            turn.emit,
            partial(count_summary_usage, turn, budget),
        )

    try:
        await compact_messages(budget, turn.request.prompt, ask)
    except (CompactionRefused, ModelError, AnswerTooLong) as error:
        turn.emit(events.Notice("warning", f"The conversation is long but could not be summarized: {error}."))
        return False
    return True


def count_summary_usage(turn: Turn, budget: PromptBudget, usage: Usage) -> None:
    count_usage(turn, usage, budget.load().sent)
