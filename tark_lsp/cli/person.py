"""The person at the terminal, as the client sees them: shown what happens, asked y/n/a or hunk by hunk."""

from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.visible import one_line, visible

ALLOW, REJECT, CANCELLED = {"outcome": "allow"}, {"outcome": "reject"}, {"outcome": "cancelled"}
NOBODY = "nobody can be asked: this is not a terminal"


class TerminalPerson:
    """`keyboard` None: nobody can be asked, and everything that needs asking is refused.

    `yes`: edits are allowed unasked, where a grant could cover them, too: never protected files, text outside the
    selection, commands or the network (protocol.md, "Proposals and permissions").
    """

    def __init__(self, screen: Screen, keyboard: Keyboard | None, *, yes: bool) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._yes = yes
        self._hunks: dict[str, Sequence[Mapping[str, Any]]] = {}

    @property
    def can_review(self) -> bool:
        return self._yes or self._keyboard is not None

    def pending(self, turn_id: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The hunks of a turn that nobody has decided yet, each with its document's uri."""
        return [
            (uri, hunk)
            for uri, hunks in self._hunks.items()
            for hunk in hunks
            if hunk["turnId"] == turn_id and hunk["state"] == "pending"
        ]

    def update(self, update: Mapping[str, Any]) -> None:
        if update["kind"] == "hunks":
            self._hunks[update["uri"]] = update["hunks"]
        self._screen.update(update)

    def message(self, text: str, severity: int) -> None:
        self._screen.message(text, severity)

    async def permission(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        edits: Sequence[Mapping[str, Any]] = request.get("edits") or ()
        ordinary = bool(edits and request.get("grants"))
        self._show(request, ordinary=ordinary)
        if self._yes and ordinary:
            self._screen.line("applied, as --yes says", "dim")
            return ALLOW
        if self._keyboard is None:
            fix = "--yes would allow it" if ordinary else "--yes does not cover it"
            self._screen.line(f"refused: {NOBODY}; {fix}", "yellow")
            return {**REJECT, "reason": NOBODY}
        return await self._decide(self._keyboard, request, edits)

    async def _decide(
        self, keyboard: Keyboard, request: Mapping[str, Any], edits: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        grant = next(iter(request.get("grants") or ()), None)  # the narrowest stands first
        several = sum(len(edit["hunks"]) for edit in edits) > 1
        choices = ["y", "n", *(["a"] if grant else []), *(["h"] if several else [])]
        explained = {
            "y": "[y]es",
            "n": "[n]o",
            "a": f"[a]ll {one_line(grant['covers'])}" if grant else "",
            "h": "[h]unk by hunk",
        }
        verb = "Apply" if edits else "Allow"
        match await self._choice(keyboard, f"{verb}? {', '.join(explained[one] for one in choices)}: ", choices):
            case "y":
                return ALLOW
            case "a" if grant:
                return {**ALLOW, "grant": grant["id"]}
            case "h":
                chosen = await self.choose_hunks([(edit["uri"], hunk) for edit in edits for hunk in edit["hunks"]])
                return {**ALLOW, "hunks": chosen} if chosen else REJECT
            case "n":
                return REJECT
            case _:
                return CANCELLED

    async def choose_hunks(self, hunks: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """Ask for each (uri, hunk); the ids the person said yes to. With `yes` all, with nobody there none, unasked."""
        if self._yes or self._keyboard is None:
            return [hunk["hunkId"] for _, hunk in hunks] if self._yes else []
        chosen = []
        for number, (uri, hunk) in enumerate(hunks, 1):
            self._screen.hunk(uri, hunk)
            answer = await self._choice(self._keyboard, f"This hunk ({number} of {len(hunks)})? [y]es, [n]o: ", "yn")
            if answer == "y":
                chosen.append(hunk["hunkId"])
        return chosen

    async def input(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        options: Sequence[Mapping[str, Any]] = request.get("options") or ()
        self._screen.line(visible(request["question"]), "bold")
        self._list([option["label"] for option in options])
        if self._keyboard is None:
            self._screen.line(f"not answered: {NOBODY}", "yellow")
            return {"answer": None}
        free = request.get("freeText") or not options
        many = ", several numbers with spaces between" if request.get("multiple") else ""
        how = "your answer" if not options else f"number{many}" + (", or your own words" if free else "")
        while typed := await self._keyboard.ask(f"{how} (Enter: no answer): "):
            picked = _numbers(typed, len(options), several=bool(request.get("multiple")))
            if picked:
                return {"answer": [options[number - 1]["id"] for number in picked]}
            if free:
                return {"answer": typed}
        return {"answer": None}

    async def choose(self, message: str, titles: Sequence[str]) -> str | None:
        self._screen.line(visible(message), "bold")
        self._list(titles)
        if self._keyboard is None:
            self._screen.line(f"not answered: {NOBODY}", "yellow")
            return None
        while typed := await self._keyboard.ask("number (Enter: no answer): "):
            if picked := _numbers(typed, len(titles), several=False):
                return titles[picked[0] - 1]
        return None

    def _show(self, request: Mapping[str, Any], *, ordinary: bool) -> None:
        if not ordinary:  # the diff of an edit says it all; of the rest it matters why it is asked
            self._screen.line(f"{one_line(request['title'])}: {one_line(request['why'])}", "bold")
        if command := request.get("command"):
            self._screen.line(visible(command["text"]), "yellow")
            self._screen.line(f"in {one_line(command['cwd'])}", "dim")
            for name, value in (command.get("env") or {}).items():
                self._screen.line(f"with {one_line(name)}={one_line(value)}", "dim")
        self._screen.edits(request.get("edits") or ())

    def _list(self, labels: Sequence[str]) -> None:
        for number, label in enumerate(labels, 1):
            self._screen.line(f"  {number}. {one_line(label)}")

    async def _choice(self, keyboard: Keyboard, question: str, choices: Sequence[str]) -> str | None:
        """One of the choices, however often it takes: Enter alone decides nothing. None: the input ended."""
        while (typed := await keyboard.ask(question)) is not None:
            if (first := typed[:1].lower()) in choices and first:
                return first
        return None


def _numbers(typed: str, most: int, *, several: bool) -> list[int]:
    """The numbers from 1 to `most` that were typed, and nothing else was; else empty."""
    words = typed.replace(",", " ").split()
    if not words or (len(words) > 1 and not several) or not all(word.isascii() and word.isdigit() for word in words):
        return []
    numbers = [int(word) for word in words]
    return numbers if all(1 <= number <= most for number in numbers) else []
