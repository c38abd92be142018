"""The part of the fault matrix that is about connections, over real ones: one provider of each wire."""

import gzip
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial

import pytest
import pytest_asyncio

from tark_lsp.errors import ProtocolError, StreamCut
from tark_lsp.http import HttpTransport
from tark_lsp.llm.exchange import Timeouts
from tark_lsp.llm.request import ChatRequest
from tests.llm.faults.checks import QUESTION, check_calls, check_end, check_next, goes_on, models_with, pairs, play
from tests.llm.faults.script import Script, script
from tests.llm.faults.table import Fault, faults
from tests.loopback import Loopback, Raw

pytestmark = pytest.mark.slow  # waits for time-outs

PACKED = {"content-type": "text/event-stream", "content-encoding": "gzip"}


def packed(whole: bool, played: Script) -> list[Raw]:
    data = gzip.compress(played.body, mtime=0)
    return [Raw([data if whole else data[: len(data) // 2]], headers=PACKED)]


ON_SOCKETS: Mapping[str, Fault] = {
    "packed": Fault(partial(packed, True)),
    "packed, and cut": Fault(partial(packed, False), (StreamCut, ProtocolError)),
    "not packed, though it says so": Fault(lambda played: [Raw(played.frames, headers=PACKED)], (ProtocolError,)),
}
"""What only a real connection has."""


SLOWER = Timeouts(headers=5.0, idle=0.1, thinking=0.1, notice=0.04, notice_again=0.04)


def socket_cells() -> Iterator[object]:
    """One provider of each wire, and what happens to connections."""
    of_wire: dict[str, str] = {}
    for ref, wire in pairs():
        of_wire.setdefault(wire, ref)
    for wire, ref in of_wire.items():
        table = {**faults(wire), **ON_SOCKETS}
        for name, fault in table.items():
            played = script(wire, "calls" if "calls" in fault.answers else "text")
            taken = name in ON_SOCKETS or name.startswith(("reset", "stall", "closed", "byte by byte"))
            if taken and fault.build(played) is not None:
                yield pytest.param(ref, fault, played, id=f"{ref}-{wire}-{name}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def network() -> AsyncIterator[HttpTransport]:
    """One for all cells: to make its TLS context takes longer than a cell."""
    transport = HttpTransport()
    yield transport
    await transport.aclose()


@pytest.mark.parametrize(("ref", "fault", "played"), list(socket_cells()))
@pytest.mark.asyncio(loop_scope="module")
async def test_on_sockets(ref: str, fault: Fault, played: Script, network: HttpTransport) -> None:
    answers = fault.build(played)
    assert answers
    async with Loopback(answers) as server:
        models = models_with(fault, network, ref, server.url, SLOWER if fault.tiny else None)
        model = await models.open_model(ref)
        events, error = await play(model, ChatRequest("Be brief.", (QUESTION,)))
        asked = [request for request in server.requests if request.method == "POST"]
        check_end(fault, played, events, error, len(asked))
        check_calls(played, events)
        messages = goes_on(events, error, model.name)
        server.then(played.good())
        events, error = await play(model, ChatRequest("Be brief.", tuple(messages)))
        assert error is None
        check_next(server.requests[-1].body, played, messages)
        await server.left(kept=1)
