"""You accept, and close the file without saving it, at any moment of the edit: each turn ends, and a change counts as
accepted only if the editor made it or the file has it.
"""

import asyncio
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

import pytest

from tark_lsp.workspace.edits import ProposedEdit
from tests.editors.behaviour import BEHAVIOURS, Behaviour
from tests.editors.property.desk import Desk
from tests.editors.property.model_editor import ModelEditor, Telling
from tests.editors.property.oracle import Wrong
from tests.exhaustive import seeds
from tests.virtual_clock import VirtualLoop

TEXT = "".join(f"line {number}\n" for number in range(12))
AFTER = TEXT.replace("line 2\n", "TWO\nTWO2\n").replace("line 9\n", "NINE\n")
PATIENCE = 1000.0
"""Virtual seconds, as are all here."""
CLOSED_FOR = (0.0, 0.1, 3.0, None)
"""Until the file is opened again; None: for ever."""
MOMENTS = (*(0.005 * number for number in range(20)), *(0.1 * number for number in range(1, 40)))
"""From the acceptance to the close. The editor makes an edit up to 2 s after it arrived."""


@dataclass(frozen=True, slots=True)
class Case:
    telling: Telling
    latency: float
    closed_for: float | None
    answers: bool
    """The turn's question is answered; else its hunks are accepted."""
    moment: float


CASES = [Case(*parts) for parts in product(Telling, (0.0, 0.05), CLOSED_FOR, (True, False), MOMENTS)]


async def accept_and_close(behaviour: Behaviour, case: Case, folder: Path) -> None:
    """Raises Wrong."""
    editor = ModelEditor(behaviour, case.telling, case.latency, Random(f"{case}"))
    desk = Desk(folder, editor)
    made: list[str] = []
    editor.arrived = lambda _, params, newer: made.append(f"{params['label']}, stale: {newer}")
    path = folder / "a.txt"
    path.write_text(TEXT)
    editor.open(path)
    await asyncio.sleep(1)
    desk.propose("turn", (ProposedEdit.between(desk.workspace.read(path), AFTER),), ask=True, after=False)
    await asyncio.sleep(1)
    tasks: list[asyncio.Future[object]] = [desk.turns["turn"]]
    if case.answers:
        editor.answer(editor.questions[0][1], {"outcome": "allow"})
    else:
        tasks.append(asyncio.ensure_future(desk.reviews.accept([hunk.id for hunk in desk.reviews.hunks.find_hunks()])))
    await asyncio.sleep(case.moment)
    editor.close(path)
    if case.closed_for is not None:
        await asyncio.sleep(case.closed_for)
        editor.open(path)
    _, late = await asyncio.wait(tasks, timeout=PATIENCE)
    if late:
        raise Wrong(f"not over after {PATIENCE:g} s: {late}, made: {made}")
    await asyncio.gather(*tasks)
    editor.flush_all()
    await asyncio.sleep(1)
    texts = {path.read_text(), *(buffer.text.text for buffer in editor.buffers.values())}
    check(desk, texts, made)


def check(desk: Desk, texts: set[str], made: list[str]) -> None:
    """`texts`: that of the file, and of its document. `made`: the edits that the editor made."""
    found = [(hunk.state, hunk.reason) for hunk in desk.reviews.hunks.find_hunks()]
    states = {state for state, _ in found}
    if states == {"accepted"} and not made and AFTER not in texts:
        raise Wrong("accepted, and never made")
    if states not in ({"accepted"}, {"rejected"}):  # rejected: closed before the edit was proven, which undoes it
        raise Wrong(f"{found}, made: {made}")
    if states == {"rejected"} and (not made or AFTER in texts):
        raise Wrong(f"{found}, made: {made}, {texts}")
    for document in desk.documents:
        if document.text not in texts:
            raise Wrong(f"the server's text is {document.text!r}")


@pytest.mark.property
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_every_turn_ends(behaviour: Behaviour, tmp_path: Path) -> None:
    for seed in seeds(20):
        case = Random(f"{behaviour.name} {seed}").choice(CASES)
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            try:
                runner.run(accept_and_close(behaviour, case, tmp_path.resolve()))
            except Wrong as wrong:
                raise Wrong(f"{case}: {wrong}") from wrong
