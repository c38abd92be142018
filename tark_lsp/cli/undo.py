"""`tark-lsp undo [TURN]`: lists what turns changed in the current folder, and takes one of them back."""

import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import at_terminal, finish, new_console
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError
from tark_lsp.folders import checkpoints_path
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.file_histories import FileHistory
from tark_lsp.workspace.checkpoints.store import CheckpointStore, LoggedTurn
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Outcome
from tark_lsp.workspace.snapshot import Snapshot

EPILOG = """\
Without TURN, the turns that changed something below the current folder, the newest first.
What would be taken back is shown as a diff and asked about. What you changed since stays; what cannot be
taken back because of it is said, and another call tries just that again.
Files are written on disk: an editor that has one open notices, and offers to load it again. Where it has
unsaved changes, save them first, or use the editor's own command (tark.turn.undo). Not for turns that still run.
Exit codes: 0 listed, or all is taken back; 1 something is kept, the answer was no, or an error; 2 wrong usage."""
STYLES = {"@": "cyan", "-": "red", "+": "green"}
"""Of the lines of a diff, by their first character."""


class NothingOpen:
    """`Buffers` of no editor at all: every file is a closed one."""

    def get(self, _: Path) -> Snapshot | None:
        return None

    def paths(self) -> Sequence[Path]:
        return ()

    async def apply(self, edit: ProposedEdit, _: str) -> Outcome:
        raise AssertionError(f"{edit.path} is not open, and what is not is written by the workspace")

    async def move(self, _: Snapshot, __: Path) -> Outcome | None:
        return None

    async def remove(self, _: Snapshot) -> Outcome | None:
        return None


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(
        "tark-lsp undo",
        description="List what the agent changed, and take it back turn by turn.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("turn", metavar="TURN", nargs="?", help="its id, or enough of its start")
    which.add_argument("--last", action="store_true", help="the newest turn here that is not taken back yet")
    parser.add_argument("--all", action="store_true", help="turns in every folder, not only in this one")
    parser.add_argument("--yes", action="store_true", help="take it back unasked")
    options = parser.parse_args(arguments)
    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(), folder)
    return finish(_Undo(screen, folder).run(options), screen)


class _Undo:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._broken = False
        self._checkpoints = Checkpoints(CheckpointStore(checkpoints_path, self._failed))

    async def run(self, options: Namespace) -> int:
        turns = [each for each in self._checkpoints.turns() if options.all or self._is_here(each)]
        if self._broken:
            return NOT_DONE
        if options.last:
            left = [each for each in turns if not self._is_undone(each)]
            if not left:
                raise RequestError("there is no turn here to be taken back")
            return await self._take_back(left[0], yes=options.yes)
        if options.turn:
            return await self._take_back(_chosen(options.turn, turns), yes=options.yes)
        for each in turns:
            self._list(each)
        if not turns:
            self._screen.line("no turn changed anything here", "yellow")
        return DONE

    def _list(self, turn: LoggedTurn) -> None:
        when = datetime.fromtimestamp(turn.time).strftime("%Y-%m-%d %H:%M")
        undone = self._is_undone(turn)
        self._screen.line(
            f"{when}  {one_line(turn.id)}  {one_line(turn.title, 80)}{'  (taken back)' if undone else ''}",
            "dim" if undone else "bold",
        )
        histories = self._checkpoints.histories(turn.id)
        # Two changes of one file that were taken back are two histories: they are told as one.
        for line in dict.fromkeys(self._told(each) for each in histories if undone or not each.undone):
            self._screen.line(f"  {line}", "dim" if undone else "none")

    def _told(self, history: FileHistory) -> str:
        place, origin = self._shown(history.place), self._shown(history.origin)
        if history.removal is not None:
            return f"deleted  {place}"
        if history.created:
            return f"created  {place}"
        return f"changed  {place}" if place == origin else f"moved    {origin} to {place}"

    async def _take_back(self, turn: LoggedTurn, *, yes: bool) -> int:
        workspace = self._workspace(turn)
        foreseen = await self._checkpoints.foresee(turn.id, workspace)
        for edit in foreseen.edits:
            self._draw(edit)
        if not foreseen.edits:  # undo then only notes what is as it was already, and says what is kept
            self._screen.line("there is nothing to take back", "yellow")
        elif not yes and not await self._agreed(turn):
            return NOT_DONE
        undone = await self._checkpoints.undo(turn.id, workspace)
        for path in undone.restored:
            verb = "restored" if path.exists() else "removed "
            self._screen.line(f"{verb}  {self._shown(path)}", "green")
        self._tell_kept(undone.kept)
        return NOT_DONE if undone.kept else DONE

    async def _agreed(self, turn: LoggedTurn) -> bool:
        if not at_terminal():
            raise RequestError("nobody can be asked: this is not a terminal", hint="--yes takes it back unasked")
        keyboard = Keyboard()
        while (typed := await keyboard.ask(f"Take back {one_line(turn.id)}? [y]es, [n]o: ")) is not None:
            if typed[:1].lower() in ("y", "n"):
                return typed[:1].lower() == "y"
        return False

    def _draw(self, edit: ProposedEdit) -> None:
        if edit.target is not None:
            self._screen.line(f"move {self._shown(edit.path)} back to {self._shown(edit.target)}", "bold")
        elif edit.removes:
            self._screen.line(f"remove {self._shown(edit.path)}", "bold")
        elif not edit.base.exists:
            self._screen.line(f"bring back {self._shown(edit.path)}", "bold")
        elif edit.hunks:
            self._screen.line(f"change {self._shown(edit.path)}", "bold")
        for line in edit.diff().rstrip("\n").split("\n")[2:]:  # the first two name the file
            self._screen.line(visible(line), STYLES.get(line[:1], "dim"))

    def _tell_kept(self, kept: Sequence[tuple[Path, str]]) -> None:
        for path, reason in kept:
            self._screen.line(f"kept      {self._shown(path)}: {visible(reason)}", "yellow")

    def _workspace(self, turn: LoggedTurn) -> Workspace:
        """Of the folders of then; a document without one is its own folder's."""
        touched = self._checkpoints.touched(turn.id)
        alone = [path.parent for path in touched if not any(path.is_relative_to(folder) for folder in turn.folders)]
        return Workspace([*turn.folders, *alone], NothingOpen())

    def _is_here(self, turn: LoggedTurn) -> bool:
        return any(path.is_relative_to(self._folder) for path in self._checkpoints.touched(turn.id))

    def _is_undone(self, turn: LoggedTurn) -> bool:
        return all(history.undone for history in self._checkpoints.histories(turn.id))

    def _shown(self, path: Path) -> str:
        return one_line(str(path.relative_to(self._folder) if path.is_relative_to(self._folder) else path))

    def _failed(self, problem: str, *_: bool) -> None:
        self._broken = True
        self._screen.error(f"the noted changes cannot be read: {problem}", "see docs/undo.md")


def _chosen(wanted: str, turns: Sequence[LoggedTurn]) -> LoggedTurn:
    """The one whose id is `wanted` or begins so, with or without its `turn-`."""
    found = [turn for turn in turns if turn.id.startswith((wanted, f"turn-{wanted}"))]
    if len(found) > 1:
        several = ", ".join(turn.id for turn in found)
        raise RequestError(f"{wanted!r} is the start of several ids", hint=f"one of {several}")
    if not found:
        raise RequestError(f"no turn {wanted!r} changed anything here", hint="tark-lsp undo --all lists all turns")
    return found[0]
