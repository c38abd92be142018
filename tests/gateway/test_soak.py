"""A day's traffic in small: all faults of the wires, clients of all manners; each end is right, and nothing is left.

TARK_TEST_SOAK is the number of requests.
"""

import asyncio
import gc
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.errors import ModelError
from tark_lsp.gateway.problems import KINDS
from tark_lsp.llm.wire.wire import WIRES
from tests.gateway.running import TOKEN, running_gateway
from tests.gateway.test_connections import HOSTILE
from tests.llm.faults.script import script
from tests.llm.faults.table import faults
from tests.loopback import Answer, Loopback, Raw, Request
from tests.patience import AT_ONCE

pytestmark = [pytest.mark.slow]

COUNT = int(os.environ.get("TARK_TEST_SOAK", "100000"))
CLIENTS = 24
LARGEST = 100_000
"""Bytes of an answer; the matrix has a few of many megabytes."""

LEAVES = ("at once", "half a body", "at the first bytes")


@dataclass(frozen=True, slots=True)
class Case:
    """What the upstream answers, and the codes of the errors that may come of it; "" is a whole answer."""

    name: str
    wire: str
    answer: Raw
    codes: frozenset[str]


def cases() -> Iterator[Case]:
    for wire in WIRES:
        played = script(wire, "calls")
        yield Case("good", wire, played.good(), frozenset({""}))
        for name, fault in faults(wire).items():
            for kind in fault.answers:
                answers = fault.build(script(wire, kind))
                if answers and not fault.tiny and sum(map(len, answers[0].parts)) < LARGEST:
                    whole = {""} if fault.more or not fault.ends else set()
                    yield Case(f"{kind}, {name}", wire, answers[0], frozenset({*whole, *map(code_of, fault.ends)}))


def code_of(kind: type[ModelError]) -> str:
    return next(KINDS[known][2] for known in kind.__mro__ if known in KINDS)


class Upstream(Loopback):
    """The name of the model says which case is asked for."""

    def __init__(self, answers: list[Raw]) -> None:
        super().__init__(answers)
        self.all = answers

    def _next(self, request: Request) -> Answer:
        self.requests.clear()
        model = (
            request.path.rpartition("/")[2].partition(":")[0] if "models/" in request.path else request.json["model"]
        )
        return self.all[int(model.partition("-")[0])]


class Soak:
    def __init__(self, url: str, cases: list[Case]) -> None:
        host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
        self._place = (host, int(port))
        self._cases = cases
        self.ends: Counter[str] = Counter()
        self.wrong: list[str] = []

    async def run(self, first: int, count: int) -> None:
        numbers = iter(range(first, first + count))

        async def client() -> None:
            for number in numbers:
                await self._ask(number)

        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(client())

    async def _ask(self, number: int) -> None:
        chance = random.Random(number)
        which = chance.randrange(len(self._cases))
        case, stream = self._cases[which], chance.random() < 0.7
        body = {"model": f"{case.wire}/{which}-{number}", "input": "Hi", "stream": stream}
        manner = chance.choice(LEAVES) if chance.random() < 0.2 else ""
        content = json.dumps(body).encode()
        head = (
            f"POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n"
        )
        sent = f"{head}content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content
        if not manner and chance.random() < 0.05:
            manner, (sent, _) = "hostile", chance.choice(list(HOSTILE.values()))
        reader, writer = await asyncio.open_connection(*self._place)
        try:
            async with asyncio.timeout(AT_ONCE * 4):
                writer.write(sent[:-5] if manner == "half a body" else sent)
                await writer.drain()
                if manner == "at the first bytes":
                    await reader.read(100)
                elif manner == "hostile":
                    await reader.readline()
                elif not manner:
                    self._check(case, stream, number, await reader.read())
        except ConnectionError:
            if manner != "hostile":
                raise
        except TimeoutError:
            self.wrong.append(f"{number} {case.wire} {case.name}: no end")
        finally:
            writer.close()
            with_error = await asyncio.gather(writer.wait_closed(), return_exceptions=True)
            self.ends[manner or "read"] += len(with_error)

    def _check(self, case: Case, stream: bool, number: int, answer: bytes) -> None:
        head, _, content = answer.partition(b"\r\n\r\n")
        code = self._code(head, content)
        self.ends[f"code {code or 'none'}"] += 1
        if code not in case.codes:
            self.wrong.append(f"{number} {case.wire} {case.name}, stream={stream}: {code!r}, not {set(case.codes)}")

    def _code(self, head: bytes, content: bytes) -> str:
        if b"text/event-stream" not in head:
            value = json.loads(content)
            return str(value["error"]["code"]) if value.get("error") else ""
        lines = [line for line in content.split(b"\n") if line.startswith(b"data: ")]
        last: dict[str, Any] = json.loads(lines[-1][6:])
        if last["sequence_number"] != len(lines) - 1 or b"\r\n0\r\n\r\n" not in content[-20:]:
            return "no end"
        if last["type"] != "response.failed":
            return "" if last["type"] in ("response.completed", "response.incomplete") else last["type"]
        error = last["response"]["error"]
        code = str(error["message"]).rpartition("[")[2].rstrip("]")
        return code if "[" in error["message"] else str(error["code"])


@dataclass(frozen=True, slots=True)
class Held:
    """What the process holds. `kept`: connections to the upstream, for the next requests. `memory` in MiB, resident."""

    tasks: int
    files: int
    kept: int
    memory: float


async def held(upstream: Upstream, base: set[asyncio.Task[Any]]) -> Held:
    """When all that is ending has ended. Each kept connection is a task and two files here."""
    ending = {task for task in asyncio.all_tasks() - base if task not in upstream._tasks}
    if ending:
        await asyncio.wait(ending, timeout=AT_ONCE)
    gc.collect()
    kept = len(upstream._tasks)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return Held(len(asyncio.all_tasks()) - kept, files - 2 * kept, kept, memory)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="it reads /proc")
@pytest.mark.parametrize("count", [pytest.param(COUNT, marks=pytest.mark.exhaustive), 300])
async def test_nothing_is_left_and_every_end_is_right(count: int) -> None:
    known = list(cases())
    upstream = Upstream([case.answer for case in known])
    async with upstream, running_gateway(upstream) as url:
        soak, base = Soak(url, known), asyncio.all_tasks()
        warm = count // 4
        await soak.run(0, warm)
        before = await held(upstream, base)
        await soak.run(warm, count - warm)
        after = await held(upstream, base)
    print(f"\n{count} requests, {len(known)} cases\n{before}\n{after}\n{dict(soak.ends)}")
    assert soak.wrong == []
    assert after.tasks <= before.tasks
    assert after.files <= before.files + 4
    assert after.kept <= 2 * CLIENTS
    assert after.memory < before.memory + 20
