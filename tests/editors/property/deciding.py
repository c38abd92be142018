"""What an agent proposes at random, and what the person decides on it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tark_lsp.review.hunk import ReviewHunk
from tark_lsp.server.protocol.incoming import PermissionReply
from tark_lsp.workspace.checkpoints.turn_undo import UndoResult
from tark_lsp.workspace.edits import ProposedEdit, changed_lines
from tark_lsp.workspace.lines import Hunk, split_lines
from tark_lsp.workspace.outcomes import MISPLACED
from tark_lsp.workspace.snapshot import Snapshot
from tests.editors.property.marked_text import Mark
from tests.editors.property.model_editor import Buffer, Json
from tests.editors.property.oracle import AGENT, Wrong, typed_in, written_in
from tests.editors.property.person import Person


def pieces(edit: ProposedEdit, random: Random) -> Iterator[Hunk]:
    """Hunks that touch, or stand near each other, as several calls make them."""
    last: Hunk | None = None
    for hunk in changed_lines(edit).hunks:
        above, below = random.randint(0, len(hunk.old)), random.randint(0, len(hunk.new))
        cut = (
            Hunk(hunk.start, hunk.old[:above], hunk.new[:below]),
            Hunk(hunk.start + above, hunk.old[above:], hunk.new[below:]),
        )
        for piece in cut if edit.base.text.endswith("\n") and can_stand_alone(*cut) else [hunk]:
            order = last.order + 1 if last is not None and last.start == piece.start else 0
            last = replace(piece, order=order)
            yield last


def can_stand_alone(above: Hunk, below: Hunk) -> bool:
    """Each changes something, and no line is removed by one and comes again, changed, in the other."""
    moved = any(
        words(one.old_text) & words(other.new_text)
        for one, other in ((above, below), (below, above))
        for words in (written_in, typed_in)
    )
    return above.old != above.new and below.old != below.new and not moved


class Deciding(Person):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._read: dict[Path, tuple[Snapshot, list[Mark]]] = {}
        """What the model read some time ago."""
        self._tasks: list[asyncio.Future[Any]] = []
        self._answered_turns: set[str] = set()
        """Those whose answer is on its way."""
        self._written = 0
        self._wrong: Wrong | None = None

    # What the agent does

    def _propose(self) -> None:
        random = self._random
        turn_id = f"turn-{len(self._desk.turns)}"
        chosen = [path for path in self._editor.buffers if self._desk.documents.at(path) is not None]
        random.shuffle(chosen)
        edits = [edit for path in chosen[: random.randint(1, 2)] if (edit := self._edit(turn_id, path)).hunks]
        ask, after = random.choice([(True, False), (True, False), (False, True), (False, False)])
        if edits:
            self._desk.propose(turn_id, tuple(edits), ask=ask, after=after)
            self._tasks.append(self._desk.turns[turn_id])
            places = {edit.path.name: [(hunk.start, hunk.end, len(hunk.new)) for hunk in edit.hunks] for edit in edits}
            self._note(f"   {turn_id}: {places}, ask={ask}, after={after}")

    def _edit(self, turn_id: str, path: Path) -> ProposedEdit:
        """Of the text of now, or of that which the model read some time ago."""
        now = self._desk.workspace.read(path), [*self._editor.told[path]]
        base, marks = self._read.get(path, now) if self._random.random() < 0.25 else now
        self._read[path] = now
        marks = now[1] if base.text == now[0].text else marks  # lines that came back can be other ones
        self._oracle.bases[turn_id, path] = (marks, base.text == now[0].text)
        lines = split_lines(base.text)
        random = self._random
        if random.random() < 0.1:
            at = list(range(len(lines)))
        else:
            at = sorted(random.sample(range(len(lines) + 1), min(len(lines) + 1, random.randint(1, 4))))
        made: list[str] = []
        done = 0
        for start in at:
            if start < done:
                continue
            made += lines[done:start]
            kind = random.choice(["replace", "replace", "change", "insert", "delete"])
            size = 0 if kind == "insert" else random.choice([1, 1, 2, 3])
            old = lines[start : start + size]
            done = start + len(old)
            if kind == "change":
                made += [line.rstrip("\r\n") + self._written_word() + self._ending for line in old]
            elif kind != "delete":
                made += [f"new {self._written_word()}{self._ending}" for _ in range(random.randint(1, 3))]
        made += lines[done:]
        whole = ProposedEdit.between(base, "".join(made))
        apart = Random(f"{turn_id} {base.text} {whole.after}")  # its own, so that older seeds play what they played
        return replace(whole, hunks=tuple(pieces(whole, apart))) if apart.random() < 0.5 else whole

    def _written_word(self) -> str:
        self._written += 1
        return chr(AGENT + self._written)

    def _arrived(self, buffer: Buffer, params: Json, newer: bool) -> list[list[Mark]] | None:
        spans = [(first, last, new) for first, last, new, *_ in params["edits"]]
        brief = [(first, last, len(new)) for first, last, new in spans]
        self._note(f"   >> {params['label']}: {buffer.path.name} {brief}{', stale' if newer else ''}")
        self._counted("edits")
        self._counted("stale edits made", newer)
        try:
            return self._oracle.arrived(buffer.path, buffer.text, spans, params["label"], newer=newer)
        except Wrong as wrong:
            self._wrong = self._wrong or wrong
            return None

    # What the person decides

    def _some_hunks(self) -> Sequence[ReviewHunk]:
        # Not what they answer at this very moment: of two decisions in one moment either may come first.
        hunks = [hunk for hunk in self._desk.reviews.hunks.find_hunks() if hunk.turn_id not in self._answered_turns]
        if not hunks:
            return []
        one = self._random.choice(hunks)
        match self._random.choice(["one", "one", "file", "turn"]):
            case "file":
                return [hunk for hunk in hunks if hunk.path == one.path and hunk.pending]
            case "turn":
                return [hunk for hunk in hunks if hunk.turn_id == one.turn_id and hunk.pending]
            case _:
                return [one]

    def _accept(self) -> None:
        self._decide(self._desk.reviews.accept)

    def _reject(self) -> None:
        self._decide(self._desk.reviews.reject)

    def _decide(self, decide: Callable[[list[str]], Awaitable[None]]) -> None:
        hunks = self._some_hunks()
        self._note(f"   {[item.id[-4:] for item in hunks]}")
        if hunks:
            self._tasks.append(asyncio.ensure_future(decide([hunk.id for hunk in hunks])))

    def _answer(self) -> None:
        open_ones = [(params, future) for params, future in self._editor.questions if not future.done()]
        if not open_ones:
            return
        params, future = self._random.choice(open_ones)
        hunk_ids = [hunk["hunkId"] for edit in params["edits"] for hunk in edit["hunks"]]
        some = [item for item in hunk_ids if self._random.random() < 0.5]
        match self._random.choice(["all", "some", "edited", "reject", "cancelled"]):
            case "all":
                reply: Json = {"outcome": "allow"}
            case "some":
                reply = {"outcome": "allow", "hunks": some}
            case "edited":
                reply = {"outcome": "allow", "edited": [self._edited(item) for item in some[:1]]}
            case outcome:
                reply = {"outcome": outcome}
        self._note(f"   {params['turnId']}: {reply!a}")
        self._answered_turns.add(params["turnId"])
        self._editor.answer(future, reply, self._answered_turns.clear)

    def _edited(self, hunk_id: str) -> Json:
        return {"hunkId": hunk_id, "newText": f"mine {self._word()}{self._ending}"}

    def _answered(self, reply: PermissionReply) -> None:
        """The answer came while the question was open, so what the person wrote in it counts as typed."""
        for edited in reply.edited:
            hunk = self._desk.reviews.hunks[edited.hunk_id]
            self._oracle.typed.update(dict.fromkeys(typed_in(edited.new_text), hunk.path))
            self._oracle.gone |= written_in("".join(hunk.new)) - written_in(hunk.old_text)

    def _undo(self) -> None:
        over = [turn for turn, task in self._desk.turns.items() if task.done()]
        if over:
            turn_id = self._random.choice(over)
            self._note(f"   {turn_id}")
            self._tasks.append(asyncio.ensure_future(self._undone(turn_id)))

    async def _undone(self, turn_id: str) -> UndoResult:
        undone = await self._desk.undo(turn_id)
        kept = {path for path, _ in undone.kept}
        self._oracle.kept |= kept
        self._oracle.shown |= {path for path, reason in undone.kept if reason == MISPLACED}
        # What was accepted stays accepted, though it is taken back.
        self._oracle.exempt |= {
            hunk.id for path in {*undone.restored, *kept} for hunk in self._desk.reviews.hunks.find_hunks(path, turn_id)
        }
        self._note(f"   {turn_id}: restored {[path.name for path in undone.restored]}, kept {undone.kept}")
        return undone

    def _cancel(self) -> None:
        answered = self._answered_turns
        running = [turn for turn, task in self._desk.turns.items() if not task.done() and turn not in answered]
        if running:
            turn_id = self._random.choice(running)
            self._note(f"   {turn_id}")
            self._desk.turns[turn_id].cancel()
