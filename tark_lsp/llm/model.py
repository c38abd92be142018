"""Sends requests to one model and streams its answers, with retries, timeouts and errors that name the fix."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import ParamSpec, Protocol, TypeVar
from urllib.parse import quote

from tark_lsp import __version__
from tark_lsp.errors import AuthenticationFailed, ModelError, Overloaded, ProtocolError
from tark_lsp.http import HttpRequest, Transport, is_loopback
from tark_lsp.llm.answer import AnswerDecoder, EventFilter
from tark_lsp.llm.attempts import Attempts, Resend
from tark_lsp.llm.catalog.facts import ModelFacts
from tark_lsp.llm.downgrades import downgrades, thinking_left_on
from tark_lsp.llm.events import Done, Echo, Notice, Retry, Stall, StreamEvent, ThinkingDelta, UsageUpdate
from tark_lsp.llm.exchange import Exchange, ResponseHead, Timeouts
from tark_lsp.llm.fallbacks import find_fallback
from tark_lsp.llm.hints import add_hint, redact_key
from tark_lsp.llm.keys.access import Access, AccessSource
from tark_lsp.llm.keys.credentials import Key
from tark_lsp.llm.option_support import fit_options
from tark_lsp.llm.provider import Provider
from tark_lsp.llm.refusals import read_document, read_refusal, retry_reason
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import PROVIDER_FAULTS, CircuitBreaker, RetryPolicy
from tark_lsp.llm.wire.wire import Framing, TargetModel, Wire

P = ParamSpec("P")
T = TypeVar("T")

NON_STREAM_STARTS: Mapping[Framing, tuple[bytes, ...]] = {"sse": (b"{", b"[", b"<"), "json-lines": (b"[", b"<")}
"""How a body starts that is not a stream: an error, a JSON document, a web page."""

ACCEPT: Mapping[Framing, str] = {"sse": "text/event-stream", "json-lines": "application/x-ndjson"}

END_OF_BODY_SECONDS = 0.1
"""How long to wait for the end of the body after the end of the answer, so that the connection can be used again."""

PRICE_SECONDS = 10.0
"""How long the end of a model's first answer waits for the model's price."""


class Model(Protocol):
    """One model, ready for requests. Safe to share between turns."""

    @property
    def name(self) -> str:
        """`<provider>/<model>`."""
        ...

    @property
    def context_window(self) -> int | None:
        """Tokens; None if unknown."""
        ...

    @property
    def max_output_tokens(self) -> int | None:
        """Tokens of the longest answer, thinking included; None if unknown."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether it runs on the user's own machine, where no request has a price."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yields events up to and including `Done`. Raises ModelError after the events that arrived before the error.
        Raises UnsupportedOption, without a request, if the model cannot do what `request.options` require.

        If you leave it early, use `contextlib.aclosing`: closing the generator closes the socket.
        """
        ...


async def _off_loop(request: ChatRequest, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls `function` in a thread if the request is large, so that it does not block the event loop."""
    if request.is_large:
        return await asyncio.to_thread(function, *args, **kwargs)
    return function(*args, **kwargs)


def request_headers(provider: Provider, wire: Wire, key: Key | None, url: str) -> dict[str, str]:
    """The provider's and the user's headers override Tark's; the key overrides all. Raises SettingsError."""
    return {
        "user-agent": f"tark-lsp/{__version__}",
        **wire.headers,
        **provider.headers,
        **(key.header(provider.key_header or wire.key_header, url) if key else {}),
    }


@dataclass(slots=True)
class WireModel:
    """A model behind a wire and a transport."""

    provider: Provider
    target: TargetModel
    wire: Wire
    transport: Transport
    access: AccessSource
    facts: ModelFacts
    breaker: CircuitBreaker
    policy: RetryPolicy
    times: Timeouts
    sent_notices: set[tuple[str, str]] = field(default_factory=set)
    """Session id and sentence: each downgrade is reported once in a session."""
    price_lookup: asyncio.Task[None] | None = None
    """Looks up the price if it was not known."""

    @property
    def name(self) -> str:
        return self.target.ref

    @property
    def context_window(self) -> int | None:
        return self.facts.context_window

    @property
    def max_output_tokens(self) -> int | None:
        return self.facts.max_output

    @property
    def is_local(self) -> bool:
        return is_loopback(self.provider.base_url)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Model.stream`. A request is sent again only if nothing of its answer was shown."""
        for sentence in await _off_loop(request, self._new_notices, request):
            yield Notice(sentence)
        attempts = Attempts(time.monotonic(), self.target)
        if not request.starts_turn:
            async for waiting in self._rest():
                yield waiting
        while True:
            attempts.count += 1
            shown = False
            used: UsageUpdate | None = None
            access: Access | None = None
            attempts.target = self.target
            # A refusal can have changed the target.
            fitted, dropped = await _off_loop(request, fit_options, request, self.target, self.wire.name)
            for drop in dropped:
                if drop not in attempts.dropped:
                    attempts.dropped.add(drop)
                    yield drop
            self.breaker.before_request()
            try:
                access = await self.access.get_access()
                async with aclosing(self._ask(fitted, access)) as batches:
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
            except ModelError as error:
                self.breaker.after_request(error)
                redact_key(error, access.key if access else None)  # before it becomes the context of another error
                resend = None if shown else await self._recover(request, error, access, attempts)
                rest = self.breaker.seconds_left() if isinstance(error, PROVIDER_FAULTS) else 0.0
                if resend is None or rest:
                    add_hint(error, self.provider, access.key if access else None, attempts.count, rest)
                    raise
            except BaseException as error:
                self.breaker.after_request(error)
                raise
            else:
                self.breaker.after_request(None)
                return
            if resend.event is not None:
                yield resend.event
            await asyncio.sleep(resend.wait)

    async def _rest(self) -> AsyncGenerator[Retry, None]:
        """Waits until a request may be sent. Raises Overloaded if that takes longer than the limit for retries."""
        began = time.monotonic()
        while (left := self.breaker.seconds_left()) > 0:
            if time.monotonic() - began + left > self.policy.total:
                resting = Overloaded(self.breaker.reason, retry_after=left)
                add_hint(resting, self.provider, None, 0, left)
                raise resting
            yield Retry(round(left, 2), self.breaker.reason)
            await asyncio.sleep(left)

    async def _recover(
        self, request: ChatRequest, error: ModelError, access: Access | None, attempts: Attempts
    ) -> Resend | None:
        """Why sending again can help: another key, a request without what was refused, or a wait. None: it cannot."""
        if isinstance(error, AuthenticationFailed) and access is not None and not attempts.renewed:
            attempts.renewed = True
            return Resend() if await self.access.renew_access(access) else None
        refused = not isinstance(error, ProtocolError)  # its message quotes what could not be read
        if refused and (less := find_fallback(attempts.target, error.message, attempts.left_out)):
            if self.target is not attempts.target:  # another request has changed it
                return Resend()
            self.target, fallback = less
            attempts.left_out.append(fallback)
            self._new_notices(request)  # marks them as sent: the row's own notice reports them
            return Resend(event=Notice(fallback.notice) if fallback.notice else None)
        wait = self.policy.retry_delay(error, attempts.count, time.monotonic() - attempts.started)
        return None if wait is None else Resend(wait, Retry(round(wait, 2), retry_reason(error)))

    def _new_notices(self, request: ChatRequest) -> list[str]:
        """The downgrades that were not reported in this session yet; with `may_drop`, always all of them."""
        session, sent = request.session_id, self.sent_notices
        found = (
            *downgrades(request, self.target),
            *thinking_left_on(request, self.target, self.wire),
            *self.wire.downgrades(request, self.target),
        )
        if request.options.may_drop:
            return list(found)
        sentences = [sentence for sentence in found if (session, sentence) not in sent]
        sent.update((session, sentence) for sentence in sentences)
        return sentences

    async def _ask(self, request: ChatRequest, access: Access) -> AsyncGenerator[list[StreamEvent], None]:
        """One attempt. Yields one list of events for each read from the network: this keeps streaming cheap."""
        answer = AnswerDecoder(self.wire.parser(self.target.quirks), self.wire.framing, self._event_filter(request))
        non_stream_starts = NON_STREAM_STARTS[self.wire.framing]
        quiet = self.times.idle if request.thinking == "off" else self.times.thinking
        first = True
        http_request = await _off_loop(request, self._http_request, request, access)
        async with Exchange(self.transport, http_request, self.times) as exchange:
            while (item := await exchange.next_item()) is not None:
                match item:
                    case Stall():
                        yield [item]
                    case ResponseHead():
                        if item.status != 200:
                            raise await read_refusal(exchange, item, self.times.refusal)
                        exchange.set_silence_limit(quiet)
                    case bytes():
                        if first and (start := item.lstrip()):
                            if start[:1] in non_stream_starts:
                                raise await read_document(exchange, item, self.times.refusal)
                            first = False
                        events = answer.feed_bytes(item)
                        if events:
                            yield events
                            last = events[-1]
                            if isinstance(last, Done):
                                await exchange.wait_for_end(END_OF_BODY_SECONDS)
                                return
                            if not isinstance(last, UsageUpdate | Echo):
                                quiet = self.times.thinking if isinstance(last, ThinkingDelta) else self.times.idle
                                exchange.set_silence_limit(quiet)
                        if answer.failure:
                            raise answer.failure
        yield answer.close()
        if answer.failure:
            raise answer.failure

    def _event_filter(self, request: ChatRequest) -> EventFilter | None:
        if not self.target.text_calls:
            return None
        from tark_lsp.llm.wire.text_calls import TextCalls

        return TextCalls(request.tools)

    def _encode(self, request: ChatRequest) -> bytes:
        if request.thinking == "off" and self.target.off == "never":
            request = replace(request, thinking="auto")
        if self.target.text_calls:
            from tark_lsp.llm.wire.text_tools import tools_as_text

            request = tools_as_text(request, self.target.ref)
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
        """Adds the cost, computed from the model's price, if the provider does not state it."""
        if event.usage.cost_usd is not None or self.facts.price is None:
            return event
        return UsageUpdate(replace(event.usage, cost_usd=self.facts.price.cost_of(event.usage)))

    async def _price_late(self, used: UsageUpdate) -> UsageUpdate | None:
        """The last usage again, now with its cost, if the price was still being looked up when the usage arrived."""
        if used.usage.cost_usd is not None or self.price_lookup is None:
            return None
        await asyncio.wait([self.price_lookup], timeout=PRICE_SECONDS)
        priced = self._priced(used)
        return None if priced.usage.cost_usd is None else priced
