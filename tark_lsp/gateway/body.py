"""Reads the body of a request, within limits of size and time, and decodes it as JSON."""

import asyncio
import json
from typing import Any, NoReturn

from starlette.datastructures import Headers
from starlette.requests import Request

from tark_lsp.gateway.problems import INVALID, Problem

MAX_BYTES = 32 * 1024 * 1024
MAX_CONTAINERS = 250_000
"""Arrays and objects: as many as are decoded in 0.1 s, since nothing else can run meanwhile."""

MAX_COMMAS = 2_000_000
"""Of all arrays, objects and texts: numbers and strings are values, too."""

SECONDS = 60.0
"""For the whole body."""


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
    """What is wrong with the request before its body is read. Raises Problem."""
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
    if body.count(b"{") + body.count(b"[") > MAX_CONTAINERS:
        raise Problem(413, INVALID, "too_many_values", f"the body has more than {MAX_CONTAINERS} arrays and objects")
    if body.count(b",") > MAX_COMMAS:
        raise Problem(413, INVALID, "too_many_values", f"the body has more than {MAX_COMMAS} commas")
    try:
        value = json.loads(body, parse_constant=_refuse)
    except UnicodeDecodeError:
        raise Problem(400, INVALID, "invalid_json", "the body is not UTF-8") from None
    except RecursionError:
        raise Problem(400, INVALID, "too_deep", "the body is nested too deep") from None
    except ValueError as error:
        where = f"{error.msg}, character {error.pos}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise Problem(400, INVALID, "invalid_json", f"the body is not JSON: {where}") from None
    if not isinstance(value, dict):
        raise Problem(400, INVALID, "invalid_type", "the body must be an object")
    return value


def too_large() -> Problem:
    return Problem(413, INVALID, "body_too_large", f"the body is larger than {MAX_BYTES // 1024 // 1024} MiB")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")
