"""One random interleaving: a person at one model editor, turns that propose, decisions, undo; by its seed."""

import asyncio
import logging.handlers
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from tark_lsp.review.events import ReviewEvent
from tests.editors.behaviour import Behaviour
from tests.editors.property.deciding import Deciding
from tests.editors.property.desk import Desk
from tests.editors.property.model_editor import ModelEditor, Telling
from tests.editors.property.oracle import Oracle, Wrong, words_of
from tests.editors.property.person import SAME

PATIENCE = 1000.0
"""Virtual seconds that anything may take: 20 tries of an edit, each with all its waits."""
PAUSES = (0, 0, 0, 0.005, 0.03, 0.1, 0.2, 0.4, 0.8, 4)
STEPS_EACH = 14
CHANGED_SINCE = "changes were changed again since"


class Interleaving(Deciding):
    """Of one seed; `without`: steps that are left out, to find the few that matter."""

    def __init__(self, behaviour: Behaviour, seed: int, folder: Path, without: frozenset[int] = frozenset()) -> None:
        super().__init__(folder)
        self._behaviour, self._seed, self._without = behaviour, seed, without
        self._conflicts: set[str] = set()
        """Hunks that were in conflict: they can be pending again after their turn is over."""

    async def run(self) -> None:
        """Raises Wrong."""
        random = self._random = Random(f"{self._seed}")
        telling = random.choice(list(Telling))
        self._ending = "\r\n" if random.random() < 0.15 else "\n"
        latency = random.choice([0.0, 0.002, 0.05])
        self._note(f"{self._behaviour.name}, told {telling}, {latency} s away, {self._ending!r}")
        self._editor = ModelEditor(self._behaviour, telling, latency, Random(f"{self._seed} editor"))
        self._editor.announces = in_place = self._seed % 2 == 1
        self._desk = Desk(self._folder, self._editor, self._answered, in_place=in_place)
        self._oracle = Oracle(self._desk.reviews)
        self._desk.reviews.events.listen(self._note_conflicts)
        self._editor.typing = self._type_meanwhile
        self._editor.arrived = self._arrived
        self._editor.overtaken = self._oracle.forget
        for name in ("a.txt", "b.txt"):
            self._new_file(name)
        await asyncio.sleep(1)
        with errors_raised():
            for number in range(STEPS_EACH):
                self._random = Random(f"{self._seed}/{number}")
                if number not in self._without:
                    await self._step(number)
            self._random = Random(f"{self._seed}/end")
            await self._end()

    async def _step(self, number: int) -> None:
        names, weights = zip(*((step, weight) for step, weight in STEPS), strict=True)
        (step,) = self._random.choices(names, weights)
        self._note(f"{number}. {step.__name__.lstrip('_')}")
        done = step(self)
        if done is not None:
            await done
        await asyncio.sleep(self._random.choice(PAUSES))
        self._raise_wrong()

    def _note_conflicts(self, _event: ReviewEvent) -> None:
        hunks = self._desk.reviews.hunks.find_hunks()
        self._conflicts.update(hunk.id for hunk in hunks if hunk.state == "conflict")

    # Quiet

    async def _settle(self) -> None:
        """Whatever needs no further word of the person is over, and all is told."""
        await asyncio.sleep(1)
        waiting = {self._desk.turns[params["turnId"]] for params, future in self._editor.questions if not future.done()}
        await self._over([task for task in self._tasks if task not in waiting])
        await self._told()
        self._raise_wrong()
        if any(hunk.life.in_flight for hunk in self._desk.reviews.hunks.find_hunks()):
            return  # of a cancelled turn: the editor makes it when it wants
        for path, buffer in self._editor.buffers.items():
            document = self._desk.documents.at(path)
            if document is None or document.text != buffer.text.text:
                raise Wrong(f"the server's text of {path.name} is not the editor's")
        self._oracle.check({path: buffer.text.text for path, buffer in self._editor.buffers.items()})

    async def _over(self, tasks: Sequence[asyncio.Future[Any]]) -> None:
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=PATIENCE)
            if late:
                raise Wrong(f"still not over after {PATIENCE} s: {late}")
            for task in tasks:
                if not task.cancelled() and (error := task.exception()) is not None:
                    raise Wrong(f"{type(error).__name__}: {error}") from error

    async def _end(self) -> None:
        """All turns end; then everything is undone."""
        await asyncio.sleep(1)  # what was answered has arrived
        for task in self._desk.turns.values():
            task.cancel()
        await self._over(self._tasks)
        await asyncio.sleep(PATIENCE)  # an edit that was on its way when its turn was cancelled is followed to its end
        pending = [item for item in self._desk.reviews.hunks.find_hunks() if item.pending and not item.applied]
        asked = [item for item in pending if item.id not in self._conflicts]
        if asked:
            raise Wrong(f"{len(asked)} hunks are pending for ever")
        await self._settle()
        self._counted("wrong places shown", bool(self._oracle.shown))
        for hunk in self._desk.reviews.hunks.find_hunks():
            self._counted(f"hunks {hunk.state}")
        self._note("the end: undo")
        for turn_id in reversed(self._desk.turns):
            closed = [*self._oracle.exempt]
            undone = await asyncio.wait_for(self._undone(turn_id), PATIENCE)
            await self._told()
            self._check_undone(turn_id, {path for path, _ in undone.kept}, closed)
            if all(reason.endswith(CHANGED_SINCE) for _, reason in undone.kept):
                await self._undo_again(turn_id)
        await self._settle()

    async def _undo_again(self, turn_id: str) -> None:
        """What was changed since is kept again, and the rest was undone."""
        edits = self.counts.get("edits")
        await asyncio.wait_for(self._undone(turn_id), PATIENCE)
        await self._told()
        if self.counts.get("edits") != edits:
            raise Wrong(f"{turn_id} was undone twice")

    async def _told(self) -> None:
        self._editor.flush_all()
        await asyncio.sleep(1)

    def _check_undone(self, turn_id: str, kept: set[Path], closed: Sequence[str]) -> None:
        hunks = self._desk.reviews.hunks.find_hunks(turn_id=turn_id)
        for hunk in hunks:
            if hunk.path in kept | self._oracle.shown or hunk.path not in self._editor.buffers or hunk.id in closed:
                continue
            if self._stands(words_of(hunk, hunks), self._editor.buffers[hunk.path].text.lines):
                raise Wrong(f"{turn_id} was undone in {hunk.path.name}, but hunk {hunk.id} is still there")

    def _stands(self, left: set[str], lines: Sequence[str]) -> bool:
        """Beside lines that look like others a diff may take a line for one that was moved, and undo leaves it."""
        alike = [line.strip() in map(str.strip, SAME) for line in lines]
        return any(left & set(line) and not any(alike[max(0, at - 1) : at + 2]) for at, line in enumerate(lines))

    def _raise_wrong(self) -> None:
        self._oracle.look()
        if self._wrong is not None:
            raise self._wrong


STEPS: Sequence[tuple[Callable[[Interleaving], Awaitable[None] | None], int]] = (
    (Interleaving._type, 26),
    (Interleaving._delete, 7),
    (Interleaving._format, 4),
    (Interleaving._save, 4),
    (Interleaving._reopen, 2),
    (Interleaving._propose, 14),
    (Interleaving._accept, 10),
    (Interleaving._reject, 8),
    (Interleaving._answer, 10),
    (Interleaving._undo, 4),
    (Interleaving._cancel, 1),
    (Interleaving._settle, 3),
)


@contextmanager
def errors_raised() -> Iterator[None]:
    """What the server only logs as an error is one here."""
    handler = logging.handlers.BufferingHandler(1000)
    handler.setLevel(logging.ERROR)
    logger = logging.getLogger("tark_lsp")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
    if handler.buffer:
        raise Wrong(f"logged: {handler.buffer[0].getMessage()} {handler.buffer[0].exc_info}")
