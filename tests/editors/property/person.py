"""The person at the model editor: what they type, paste, delete, format, save, close and open again, at random."""

import asyncio
from pathlib import Path
from random import Random

from tests.editors.property.desk import Desk
from tests.editors.property.model_editor import ModelEditor
from tests.editors.property.oracle import PERSON, Oracle, typed_in, written_in

SAME = ("\n", "    }\n", "    pass\n")
"""Lines of which there are many, so that a place cannot be told by its text."""


class Person:
    """One part of an interleaving, which makes `_editor`, `_desk` and `_oracle`, and a `_random` for each step."""

    _editor: ModelEditor
    _desk: Desk
    _oracle: Oracle
    _random: Random
    _ending: str

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.trace: list[str] = []
        self.counts: dict[str, int] = {}
        self._typed = 0

    def _note(self, line: str) -> None:
        self.trace.append(f"{asyncio.get_running_loop().time():9.3f} {line}")

    def _counted(self, what: str, really: bool = True) -> None:
        self.counts[what] = self.counts.get(what, 0) + really

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
        hunks = [item for item in self._desk.reviews.hunks.find_hunks(path) if item.pending]
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
            self._editor.will_save(path)
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
            lost = {item for item, home in self._oracle.typed.items() if home == path} - there
            self._oracle.gone = (self._oracle.gone | lost) - there
