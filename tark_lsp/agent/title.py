"""Asks the model for the title of a session, after the first turn."""

from collections.abc import Callable

from tark_lsp.agent.events import EventListener
from tark_lsp.agent.side_request import SideRequest, send_side_request
from tark_lsp.agent.state import Turn
from tark_lsp.llm.request import ChatRequest
from tark_lsp.messages import Message, Text, Usage

ASKED = (
    "Name this conversation between a person and a coding assistant, so that the person finds it again in a list. "
    "Answer with the name alone: three to seven words in the language of the person, no quotes, no full stop."
)
MOST_TOKENS = 1_000
"""The limit of the answer. It is high because some models think first."""
TITLE = SideRequest("title", "title", longest=MOST_TOKENS, seconds=60.0)


async def ask_for_title(turn: Turn, shown: str, emit: EventListener, count: Callable[[Usage], None]) -> str:
    """The model's answer. `turn` has ended; `shown` is the part of it that is sent. Raises TarkError."""
    request = ChatRequest(
        ASKED, (Message("user", (Text(shown),)),), max_output_tokens=MOST_TOKENS, session_id=turn.session.id
    )
    return await send_side_request(TITLE, turn.resources.model, request, turn.requests + 1, emit, count)
