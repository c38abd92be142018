"""Reads the body of a request within size and time limits, and decodes it as JSON."""

import asyncio
import json
import math
from typing import Any, NoReturn

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request

from tark_lsp.gateway.problems import INVALID, Problem

MAX_BYTES = 32 * 1024 * 1024
MAX_BRACKETS = 500_000
MAX_COMMAS = 1_000_000
"""Limits for decoding. Each bracket can be an array or object, each comma a value. Those in strings count, too: to
tell them apart takes as long as decoding everything.
"""

MAX_DIGITS = 400
"""Digits of an integer."""

SECONDS = 60.0
"""Time limit for the whole body."""

SLICE = 64 * 1024
"""Bytes. The parts of a larger value are decoded one by one: the decoder blocks all other threads while it runs."""

SLICED_LEVELS = 4
"""Levels that are decoded part by part: the body, its input, an item, the item's content."""

PARTS_OF: dict[bytes, msgspec.json.Decoder[Any]] = {
    b"{": msgspec.json.Decoder(dict[str, msgspec.Raw]),
    b"[": msgspec.json.Decoder(list[msgspec.Raw]),
}


async def read_body(request: Request) -> bytes:
    """Raises Problem, and ClientDisconnect."""
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise too_large()
    except TimeoutError:
        raise Problem(408, INVALID, "request_timeout", f"the body did not arrive within {SECONDS:.0f} s") from None
    return bytes(body)


def check_head(headers: Headers) -> None:
    """Check the headers before the body is read. Raises Problem."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(415, INVALID, "unsupported_media_type", "the Content-Type must be application/json")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, INVALID, "unsupported_media_type", "compressed bodies are not read; send it uncompressed")
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length) > MAX_BYTES:
        raise too_large()


def decode_body(body: bytes) -> dict[str, Any]:
    """Raises Problem."""
    for kind, count, limit in (
        ("brackets", body.count(b"{") + body.count(b"["), MAX_BRACKETS),
        ("commas", body.count(b","), MAX_COMMAS),
    ):
        if count > limit:
            message = f"the body has {count} {kind}, those in its texts included; at most {limit} are read"
            raise Problem(413, INVALID, "too_many_values", message)
    try:
        value = _decode(body, SLICED_LEVELS)
    except RecursionError:
        raise Problem(400, INVALID, "too_deep", "the body is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError):  # lone surrogates, or an error without a position
        value = _decode_exactly(body)
    if not isinstance(value, dict):
        raise Problem(400, INVALID, "invalid_type", "the body must be an object")
    return value


def too_large() -> Problem:
    return Problem(413, INVALID, "body_too_large", f"the body is larger than {MAX_BYTES // 1024 // 1024} MiB")


def _decode(text: bytes, levels: int) -> Any:
    """Raises msgspec.DecodeError, UnicodeDecodeError and RecursionError."""
    start = bytes(memoryview(text)[:1])
    if levels == 0 or len(text) < SLICE or start not in PARTS_OF:
        return msgspec.json.decode(text)
    parts = PARTS_OF[start].decode(text)
    if isinstance(parts, dict):
        return {name: _decode(part, levels - 1) for name, part in parts.items()}
    return [_decode(part, levels - 1) for part in parts]


def _decode_exactly(body: bytes) -> Any:
    """Like `_decode`, but accepts lone surrogates and reports the position of an error. Raises Problem."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse, parse_float=_finite, parse_int=_short)
    except UnicodeDecodeError:
        raise Problem(400, INVALID, "invalid_json", "the body is not UTF-8") from None
    except RecursionError:
        raise Problem(400, INVALID, "too_deep", "the body is nested too deep") from None
    except ValueError as error:
        where = f"{error.msg}, character {error.pos}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise Problem(400, INVALID, "invalid_json", f"the body is not JSON: {where}") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        raise ValueError("a number is too large")
    return value


def _short(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer has more than {MAX_DIGITS} digits")
    return int(digits)
