"""Turns responses that are not streams into errors: refusals, redirects, documents and web pages."""

from tark_lsp.errors import BadRequest, ModelError, ProtocolError, ServerError
from tark_lsp.llm.exchange import Exchange, ResponseHead
from tark_lsp.llm.retry import read_retry_headers
from tark_lsp.llm.wire.json_values import json_or_text
from tark_lsp.llm.wire.provider_errors import provider_error

ERROR_BODY_BYTES = 64 * 1024
REASON_CHARACTERS = 120


async def read_refusal(exchange: Exchange, head: ResponseHead, seconds: float) -> ModelError:
    """Turns an HTTP status other than 200 into an error."""
    if 300 <= head.status < 400:
        place = head.headers.get("location", "an unnamed address")
        return BadRequest(
            f"the provider redirects to {place}; redirects are not followed, since the key would be sent along",
            hint="set the provider's baseUrl to its real address",
        )
    exchange.set_silence_limit(seconds)
    try:
        body = await exchange.read_rest(ERROR_BODY_BYTES, seconds)
    except ModelError:  # the status is enough
        body = b""
    error = provider_error(json_or_text(body), head.status)
    read_retry_headers(error, head.headers)
    return error


async def read_document(exchange: Exchange, start: bytes, seconds: float) -> ModelError:
    """Status 200, but not an event stream: an error, or a web page."""
    body = json_or_text(start + await exchange.read_rest(ERROR_BODY_BYTES, seconds))
    first = body[0] if isinstance(body, list) and body else body
    if isinstance(first, dict | list) and not (isinstance(first, dict) and first.get("error")):
        return ProtocolError("the provider answered with one JSON document instead of a stream")
    error = provider_error(body)
    return error if isinstance(body, dict | list) else ProtocolError(error.message)


def retry_reason(error: ModelError) -> str:
    """Why a request is sent again. Only the message says what failed at a server."""
    if not isinstance(error, ServerError):
        return error.code.replace("_", " ")
    return " ".join(error.message[: 2 * REASON_CHARACTERS].split())[:REASON_CHARACTERS]
