"""A server's questions to the user during a call, in both eras, and the answers."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from tark_lsp.errors import McpError
from tark_lsp.mcp.calls import Waiting
from tark_lsp.mcp.elicitation import CANCELLED, DECLINED, Elicit, UrlToOpen, accepted, read_elicitation
from tark_lsp.mcp.json_rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Asked, RpcError, answer, refusal

log = logging.getLogger(__name__)

Send = Callable[[Mapping[str, Any]], None]

MOST_QUESTIONS = 10
"""How often a server can ask for input before one call ends. A form with several fields is one question."""
TOO_MANY = f"it asked for input more than {MOST_QUESTIONS} times"


def serve(asked: Asked, waiting: Waiting | None, send: Send) -> None:
    """Handles a request of a legacy server. `waiting`: the latest call during which the user can be asked."""
    if asked.method == "ping":
        send(answer(asked.id, {}))
    elif asked.method != "elicitation/create":
        send(refusal(asked.id, METHOD_NOT_FOUND, "tark-lsp does not do that"))
    elif waiting is None:
        send(answer(asked.id, DECLINED))
    elif waiting.questions >= MOST_QUESTIONS:
        send(answer(asked.id, DECLINED))
        if not waiting.answer.done():
            waiting.answer.set_exception(McpError(TOO_MANY))
    elif asked.id not in waiting.asked:
        waiting.questions += 1
        task = asyncio.create_task(_elicit(asked, waiting, send))
        waiting.asked[asked.id] = task
        task.add_done_callback(lambda _: waiting.asked.pop(asked.id, None))


async def _elicit(asked: Asked, waiting: Waiting, send: Send) -> None:
    assert waiting.elicit is not None
    try:
        with waiting.clock.asking():
            result = await ask_user(asked.params, waiting.elicit)
        send(answer(asked.id, result))
    except asyncio.CancelledError:
        send(answer(asked.id, CANCELLED))
        raise
    except McpError as error:
        send(refusal(asked.id, INVALID_PARAMS, error.message))
    except Exception:  # the server must get an answer after any error
        log.exception("the user could not be asked")
        send(answer(asked.id, CANCELLED))


async def ask_user(params: Mapping[str, Any], elicit: Elicit) -> Mapping[str, Any]:
    """Asks the user. Returns the result for the server. Raises McpError if the question must not be asked."""
    elicitation = read_elicitation(params)
    return accepted(elicitation, await elicit(elicitation))


async def inputs_for(requests: Any, elicit: Elicit | None, most: int) -> dict[str, Any]:
    """The answers to a modern server's questions. Raises McpError if it asks for something else, or too often."""
    answers: dict[str, Any] = {}
    wanted_inputs = requests if isinstance(requests, dict) else {}
    if len(wanted_inputs) > most:
        raise McpError(TOO_MANY)
    for key, wanted in wanted_inputs.items():
        method = wanted.get("method") if isinstance(wanted, dict) else None
        if method != "elicitation/create":
            raise McpError(f"it wants {method!r} of its client, which tark-lsp does not do")
        params = wanted.get("params")
        given = params if isinstance(params, dict) else {}
        answers[key] = DECLINED if elicit is None else await ask_user(given, elicit)
    return answers


async def open_urls(error: RpcError, elicit: Elicit) -> None:
    """Asks the user to open the pages that a server needs first. Raises `error` if they do not open all of them."""
    data = error.failure.data
    wanted = data.get("elicitations") if isinstance(data, dict) else None
    if isinstance(wanted, list) and len(wanted) > MOST_QUESTIONS:
        raise McpError(TOO_MANY)
    for params in wanted if isinstance(wanted, list) and wanted else [{}]:
        elicitation = read_elicitation({**params, "mode": "url"} if isinstance(params, dict) else {})
        if not isinstance(elicitation, UrlToOpen) or await elicit(elicitation) is None:
            raise error
