"""Every fault on every wire with every kind of answer, for every shipped provider.

Source: providers.md, "What happens when a provider fails".

Each cell asks for an answer and then goes on: whatever happened, there is an end within a bound, named, and the history
is good for another request, which is answered. A push plays all faults of a wire on one provider, and three faults on
every other provider; the exhaustive run plays them all on all.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tark_lsp.llm.events import Done
from tark_lsp.llm.request import ChatRequest
from tark_lsp.llm.wire.wire import WIRES
from tests.cases import cases
from tests.llm.faults.checks import (
    QUESTION,
    SHIPPED,
    check_calls,
    check_end,
    check_next,
    goes_on,
    models_with,
    pairs,
    play,
)
from tests.llm.faults.script import Script, script
from tests.llm.faults.table import Fault, faults
from tests.llm.faults.transport import MemoryTransport

pytestmark = pytest.mark.slow  # more than a thousand cells

FIRST_OF_WIRE = {wire: ref for ref, wire in reversed(list(pairs()))}
"""The provider that plays all faults of its wire in every push."""

ON_EVERY_PROVIDER = ("closed before the head", "429 once", "ended after the first content")
"""A failure without an answer, one that is retried, and one in the middle of an answer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """`ref` names a model of the provider; `answer` is the kind of answer that the fault hits."""

    ref: str
    wire: str
    name: str
    fault: Fault
    played: Script

    def __str__(self) -> str:
        return f"{self.ref} {self.wire} {self.played.answer} {self.name}"


def cells_of(ref: str, wire: str) -> Iterator[Cell]:
    for name, fault in faults(wire).items():
        for answer in fault.answers:
            played = script(wire, answer)
            if fault.build(played) is not None:
                yield Cell(ref, wire, name, fault, played)


def test_the_matrix_is_whole() -> None:
    covered = list(pairs())
    assert {ref.partition("/")[0] for ref, _ in covered} == set(SHIPPED)
    assert {wire for _, wire in covered} == set(WIRES) == set(FIRST_OF_WIRE)
    assert sum(len(list(cells_of(ref, wire))) for ref, wire in covered) >= 2000
    for wire in WIRES:
        assert set(ON_EVERY_PROVIDER) <= set(faults(wire))


@pytest.mark.parametrize("wire", WIRES)
async def test_every_fault_of_a_wire(wire: str) -> None:
    await play_all(cells_of(FIRST_OF_WIRE[wire], wire))


async def test_three_faults_on_every_provider() -> None:
    await play_all(cell for ref, wire in pairs() for cell in cells_of(ref, wire) if cell.name in ON_EVERY_PROVIDER)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("ref", "wire"), list(pairs()), ids=[ref for ref, _ in pairs()])
async def test_every_fault_on_every_provider(ref: str, wire: str) -> None:
    await play_all(cells_of(ref, wire))


async def play_all(chosen: Iterator[Cell]) -> None:
    with cases() as case:
        for cell in chosen:
            with case(cell):
                await play_cell(cell)


async def play_cell(cell: Cell) -> None:
    fault, played = cell.fault, cell.played
    answers = fault.build(played)
    assert answers
    transport = MemoryTransport(answers)
    models = models_with(fault, transport, cell.ref)
    model = await models.open_model(cell.ref)
    events, error = await play(model, ChatRequest("Be brief.", (QUESTION,)))
    check_end(fault, played, events, error, len(transport.requests))
    check_calls(played, events)
    messages = goes_on(events, error, model.name)
    transport.then(played.good())
    events, error = await play(model, ChatRequest("Be brief.", tuple(messages)))
    assert error is None
    assert isinstance(events[-1], Done)
    check_next(transport.requests[-1].body, played, messages)
    await models.aclose()
    assert transport.closed == transport.opened
    assert asyncio.all_tasks() == {asyncio.current_task()}
