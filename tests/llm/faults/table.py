"""What can go wrong with a provider, as a table: each fault says what the server answers and what must come of it.

A fault is built from a `Script` (script.py); whoever plays it (test_fault_matrix.py) needs to
know nothing of wires.
"""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from tark_lsp.errors import (
    AuthenticationFailed,
    BadRequest,
    ConnectionFailed,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    ModelTimeout,
    Overloaded,
    ProtocolError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StreamCut,
)
from tark_lsp.llm.scripted.answer import error_response
from tark_lsp.llm.scripted.scenario import ScriptedError
from tests.llm.faults.script import ANSWERS, FIRST_CONTENT, POSITIONS, TERMINAL, Script, script
from tests.llm.faults.stream_errors import STREAM_ERRORS
from tests.loopback import Raw

RETRIED = (ConnectionFailed, ModelTimeout, StreamCut, ServerError, Overloaded, RateLimited)
"""After these the request is sent again, as long as nothing was shown and the server does not say otherwise."""

TOO_BIG = 17 * 1024 * 1024


ALL = tuple(ANSWERS)
ANY = ("text",)
"""For what comes in place of an answer: it is the same whatever the answer would have been."""

Build: TypeAlias = Callable[[Script], list[Raw] | None]
"""The answers to the requests in their order, the last again and again; None: this answer has no such place."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`ends`: how it may end; empty: with the whole answer. `heals`: the answers end with a good one.

    `retried`: whether the request is sent again as long as nothing was shown; None: as errors of this kind are.
    `waits`: seconds that the server asks for, each time. `more`: Gemini, whose end is the connection's, may have more
    content. `tiny`: played with limits of milliseconds.
    """

    build: Build
    ends: tuple[type[ModelError], ...] = ()
    heals: bool = False
    retried: bool | None = None
    waits: float | None = None
    more: bool = False
    tiny: bool = False
    answers: tuple[str, ...] = ALL


def _cut(position: Callable[[Script], int | None], script: Script, *, how: str, heals: bool) -> list[Raw] | None:
    place = position(script)
    if place is None:
        return None
    parts = script.up_to(place)
    return [script.raw(*parts, reset=how == "reset", stall=how == "stall"), *([script.good()] if heals else [])]


def cuts() -> Iterator[tuple[str, Fault]]:
    for name, position in POSITIONS.items():
        for how, heals in (("ended", True), ("ended", False), ("reset", True)):
            build = partial(_cut, position, how=how, heals=heals)
            yield f"{how} {name}{', once' if heals else ''}", Fault(build, (StreamCut,), heals=heals)
        build = partial(_cut, position, how="stall", heals=False)
        yield f"stall {name}", Fault(build, (ModelTimeout,), tiny=True)


def _always(*raws: Raw) -> Build:
    return lambda _: list(raws)


def _then_good(*raws: Raw) -> Build:
    return lambda script: [*raws, script.good()]


HEADLESS: Mapping[str, Fault] = {
    "closed before the head": Fault(_always(Raw(dropped=True)), (ConnectionFailed,), answers=ANY),
    "closed before the head, once": Fault(_then_good(Raw(dropped=True)), (ConnectionFailed,), heals=True),
    "silent before the head": Fault(_always(Raw(silent=True)), (ModelTimeout,), tiny=True, answers=ANY),
}


def _status(script: Script, *, error: ScriptedError, headers: Mapping[str, str], count: int | None) -> list[Raw]:
    """`count` None: for ever."""
    own, body = error_response(error, script.wire)
    raw = Raw([body], error.status, {**own, **headers})
    return [raw] if count is None else [*[raw] * count, script.good()]


def storm(
    status: int,
    kind: type[ModelError],
    count: int | None = None,
    wait: float | None = None,
    retried: bool | None = None,
    **headers: str,
) -> Fault:
    """So many refusals, then the answer. `wait`: said as the wire says it."""
    error = ScriptedError(status, "too much at once", wait)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    build = partial(_status, error=error, headers=named, count=count)
    answers = ANY if count is None else ALL
    return Fault(build, (kind,), heals=count is not None, retried=retried, waits=wait, answers=answers)


def final(status: int, kind: type[ModelError], message: str = "this is not possible", **headers: str) -> Fault:
    """A refusal after which nothing is sent again."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    build = partial(_status, error=ScriptedError(status, message), headers=named, count=None)
    return Fault(build, (kind,), retried=False, answers=ANY)


STATUSES = {
    408: ModelTimeout,
    409: Overloaded,
    429: RateLimited,
    500: ServerError,
    502: ServerError,
    503: Overloaded,
    504: ServerError,
    520: ServerError,
    529: Overloaded,
}
STORMS: Mapping[str, Fault] = {
    **{f"{status} once": storm(status, kind, 1) for status, kind in STATUSES.items()},
    **{f"{status} twice": storm(status, kind, 2) for status, kind in STATUSES.items()},
    **{f"{status} for ever": storm(status, kind) for status, kind in STATUSES.items()},
    "429, its wait said in the wire's way": storm(429, RateLimited, 1, 0.011),
    "503, its wait said in the wire's way": storm(503, Overloaded, 2, 0.011),
    "429 with retry-after-ms": storm(429, RateLimited, 1, retry_after_ms="12"),
    "429 with a date that is past": storm(429, RateLimited, 1, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    "429 with nonsense for a wait": storm(429, RateLimited, 1, retry_after="soon"),
    "400 with x-should-retry": storm(400, BadRequest, 1, retried=True, x_should_retry="true"),
}
ELSEWHERE = {"location": "http://elsewhere.invalid/"}
REFUSALS: Mapping[str, Fault] = {
    "400": final(400, BadRequest),
    "401": final(401, AuthenticationFailed),
    "402": final(402, QuotaExceeded),
    "403": final(403, AuthenticationFailed),
    "404": final(404, ModelNotFound),
    "413": final(413, ContextOverflow),
    "422": final(422, BadRequest),
    "429 that is a quota": final(429, QuotaExceeded, "insufficient_quota: check your plan"),
    "400 that is an overflow": final(400, ContextOverflow, "prompt is too long: 9 tokens > 8 maximum"),
    "503 with x-should-retry": final(503, Overloaded, x_should_retry="false"),
    "429 with a wait that is too long": final(429, RateLimited, retry_after="500"),
    **{
        f"redirect {status}": Fault(_always(Raw(status=status, headers=ELSEWHERE)), (BadRequest,), answers=ANY)
        for status in (301, 302, 303, 307, 308)
    },
}


def _told(script: Script, *, error: bytes, place: Callable[[Script], int | None], heals: bool) -> list[Raw] | None:
    at = place(script)
    if at is None:
        return None
    return [script.raw(*script.up_to(at), error), *([script.good()] if heals else [])]


def errors_in_the_stream(wire: str) -> Iterator[tuple[str, Fault]]:
    """With status 200."""
    places = {name: POSITIONS[name] for name in ("after the head", "after the first content", "between two calls")}
    for shape, (error, kind) in STREAM_ERRORS[wire].items():
        for name, place in places.items():
            heals = kind in RETRIED
            build = partial(_told, error=error, place=place, heals=heals)
            yield f"{shape} {name}", Fault(build, (kind,), heals=heals)


PAGE = b"<!doctype html>\n<html><head><title>Welcome</title></head><body>Log in</body></html>"
DOCUMENT = b'{"id": "x", "object": "nothing", "choices": []}'
OTHER_WIRE = {
    "openai-chat": "anthropic-messages",
    "openai-responses": "openai-chat",
    "anthropic-messages": "openai-responses",
    "gemini-content": "openai-chat",
    "ollama-chat": "openai-chat",
}
GARBLED = (ProtocolError, StreamCut)
JSON = {"content-type": "application/json"}
WEB = {"content-type": "text/html"}


def _replaced(old: bytes, new: bytes, script: Script) -> list[Raw] | None:
    return [script.raw(*(frame.replace(old, new) for frame in script.frames))] if old in script.body else None


def _single_bytes(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


def _document(script: Script) -> list[Raw]:
    """A refusal that calls itself a success."""
    _, body = error_response(ScriptedError(503, "the model is overloaded"), script.wire)
    return [Raw([body], headers=JSON), script.good()]


JUNK: Mapping[str, Fault] = {
    "a refusal with status 200, once": Fault(_document, (Overloaded,), heals=True),
    "a web page": Fault(_always(Raw([PAGE], headers=WEB)), (ProtocolError,)),
    "a web page after a blank line": Fault(_always(Raw([b"\n\n", PAGE], headers=WEB)), (ProtocolError,)),
    "a web page byte by byte": Fault(_always(Raw(_single_bytes(PAGE), headers=WEB)), (ProtocolError,)),
    "a JSON document": Fault(_always(Raw([DOCUMENT], headers=JSON)), GARBLED),
    "a list": Fault(_always(Raw([b"[", b"]"], headers=JSON)), (ProtocolError,)),
    "binary": Fault(_always(Raw([bytes(range(256)) * 9])), GARBLED),
    "packed bytes": Fault(lambda script: [script.raw(gzip.compress(script.body, mtime=0))], GARBLED),
    "bytes that are not UTF-8": Fault(partial(_replaced, "ü".encode(), b"\xff\xfe"), (ProtocolError,)),
    "a frame that is no JSON": Fault(lambda script: [script.raw(b"data: {nonsense\n\n")], (ProtocolError,)),
    "an empty body": Fault(lambda script: [script.raw()], (StreamCut,)),
    "only blank lines": Fault(lambda script: [script.raw(b"\n\n\n\r\n\n")], (StreamCut,)),
    "another wire's stream": Fault(lambda of: [of.raw(*script(OTHER_WIRE[of.wire], of.answer).frames)], GARBLED),
    "a frame without end": Fault(
        lambda script: [script.raw(script.frames[0], *[b"x" * (1 << 20)] * (TOO_BIG >> 20))],
        (ProtocolError,),
        answers=ANY,
    ),
}


def _after_the_end(script: Script, *, extra: Callable[[Script], Sequence[bytes]]) -> list[Raw]:
    return [script.raw(*script.frames, *extra(script))]


def _not_gemini(build: Build, script: Script) -> list[Raw] | None:
    """Gemini's end is that of the connection."""
    return None if script.wire == "gemini-content" else build(script)


def _last_frames(script: Script) -> Sequence[bytes]:
    number = script.frame_with(TERMINAL[script.wire])
    assert number is not None
    return script.frames[number:]


def _first_content(script: Script) -> Sequence[bytes]:
    number = script.frame_with(FIRST_CONTENT[script.answer])
    assert number is not None
    return script.frames[number : number + 1]


FINE: Mapping[str, Fault] = {
    "byte by byte": Fault(lambda script: [script.raw(*_single_bytes(script.body))]),
    "all at once": Fault(lambda script: [script.raw(script.body)]),
    "the terminal event twice": Fault(partial(_after_the_end, extra=_last_frames)),
    "content after the end": Fault(partial(_after_the_end, extra=_first_content), more=True),
    "the whole answer twice": Fault(partial(_not_gemini, partial(_after_the_end, extra=lambda script: script.frames))),
    "no content type": Fault(lambda script: [Raw(script.frames, headers={})]),
    "another content type": Fault(lambda script: [Raw(script.frames, headers={"content-type": "text/plain"})]),
    "silence after the end": Fault(
        partial(_not_gemini, lambda script: [script.raw(*script.frames, stall=True)]), answers=ANY
    ),
}


def faults(wire: str) -> dict[str, Fault]:
    """All that can go wrong on a wire, by name."""
    return {**HEADLESS, **dict(cuts()), **STORMS, **REFUSALS, **dict(errors_in_the_stream(wire)), **JUNK, **FINE}
