"""TerminalPerson: the user at the terminal. It shows updates to them, and asks them for decisions."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tark_lsp.cli.choices import Choice, HunkChoices, Hunks, TextEditor, choose_hunks, choose_letter_and_words
from tark_lsp.cli.keyboard import AnswerInput
from tark_lsp.cli.screen import NOBODY, Screen
from tark_lsp.cli.visible import visible, whole_line

ALLOW, REJECT, CANCELLED = {"outcome": "allow"}, {"outcome": "reject"}, {"outcome": "cancelled"}
REASON = "why not (Enter: no reason): "
GRANT_KEYS = "123456789"
SHORT_LIST = 2
"""If there are more grants than this, all are listed, each with a key. Else only the narrowest is offered (`[a]ll`).
The grants for an MCP call are always listed."""


class TerminalPerson:
    """If `keyboard` is None, nobody can be asked, and everything that needs permission is refused.

    `yes`: allow edits without asking if a grant could cover them. So protected files, text outside the selection,
    commands and the network are never allowed (protocol.md, "Permissions"). None: the command does not have this
    option. `edit`: the user's own editor.
    """

    def __init__(
        self, screen: Screen, keyboard: AnswerInput | None, *, yes: bool | None, edit: TextEditor | None = None
    ) -> None:
        self._screen = screen
        self._edit = edit
        self._keyboard = keyboard
        self._yes = bool(yes)
        self._has_yes_option = yes is not None
        self._hunks: dict[str, Sequence[Mapping[str, Any]]] = {}

    @property
    def can_review(self) -> bool:
        return self._yes or self._keyboard is not None

    def pending(self, turn_id: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The undecided hunks of a turn, each with the URI of its document."""
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
            self._screen.print_line("applied because of --yes", "dim")
            return ALLOW
        if self._keyboard is None:
            fix = "; --yes would allow it" if ordinary else "; --yes does not allow it"
            self._screen.print_line(f"refused: {NOBODY}{fix if self._has_yes_option else ''}", "yellow")
            return {**REJECT, "reason": NOBODY}
        return await self._decide(self._keyboard, request, edits)

    async def _decide(
        self, keyboard: AnswerInput, request: Mapping[str, Any], edits: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        verb = "Apply" if edits else "Allow"
        grants: Sequence[Mapping[str, Any]] = request.get("grants") or ()
        listed = grants if len(grants) > SHORT_LIST or is_grantable_mcp(request) else ()
        grant = None if listed or not grants else grants[0]  # the narrowest is the first
        for key, one in zip(GRANT_KEYS, listed, strict=False):
            self._screen.print_line(f"  {key}  {verb.lower()} {whole_line(_covers(one, request))}")
        hunks = [(edit["uri"], hunk) for edit in edits for hunk in edit["hunks"]]
        choices = [
            Choice("[y]es", f"{verb.lower()} what is shown above, once"),
            Choice("[n]o", "refuse", words=True),
            Choice("[r]eason", "refuse, and write why: the model reads it", words=True, more=REASON),
            *([Choice(f"[a]ll {whole_line(grant['covers'])}", "yes, and do not ask again for these")] if grant else []),
            *(
                Choice(f"[{key}]", f"yes, and do not ask again for {whole_line(one['covers'])}")
                for key, one in zip(GRANT_KEYS, listed, strict=False)
            ),
            *([Choice("[h]unk by hunk", "review, choose and edit each change")] if self._by_hunk(hunks) else []),
        ]
        more = [f"with {variable}" for variable in _environment(request)]
        match await choose_letter_and_words(keyboard, self._screen, f"{verb}?", choices, more):
            case "y", _:
                return ALLOW
            case "a", _ if grant:
                return {**ALLOW, "grant": grant["id"]}
            case key, _ if key in GRANT_KEYS:
                return {**ALLOW, "grant": listed[GRANT_KEYS.index(key)]["id"]}
            case "h", _:
                chosen = await choose_hunks(keyboard, self._screen, hunks, self._edit)
                return CANCELLED if chosen is None else _allowed(chosen)
            case "n" | "r", reason:
                return {**REJECT, "reason": reason} if reason else REJECT
            case _:
                return CANCELLED

    def _by_hunk(self, hunks: Hunks) -> bool:
        return len(hunks) > 1 or (bool(hunks) and self._edit is not None)

    async def choose_hunks(self, hunks: Hunks) -> HunkChoices | None:
        """The accepted hunks; None if the user did not decide. With `yes`, all are accepted without asking. If nobody
        can be asked, none are.
        """
        if self._yes or self._keyboard is None:
            return HunkChoices([hunk["hunkId"] for _, hunk in hunks] if self._yes else [])
        return await choose_hunks(self._keyboard, self._screen, hunks, self._edit)

    async def input(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        options: Sequence[Mapping[str, Any]] = request.get("options") or ()
        self._screen.print_line(visible(request["question"]), "bold")
        self._list([option["label"] for option in options])
        if self._keyboard is None:
            self._screen.print_line(f"not answered: {NOBODY}", "yellow")
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
            self._say_wrong(typed)
        return {"answer": None}

    async def choose(self, message: str, titles: Sequence[str]) -> str | None:
        self._screen.print_line(visible(message), "bold")
        self._list(titles)
        if self._keyboard is None:
            self._screen.print_line(f"not answered: {NOBODY}", "yellow")
            return None
        while typed := await self._keyboard.ask("number (Enter: no answer): "):
            if picked := _numbers(typed, len(titles), several=False):
                return titles[picked[0] - 1]
            self._say_wrong(typed)
        return None

    def _say_wrong(self, typed: str) -> None:
        self._screen.print_line(f"{whole_line(typed)} is not one of these numbers", "yellow")

    def _show(self, request: Mapping[str, Any], *, ordinary: bool) -> None:
        if not ordinary:  # the diff of an edit is enough; for other requests the reason is important
            self._screen.print_line(f"{whole_line(request['title'])}: {whole_line(request['why'])}", "bold")
        if command := request.get("command"):
            self._screen.print_line(visible(command["text"]), "yellow", exact=True)
            self._screen.print_line(f"in {whole_line(command['cwd'])}", "dim", exact=True)
            given = _environment(request)
            own = [variable for variable in given if variable not in _current_environment()]
            if len(own) < len(given):
                own.append(f"and {len(given) - len(own)} as in this terminal (? shows all)")
            if own:
                self._screen.print_line(f"with {' '.join(own)}", "dim", exact=True)
        self._screen.show_edits(request.get("edits") or ())

    def _list(self, labels: Sequence[str]) -> None:
        for number, label in enumerate(labels, 1):
            self._screen.print_line(f"  {number}. {whole_line(label)}")


def is_grantable_mcp(request: Mapping[str, Any]) -> bool:
    """Whether the request is about a call to an MCP server that a grant can cover. Of other requests, only commands and
    edits can have grants."""
    return bool(request.get("grants")) and not (request.get("command") or request.get("edits"))


def _covers(grant: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """What the grant covers. The text of the command is left out, because it is shown above."""
    covers, text = str(grant["covers"]), (request.get("command") or {}).get("text", "")
    quoted = f"`{text}`"
    return f"exactly this command{covers[len(quoted) :]}" if text and covers.startswith(quoted) else covers


def _environment(request: Mapping[str, Any]) -> list[str]:
    """The environment of a command, as `NAME=value`."""
    given: Mapping[str, str] = (request.get("command") or {}).get("env") or {}
    return [f"{whole_line(name)}={whole_line(value)}" for name, value in given.items()]


def _current_environment() -> frozenset[str]:
    """The variables of this process. The user knows them, so they are not listed."""
    return frozenset(f"{whole_line(name)}={whole_line(value)}" for name, value in os.environ.items())


def _allowed(chosen: HunkChoices) -> Mapping[str, Any]:
    if not chosen.ids:
        return REJECT
    edited = [{"hunkId": name, "newText": text} for name, text in chosen.edited.items() if name in chosen.ids]
    return {**ALLOW, "hunks": chosen.ids, **({"edited": edited} if edited else {})}


def _numbers(typed: str, most: int, *, several: bool) -> list[int]:
    """The typed numbers from 1 to `most`; empty if anything else was typed."""
    words = typed.replace(",", " ").split()
    if not words or (len(words) > 1 and not several) or not all(word.isascii() and word.isdigit() for word in words):
        return []
    numbers = [int(word) for word in words]
    return numbers if all(1 <= number <= most for number in numbers) else []
