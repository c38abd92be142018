"""One model, asked: a request to events, with retries, time-outs and errors that name the fix."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import quote

from tark_lsp import __version__
from tark_lsp.errors import AuthenticationFailed, BadRequest, ModelError, ProtocolError
from tark_lsp.http import HttpRequest, Transport
from tark_lsp.llm.answer import Answer, Reader
from tark_lsp.llm.catalog.facts import Facts
from tark_lsp.llm.downgrades import downgrades
from tark_lsp.llm.events import Done, Echo, Notice, Retry, Stall, StreamEvent, ThinkingDelta, UsageUpdate
from tark_lsp.llm.exchange import Exchange, Head, Times
from tark_lsp.llm.fallbacks import Fallback, do_without
from tark_lsp.llm.hints import add_hint, blot
from tark_lsp.llm.keys.access import Access, AccessSource
from tark_lsp.llm.keys.credentials import Key
from tark_lsp.llm.provider import Provider
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import Breaker, RetryPolicy, read_retry_headers
from tark_lsp.llm.wire.failures import failure
from tark_lsp.llm.wire.json_values import json_or_text
from tark_lsp.llm.wire.wire import Framing, Target, Wire

ERROR_BODY_BYTES = 64 * 1024
NO_STREAM: Mapping[Framing, tuple[bytes, ...]] = {"sse": (b"{", b"[", b"<"), "json-lines": (b"[", b"<")}
"""How a body begins that is something else: an error, a document, a web page."""

ACCEPT: Mapping[Framing, str] = {"sse": "text/event-stream", "json-lines": "application/x-ndjson"}

LAST_WORDS_SECONDS = 0.1
"""How long the body's end is waited for after the answer's own end: then the connection can be used again."""


PRICE_SECONDS = 10.0
"""How long the end of a model's first answer waits for its price."""


class Model(Protocol):
    """One model, ready to be asked; safe to share between turns."""

    @property
    def name(self) -> str:
        """`<provider>/<model>`."""
        ...

    @property
    def context_window(self) -> int | None:
        """Tokens; None where unknown."""
        ...

    @property
    def max_output_tokens(self) -> int | None:
        """The longest answer, thinking included; None where unknown."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Events up to and with `Done`; raises ModelError after the events that came before.

        Leave it early only under `contextlib.aclosing`: closing the generator closes the socket.
        """
        ...


def request_headers(provider: Provider, wire: Wire, key: Key | None, url: str) -> dict[str, str]:
    """The provider's and the person's headers go before ours; the key goes before all. Raises SettingsError."""
    return {
        "user-agent": f"tark-lsp/{__version__}",
        **wire.headers,
        **provider.headers,
        **(key.header(provider.key_header or wire.key_header, url) if key else {}),
    }


@dataclass(slots=True)
class _Tries:
    """What was tried for one request."""

    began: float
    target: Target
    count: int = 0
    renewed: bool = False
    left_out: list[Fallback] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Again:
    """The request is sent again, after `wait` seconds; `told` is for whoever reads the stream."""

    wait: float = 0.0
    told: StreamEvent | None = None


@dataclass(slots=True)
class WireModel:
    """A model behind a wire and a transport."""

    provider: Provider
    target: Target
    wire: Wire
    transport: Transport
    access: AccessSource
    facts: Facts
    breaker: Breaker
    policy: RetryPolicy
    times: Times
    told: set[tuple[str, str]] = field(default_factory=set)
    """By session: what the model cannot do was said once."""
    looking: asyncio.Task[None] | None = None
    """The look-up of its price, where that was not known."""

    @property
    def name(self) -> str:
        return self.target.ref

    @property
    def context_window(self) -> int | None:
        return self.facts.context_window

    @property
    def max_output_tokens(self) -> int | None:
        return self.facts.max_output

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Model.stream`. A request is sent again only as long as nothing of its answer was shown."""
        for sentence in self._untold(request):
            yield Notice(sentence)
        tries = _Tries(time.monotonic(), self.target)
        while True:
            tries.count += 1
            shown = False
            used: UsageUpdate | None = None
            outcome: BaseException | None = None
            access: Access | None = None
            again: _Again | None = None
            tries.target = self.target
            self.breaker.enter()
            try:
                access = await self.access.get()
                async with aclosing(self._ask(request, access)) as batches:
                    async for events in batches:
                        for event in events:
                            if isinstance(event, UsageUpdate):
                                used = self._priced(event)
                                yield used
                            else:
                                if isinstance(event, Done) and used and (priced := await self._price_late(used)):
                                    yield priced
                                shown = shown or not isinstance(event, Stall)
                                yield event
                return
            except ModelError as error:
                outcome = error
                blot(error, access.key if access else None)  # before it can become another error's context
                again = None if shown else await self._mend(request, error, access, tries)
                if again is None:
                    add_hint(error, self.provider, access.key if access else None, tries.count)
                    raise
            except BaseException as error:
                outcome = error
                raise
            finally:
                self.breaker.leave(outcome)
            if again.told is not None:
                yield again.told
            await asyncio.sleep(again.wait)

    async def _mend(
        self, request: ChatRequest, error: ModelError, access: Access | None, tries: _Tries
    ) -> _Again | None:
        """What makes it worth asking again: another key, a request without what was refused, or time. None: nothing."""
        if isinstance(error, AuthenticationFailed) and access is not None and not tries.renewed:
            tries.renewed = True
            return _Again() if await self.access.renew(access) else None
        refused = not isinstance(error, ProtocolError)  # whose message quotes what it could not read
        if refused and (less := do_without(tries.target, error.message, tries.left_out)):
            if self.target is not tries.target:  # another request found it out meanwhile
                return _Again()
            self.target, fallback = less
            tries.left_out.append(fallback)
            self._untold(request)  # the row's own notice says it
            return _Again(told=Notice(fallback.notice) if fallback.notice else None)
        wait = self.policy.wait(error, tries.count, time.monotonic() - tries.began)
        return None if wait is None else _Again(wait, Retry(round(wait, 2), error.code.replace("_", " ")))

    def _untold(self, request: ChatRequest) -> list[str]:
        """What this model cannot do of what the session asks for, each time it is new."""
        sentences = [each for each in downgrades(request, self.target) if (request.session_id, each) not in self.told]
        self.told.update((request.session_id, each) for each in sentences)
        return sentences

    async def _ask(self, request: ChatRequest, access: Access) -> AsyncGenerator[list[StreamEvent], None]:
        """One try. Events come in lists, one for each read from the network: that is what makes streaming cheap."""
        answer = Answer(self.wire.parser(), self.wire.framing, self._reader(request))
        no_stream = NO_STREAM[self.wire.framing]
        quiet = self.times.idle if request.thinking == "off" else self.times.thinking
        first = True
        async with Exchange(self.transport, self._http_request(request, access), self.times) as exchange:
            while (item := await exchange.next()) is not None:
                match item:
                    case Stall():
                        yield [item]
                    case Head():
                        if item.status != 200:
                            raise await _refusal(exchange, item, self.times.refusal)
                        exchange.allow_silence(quiet)
                    case bytes():
                        if first and (start := item.lstrip()):
                            if start[:1] in no_stream:
                                raise await _no_stream(exchange, item, self.times.refusal)
                            first = False
                        events = answer.feed(item)
                        if events:
                            yield events
                            last = events[-1]
                            if isinstance(last, Done):
                                await exchange.ended(LAST_WORDS_SECONDS)
                                return
                            if not isinstance(last, UsageUpdate | Echo):
                                quiet = self.times.thinking if isinstance(last, ThinkingDelta) else self.times.idle
                                exchange.allow_silence(quiet)
                        if answer.failure:
                            raise answer.failure
        yield answer.close()
        if answer.failure:
            raise answer.failure

    def _reader(self, request: ChatRequest) -> Reader | None:
        if not self.target.text_calls:
            return None
        from tark_lsp.llm.wire.text_calls import TextCalls

        return TextCalls(request.tools)

    def _encode(self, request: ChatRequest) -> bytes:
        if request.thinking == "off" and not self.target.quirks.thinking_off:
            request = replace(request, thinking="auto")
        if self.target.text_calls:
            from tark_lsp.llm.wire.text_tools import as_text

            request = as_text(request, self.target.ref)
        return self.wire.encode(request, self.target)

    def _http_request(self, request: ChatRequest, access: Access) -> HttpRequest:
        url = access.base_url + self.wire.path.replace("{model}", quote(self.target.model, safe=""))
        headers = {
            "content-type": "application/json",
            "accept": ACCEPT[self.wire.framing],
            **request_headers(self.provider, self.wire, access.key, url),
            **(self.provider.request_headers(request) if self.provider.request_headers else {}),
        }
        return HttpRequest("POST", url, headers, self._encode(request))

    def _priced(self, event: UsageUpdate) -> UsageUpdate:
        """With the cost reckoned from the model's price, where the provider does not say it."""
        if event.usage.cost_usd is not None or self.facts.price is None:
            return event
        return UsageUpdate(replace(event.usage, cost_usd=self.facts.price.of(event.usage)))

    async def _price_late(self, used: UsageUpdate) -> UsageUpdate | None:
        """The last usage once more, with its cost, where the price was still being looked up when it came."""
        if used.usage.cost_usd is not None or self.looking is None:
            return None
        await asyncio.wait([self.looking], timeout=PRICE_SECONDS)
        priced = self._priced(used)
        return None if priced.usage.cost_usd is None else priced


async def _refusal(exchange: Exchange, head: Head, seconds: float) -> ModelError:
    """An HTTP status other than 200 as an error."""
    if 300 <= head.status < 400:
        place = head.headers.get("location", "nowhere")
        return BadRequest(
            f"the provider sends us on to {place}, which is not followed: it would take the key along",
            hint="set the provider's baseUrl to where it really is",
        )
    exchange.allow_silence(seconds)
    try:
        body = await exchange.rest(ERROR_BODY_BYTES, seconds)
    except ModelError:  # the status says enough
        body = b""
    error = failure(json_or_text(body), head.status)
    read_retry_headers(error, head.headers)
    return error


async def _no_stream(exchange: Exchange, start: bytes, seconds: float) -> ModelError:
    """Status 200, and then no event stream: an error all the same, or a web page."""
    body = json_or_text(start + await exchange.rest(ERROR_BODY_BYTES, seconds))
    told = body[0] if isinstance(body, list) and body else body
    if isinstance(told, dict | list) and not (isinstance(told, dict) and told.get("error")):
        return ProtocolError("the provider answered with one JSON document instead of a stream")
    error = failure(body)
    return error if isinstance(body, dict | list) else ProtocolError(error.message)
