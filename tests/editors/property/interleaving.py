"""One random interleaving: a person at one model editor, turns that propose, decisions, undo; by its seed."""

import asyncio
import logging.handlers
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from tark_lsp.server.apply import MISPLACED
from tark_lsp.server.review_hunks import ReviewHunk
from tark_lsp.workspace.edits import ProposedEdit, split_lines
from tark_lsp.workspace.snapshot import Snapshot
from tests.editors.behaviour import Behaviour
from tests.editors.property.desk import Desk
from tests.editors.property.marked_text import Mark
from tests.editors.property.model_editor import Buffer, Json, ModelEditor, Telling
from tests.editors.property.oracle import AGENT, PERSON, Oracle, Wrong, typed_in, written_in

PATIENCE = 1000.0
"""Virtual seconds that anything may take: 20 tries of an edit, each with all its waits."""
PAUSES = (0, 0, 0, 0.005, 0.03, 0.1, 0.2, 0.4, 0.8, 4)
SAME = ("\n", "    }\n", "    pass\n")


STEPS_EACH = 14


class Interleaving:
    def __init__(self, behaviour: Behaviour, seed: int, folder: Path, without: frozenset[int] = frozenset()) -> None:
        """`without`: steps that are left out, to find the few that matter."""
        self._behaviour, self._seed, self._folder, self._without = behaviour, seed, folder, without
        self.trace: list[str] = []
        self.counts: dict[str, int] = {}

    async def run(self) -> None:
        """Raises Wrong."""
        random = self._random = Random(f"{self._seed}")
        telling = random.choice(list(Telling))
        self._ending = "\r\n" if random.random() < 0.15 else "\n"
        latency = random.choice([0.0, 0.002, 0.05])
        self._note(f"{self._behaviour.name}, told {telling}, {latency} s away, {self._ending!r}")
        self._editor = ModelEditor(self._behaviour, telling, latency, Random(f"{self._seed} editor"))
        self._desk = Desk(self._folder, self._editor)
        self._oracle = Oracle(self._desk.reviews)
        self._editor.typing = self._type_meanwhile
        self._editor.arrived = self._arrived
        self._editor.overtaken = self._oracle.forget
        self._read: dict[Path, tuple[Snapshot, list[Mark]]] = {}
        self._tasks: list[asyncio.Future[Any]] = []
        self._answered_turns: set[str] = set()
        self._typed = self._written = 0
        self._wrong: Wrong | None = None
        self._paths = [self._new_file(name) for name in ("a.txt", "b.txt")]
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

    # Files

    def _new_file(self, name: str) -> Path:
        random, lines = self._random, []
        for number in range(random.choice([0, 3, 8, 15, 25])):
            lines.append(random.choice(SAME) if random.random() < 0.4 else f"line {number} of {name}\n")
        if lines and random.random() < 0.3:
            lines[-1] = f"line last of {name}"
        path = self._folder / name
        path.write_bytes("".join(lines).replace("\n", self._ending).encode())
        self._editor.open(path)
        text = self._editor.buffers[path].text
        self._oracle.originals[path] = list(zip(text.marks, text.lines, strict=True))
        return path

    # What the person does with text

    def _any_path(self) -> Path | None:
        return self._random.choice([*self._editor.buffers]) if self._editor.buffers else None

    def _word(self) -> str:
        size = self._random.randint(1, 3)
        word = "".join(chr(PERSON + self._typed + n) for n in range(size))
        self._typed += size
        return word

    def _line_near(self, path: Path) -> int:
        """Often one at a hunk."""
        lines = len(self._editor.buffers[path].text.lines)
        hunks = [each for each in self._desk.reviews.find(path) if each.open]
        if hunks and self._random.random() < 0.6:
            hunk = self._random.choice(hunks)
            return min(lines, max(0, self._random.choice([hunk.start - 1, hunk.start, hunk.end, hunk.end + 1])))
        return self._random.randint(0, lines)

    def _replace(self, path: Path, start: int, end: int, new: str) -> None:
        new = new.replace("\n", self._ending)
        removed = self._editor.buffers[path].text.text[start:end]
        self._oracle.gone |= typed_in(removed) | written_in(removed)
        self._oracle.typed.update(dict.fromkeys(typed_in(new), path))
        self._oracle.touched |= self._editor.type(path, start, end, new)
        self._note(f"   {path.name}[{start}:{end}] = {new!a}")

    def _type(self, path: Path | None = None) -> None:
        path = path or self._any_path()
        if path is None or path not in self._editor.buffers:
            return
        text, random = self._editor.buffers[path].text, self._random
        line = self._line_near(path)
        body = text.lines[line].rstrip("\r\n") if line < len(text.lines) else ""
        start, column = text.offset(line), random.choice([0, len(body), random.randint(0, len(body))])
        word = random.choice(["", "    "]) + self._word()
        match random.choice(["chars", "chars", "line", "line", "below", "break", "many"]):
            case "chars":
                self._replace(path, start + column, start + column, word)
            case "line":
                self._replace(path, start, start, random.choice([word, ""]) + "\n")
            case "below":
                self._replace(path, start + len(body), start + len(body), "\n" + random.choice([word, ""]))
            case "break":
                self._replace(path, start + column, start + column, "\n")
            case "many":
                copied = [
                    line.rstrip("\r\n") + "\n" for line in text.lines if not typed_in(line) and not written_in(line)
                ]
                pasted = [word + "\n", *random.choices([*SAME, *[c for c in copied if c in SAME]], k=2), self._word()]
                self._replace(path, start, start, "".join(pasted) + "\n")

    def _type_meanwhile(self, path: Path) -> None:
        self._note("   at that moment:")
        self._type(path)

    def _delete(self) -> None:
        path = self._any_path()
        if path is None or not (lines := self._editor.buffers[path].text.lines):
            return
        first = min(self._line_near(path), len(lines) - 1)
        last = min(len(lines), first + self._random.randint(1, 3))
        text = self._editor.buffers[path].text
        start, end = text.offset(first), text.offset(last)
        if self._random.random() < 0.3:  # part of the lines only
            end = self._random.randint(start, end)
            end += text.text[end - 1 : end + 1] == "\r\n"
        self._replace(path, start, end, "")

    def _format(self, path: Path | None = None) -> None:
        path = path or self._any_path()
        if path is None:
            return
        lines = self._editor.buffers[path].text.lines
        style = self._random.choice(["indent", "strip", "blanks", "some"])
        self._oracle.touched |= self._editor.replace_all(path, [self._formatted(line, style) for line in lines])
        self._note(f"   {path.name}: {style}")

    def _formatted(self, line: str, style: str) -> str:
        body = line.rstrip("\r\n")
        ending = line[len(body) :]
        match style:
            case "indent" if body.strip():
                return "\t" + body.lstrip() + ending
            case "strip":
                return body.rstrip() + ending
            case "blanks":
                return body + " " + ending
            case "some" if self._random.random() < 0.3:
                return "  " + body + ending
            case _:
                return line

    def _save(self) -> None:
        path = self._any_path()
        if path is not None:
            if self._random.random() < 0.3:
                self._format(path)
            self._editor.save(path)
            self._note(f"   {path.name}")

    async def _reopen(self) -> None:
        path = self._any_path()
        if path is None:
            return
        discard = self._random.random() < 0.3
        self._note(f"   {path.name}, {'not saved' if discard else 'saved'}")
        if not discard:
            self._editor.save(path)
        before = self._editor.buffers[path].text
        self._editor.close(path)
        await asyncio.sleep(self._random.choice([0, 0.1, 3]))
        text = path.read_bytes().decode()
        self._editor.open(path, before)
        now = self._editor.buffers[path].text
        if now.text != before.text:
            self._oracle.forget(path)
        if discard:
            there = typed_in(text)
            lost = {each for each, home in self._oracle.typed.items() if home == path} - there
            self._oracle.gone = (self._oracle.gone | lost) - there

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
        return ProposedEdit.between(base, "".join(made))

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
        hunks = [each for each in self._desk.reviews.find() if each.turn_id not in self._answered_turns]
        if not hunks:
            return []
        one = self._random.choice(hunks)
        match self._random.choice(["one", "one", "file", "turn"]):
            case "file":
                return [each for each in hunks if each.path == one.path and each.open]
            case "turn":
                return [each for each in hunks if each.turn_id == one.turn_id and each.open]
            case _:
                return [one]

    def _accept(self) -> None:
        self._decide(self._desk.reviews.accept)

    def _reject(self) -> None:
        self._decide(self._desk.reviews.reject)

    def _decide(self, decide: Callable[[Sequence[ReviewHunk]], Awaitable[None]]) -> None:
        hunks = self._some_hunks()
        self._note(f"   {[each.id[-4:] for each in hunks]}")
        if hunks:
            self._tasks.append(asyncio.ensure_future(decide(hunks)))

    def _answer(self) -> None:
        open_ones = [(params, future) for params, future in self._editor.questions if not future.done()]
        if not open_ones:
            return
        params, future = self._random.choice(open_ones)
        hunk_ids = [hunk["hunkId"] for edit in params["edits"] for hunk in edit["hunks"]]
        some = [each for each in hunk_ids if self._random.random() < 0.5]
        match self._random.choice(["all", "some", "edited", "reject", "cancelled"]):
            case "all":
                reply: Json = {"outcome": "allow"}
            case "some":
                reply = {"outcome": "allow", "hunks": some}
            case "edited":
                reply = {"outcome": "allow", "edited": [self._edited(each) for each in some[:1]]}
            case outcome:
                reply = {"outcome": outcome}
        self._note(f"   {params['turnId']}: {reply!a}")
        self._answered_turns.add(params["turnId"])
        self._editor.answer(future, reply, lambda: self._answered(reply))

    def _edited(self, hunk_id: str) -> Json:
        return {"hunkId": hunk_id, "newText": f"mine {self._word()}{self._ending}"}

    def _answered(self, reply: Json) -> None:
        """The answer came while the question was open, so what the person wrote in it counts as typed."""
        self._answered_turns.clear()
        for edited in reply.get("edited", ()):
            hunk = self._desk.reviews.get(edited["hunkId"])
            assert hunk is not None
            if hunk.applying or hunk.applied:  # accepted as it was, by another way of saying so
                continue
            self._oracle.typed.update(dict.fromkeys(typed_in(edited["newText"]), hunk.path))
            self._oracle.gone |= written_in("".join(hunk.new)) - written_in(hunk.hunk.old_text)

    def _undo(self) -> None:
        over = [turn for turn, task in self._desk.turns.items() if task.done()]
        if over:
            turn_id = self._random.choice(over)
            self._note(f"   {turn_id}")
            self._tasks.append(asyncio.ensure_future(self._undone(turn_id)))

    async def _undone(self, turn_id: str) -> set[Path]:
        """The files in which something of the turn is kept."""
        undone = await self._desk.undo(turn_id)
        kept = {path for path, _ in undone.kept}
        self._oracle.kept |= kept
        self._oracle.shown |= {path for path, reason in undone.kept if reason == MISPLACED}
        # What was accepted stays accepted, though it is taken back.
        self._oracle.exempt |= {
            each.id for path in {*undone.restored, *kept} for each in self._desk.reviews.find(path, turn_id)
        }
        self._note(f"   {turn_id}: restored {[path.name for path in undone.restored]}, kept {undone.kept}")
        return kept

    def _cancel(self) -> None:
        answered = self._answered_turns
        running = [turn for turn, task in self._desk.turns.items() if not task.done() and turn not in answered]
        if running:
            turn_id = self._random.choice(running)
            self._note(f"   {turn_id}")
            self._desk.turns[turn_id].cancel()

    # Quiet

    async def _settle(self) -> None:
        """Whatever needs no further word of the person is over, and all is told."""
        await asyncio.sleep(1)
        waiting = {self._desk.turns[params["turnId"]] for params, future in self._editor.questions if not future.done()}
        await self._over([each for each in self._tasks if each not in waiting])
        self._editor.flush_all()
        await asyncio.sleep(1)
        self._raise_wrong()
        for path, buffer in self._editor.buffers.items():
            document = self._desk.documents.at(path)
            if document is None or document.text != buffer.text.text:
                raise Wrong(f"the server's text of {path.name} is not the editor's")
        if not any(hunk.applying for hunk in self._desk.reviews.find()):
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
        asked = [each for each in self._desk.reviews.find() if each.open and not each.applied]
        if asked:
            raise Wrong(f"{len(asked)} hunks are pending for ever")
        await self._settle()
        self._counted("wrong places shown", bool(self._oracle.shown))
        for hunk in self._desk.reviews.find():
            self._counted(f"hunks {hunk.state}")
        self._note("the end: undo")
        for turn_id in reversed(self._desk.turns):
            closed = [*self._oracle.exempt]
            kept = await asyncio.wait_for(self._undone(turn_id), PATIENCE)
            self._editor.flush_all()
            await asyncio.sleep(1)
            self._check_undone(turn_id, kept, closed)
        await self._settle()

    def _check_undone(self, turn_id: str, kept: set[Path], closed: Sequence[str]) -> None:
        for hunk in self._desk.reviews.find(turn_id=turn_id):
            if hunk.path in kept | self._oracle.shown or hunk.path not in self._editor.buffers or hunk.id in closed:
                continue
            left = written_in("".join(hunk.new)) - written_in(hunk.hunk.old_text)
            if self._stands(left, self._editor.buffers[hunk.path].text.lines):
                raise Wrong(f"{turn_id} was undone in {hunk.path.name}, but hunk {hunk.id} is still there")

    def _stands(self, left: set[str], lines: Sequence[str]) -> bool:
        """Beside lines that look like others a diff may take a line for one that was moved, and undo leaves it."""
        alike = [line in (each.replace("\n", self._ending) for each in SAME) for line in lines]
        return any(left & set(line) and not any(alike[max(0, at - 1) : at + 2]) for at, line in enumerate(lines))

    def _note(self, line: str) -> None:
        self.trace.append(f"{asyncio.get_running_loop().time():9.3f} {line}")

    def _counted(self, what: str, really: bool = True) -> None:
        self.counts[what] = self.counts.get(what, 0) + really

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
