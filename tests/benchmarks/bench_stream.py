"""Bytes to StreamEvents on every wire, against the vendors' SDKs, litellm and pydantic-ai: CPU time, in one run.

    uv run --group benchmarks python -m tests.benchmarks.bench_stream [ROUNDS [WIRE ...]]

All read the same bytes: in memory in the same pieces, where a peer can be handed a transport, then from a server in
another process that sends each event as one HTTP chunk. Ours is measured three times in memory:

- "ours" joins the parts that are there together, as the client does between two wake-ups, then decodes and parses;
- "unjoined" decodes and parses every part by itself;
- "client" is the whole client with its time-outs, over a transport of the kind the SDKs have.

Rounds are interleaved, the figures are medians. Goals: at most 1/40 of the openai SDK and 1/10 of the anthropic SDK in
memory, 1/8 and 1/2 over HTTP.
"""

import asyncio
import multiprocessing
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from tark_lsp.http import HttpRequest, HttpResponse, HttpTransport, Transport
from tark_lsp.llm.answer import AnswerDecoder
from tark_lsp.llm.catalog.facts import ModelFacts
from tark_lsp.llm.events import StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta
from tark_lsp.llm.exchange import MAX_BUFFERED_PARTS, Timeouts, take_parts
from tark_lsp.llm.keys.access import KeyAccess
from tark_lsp.llm.model import WireModel
from tark_lsp.llm.provider import Provider, Route
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.retry import CircuitBreaker, RetryPolicy
from tark_lsp.llm.scripted.answer import answer_headers
from tark_lsp.llm.wire.wire import TargetModel, load_wire
from tark_lsp.messages import Message, Text
from tests.benchmarks.peers import PEERS, Place
from tests.benchmarks.streams import CASES, FRAGMENTS, least

PIECES = {"64 KiB": 65_536, "7 bytes": 7}
GOALS = {
    ("openai", "memory"): 1 / 40,
    ("anthropic", "memory"): 1 / 10,
    ("openai", "http"): 1 / 8,
    ("anthropic", "http"): 1 / 2,
}
Job: TypeAlias = Callable[[], Awaitable[float]]

REQUEST = ChatRequest("", (Message("user", (Text("go"),)),))
CONTENT = (TextDelta, ThinkingDelta, ToolCallDelta)


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


class MemoryTransport:
    """Ours: the whole body at hand."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    async def send(self, _: HttpRequest) -> HttpResponse:
        return HttpResponse(200, {}, self._chunks(), self.aclose)

    async def _chunks(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part

    async def aclose(self) -> None:
        pass


def is_content(event: StreamEvent) -> bool:
    return isinstance(event, CONTENT)


async def ours_joined(wire: str, parts: list[bytes]) -> int:
    """As llm/exchange.py does it: parts that are there together are joined."""
    answer = AnswerDecoder(load_wire(wire).parser(), load_wire(wire).framing)
    waiting: list[bytes] = []

    def drain() -> int:
        count = 0
        while waiting:
            count += sum(is_content(event) for event in answer.feed_bytes(take_parts(waiting)))
        return count

    count = 0
    for part in parts:
        waiting.append(part)
        if len(waiting) >= MAX_BUFFERED_PARTS:
            count += drain()
    return count + drain()


async def ours_unjoined(wire: str, parts: list[bytes]) -> int:
    """Decoder and parser, woken for every piece."""
    answer = AnswerDecoder(load_wire(wire).parser(), load_wire(wire).framing)
    return sum(is_content(event) for part in parts for event in answer.feed_bytes(part))


async def ours(wire: str, transport: Transport, base_url: str) -> int:
    provider = Provider("bench", base_url, (Route("*", wire),), key_needed=False)
    model = WireModel(
        provider=provider,
        target=TargetModel("bench/bench", "bench"),
        wire=load_wire(wire),
        transport=transport,
        access=KeyAccess(provider, {}),
        facts=ModelFacts(),
        breaker=CircuitBreaker(),
        policy=RetryPolicy(tries=1),
        times=Timeouts(),
    )
    count = 0
    async for event in model.stream(REQUEST):
        count += is_content(event)
    return count


def warm(events: list[bytes]) -> list[bytes]:
    """A short answer, so that what is done once is not measured."""
    return events[:20] + events[-2:]


def content_type(wire: str) -> str:
    return answer_headers(wire)["content-type"]


async def timed(work: Awaitable[int]) -> float:
    """CPU seconds. All that was sent must have been read; the counts differ by empty deltas."""
    begun = time.process_time()
    count = await work
    took = time.process_time() - begun
    assert count >= FRAGMENTS, count
    return took


def serve(port: "multiprocessing.Queue[int]") -> None:
    """Answers POST /<case>/... with the case's events, each one HTTP chunk."""
    bodies: dict[str, bytes] = {}
    for (wire, case), make in CASES.items():
        chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in make()]
        bodies[f"{wire}-{case}"] = b"".join(chunks) + b"0\r\n\r\n"
        bodies[f"{wire}-{case}-warm"] = b"".join(warm(chunks)) + b"0\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            length = 0
            while (header := await reader.readline()) != b"\r\n":
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            await reader.readexactly(length)
            body = line.split()[1].decode().replace(":", "/").split("/")[1]
            kind = content_type(next(wire for wire in PEERS if body.startswith(wire)))
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
            writer.write(bodies[body])
            await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


async def ours_over_http(wire: str, url: str) -> float:
    transport = HttpTransport()
    try:
        await ours(wire, transport, f"{url}-warm")
        return await timed(ours(wire, transport, url))
    finally:
        await transport.aclose()


async def theirs_over_http(read: Callable[[Place], Awaitable[int]], wire: str, url: str) -> float:
    await read(Place(f"{url}-warm", content_type(wire)))
    return await timed(read(Place(url, content_type(wire))))


async def theirs_in_memory(read: Callable[[Place], Awaitable[int]], wire: str, case: str, parts: list[bytes]) -> float:
    place = Place("http://127.0.0.1:1", content_type(wire), parts)
    await read(replace(place, parts=warm(list(CASES[wire, case]()))))
    return await timed(read(place))


async def ours_in_memory(work: Callable[[], Awaitable[int]]) -> float:
    return await timed(work())


def in_memory(rounds: int, wires: set[str]) -> None:
    for (wire, case), make in CASES.items():
        if wire not in wires:
            continue
        body = b"".join(make())
        asyncio.run(ours_joined(wire, warm(list(make()))))
        for label, size in PIECES.items():
            parts = pieces(body, size)
            jobs: dict[str, Job] = {
                "ours": partial(ours_in_memory, partial(ours_joined, wire, parts)),
                "unjoined": partial(ours_in_memory, partial(ours_unjoined, wire, parts)),
                "client": partial(ours_in_memory, partial(ours, wire, MemoryTransport(parts), "http://memory")),
            }
            for name, peer in PEERS[wire].items():
                if peer.in_memory:
                    jobs[name] = partial(theirs_in_memory, peer.read, wire, case, parts)
            compare("memory", wire, f"{case}, {label}", jobs, least(case), rounds)


def over_http(rounds: int, wires: set[str]) -> None:
    context = multiprocessing.get_context("spawn")
    port: multiprocessing.Queue[int] = context.Queue()
    server = context.Process(target=serve, args=(port,), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{port.get(timeout=60)}"
    for wire, case in CASES:
        if wire not in wires:
            continue
        url = f"{base}/{wire}-{case}"
        jobs: dict[str, Job] = {"ours": partial(ours_over_http, wire, url)}
        for name, peer in PEERS[wire].items():
            jobs[name] = partial(theirs_over_http, peer.read, wire, url)
        compare("http", wire, case, jobs, least(case), rounds)
    server.terminate()


async def run(job: Job) -> float:
    return await job()


def compare(where: str, wire: str, case: str, jobs: dict[str, Job], count: int, rounds: int) -> None:
    measured: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            measured[name].append(asyncio.run(run(job)))
    median = {name: statistics.median(values) for name, values in measured.items()}
    each = "  ".join(f"{name} {value / count * 1e6:.1f}" for name, value in median.items())
    times = "  ".join(f"{name} 1/{median[name] / median['ours']:.1f}" for name in PEERS[wire] if name in median)
    goals = [(median["ours"] / median[name], GOALS[name, where]) for name in median if (name, where) in GOALS]
    verdict = "".join(f"  goal 1/{1 / goal:.0f} {'reached' if is_ <= goal else 'MISSED'}" for is_, goal in goals)
    print(f"{where:6} {wire:18} {case:17} us an event: {each}  | ours is {times}{verdict}", flush=True)


def main(rounds: int, wires: set[str]) -> None:
    in_memory(rounds, wires)
    over_http(rounds, wires)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, set(sys.argv[2:]) or set(PEERS))
