"""`tark-lsp undo [TURN]`: lists what turns changed in the current folder, and takes one of them back."""

import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tark_lsp.cli.keyboard import Keyboard
from tark_lsp.cli.runtime import at_terminal, new_console, run_to_exit_code
from tark_lsp.cli.screen import Screen
from tark_lsp.cli.turn import DONE, NOT_DONE
from tark_lsp.cli.visible import one_line, visible
from tark_lsp.errors import RequestError
from tark_lsp.folders import checkpoints_path, copies_folder, running_commands_folder
from tark_lsp.tools.command_checkpoint import list_not_ignored
from tark_lsp.workspace.checkpoints.checkpoints import Checkpoints
from tark_lsp.workspace.checkpoints.commands.command_checkpoints import CommandCheckpoints
from tark_lsp.workspace.checkpoints.file_histories import FileHistory
from tark_lsp.workspace.checkpoints.store import CheckpointStore, LoggedTurn
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.outcomes import Outcome
from tark_lsp.workspace.snapshot import Snapshot

EPILOG = """\
Without TURN, the command lists the turns that changed something in the current folder, the newest first.
It shows the changes to take back as a diff, and asks. Your own later changes are kept. What cannot be taken back
because of them is reported, and the next call tries only that again.
Files are written on disk. An editor that has a file open notices this, and offers to reload it. If it has unsaved
changes, save them first, or use the editor's own command (tark.turn.undo). If the turn still runs, what it has done
so far is taken back.
Exit codes: 0 listed, or everything is taken back; 1 something is kept, you answered no, or an error; 2 wrong usage."""
MOST_OFFERED = 10
MOST_NAMED = 5
STYLES = {"@": "cyan", "-": "red", "+": "green"}
"""Styles of the lines of a diff, by their first character."""


class NoOpenBuffers:
    """`Buffers` without an editor: no file is open."""

    def get(self, _: Path) -> Snapshot | None:
        return None

    def paths(self) -> Sequence[Path]:
        return ()

    async def apply(self, edit: ProposedEdit, _: str) -> Outcome:
        raise AssertionError(f"{edit.path} is not open, so the workspace must write it")

    async def move(self, _: Snapshot, __: Path) -> Outcome | None:
        return None

    async def remove(self, _: Snapshot) -> Outcome | None:
        return None


def main(arguments: Sequence[str]) -> int:
    options = new_parser().parse_args(arguments)
    folder = Path(os.path.realpath(Path.cwd()))
    screen = Screen(new_console(), folder)
    return run_to_exit_code(_Undo(screen, folder).run(options), screen)


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp undo",
        description="List what the agent changed, and take it back turn by turn.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("turn", metavar="TURN", nargs="?", help="the id of a turn, or the start of it")
    which.add_argument("--last", action="store_true", help="take back the newest turn here that is not taken back yet")
    parser.add_argument("--all", action="store_true", help="include the turns of every folder")
    parser.add_argument("--yes", action="store_true", help="take the turn back without asking")
    return parser


class _Undo:
    def __init__(self, screen: Screen, folder: Path) -> None:
        self._screen = screen
        self._folder = folder
        self._broken = False
        self._store = CheckpointStore(checkpoints_path, self._failed)
        self._checkpoints = Checkpoints(self._store, copies_folder=copies_folder)
        self._commands = CommandCheckpoints(self._checkpoints, running_commands_folder, list_not_ignored)

    async def run(self, options: Namespace) -> int:
        await self._commands.recover()
        turns = [turn for turn in self._store.turns() if options.all or self._is_here(turn)]
        if self._broken:
            return NOT_DONE
        if options.last:
            left = [turn for turn in turns if not self._is_undone(turn)]
            if not left:
                return self._offer_others("there is no turn to take back here", turns)
            return await self._take_back(left[0], yes=options.yes)
        if options.turn:
            found = _find_turn(options.turn, turns)
            if found is None:
                return self._offer_others(f"no turn {options.turn!r} changed anything here", turns)
            return await self._take_back(found, yes=options.yes)
        for turn in turns:
            self._list(turn)
        if not turns:
            self._screen.print_line("no turn changed anything here", "yellow")
            self._list_others(turns)
        return DONE

    def _offer_others(self, problem: str, turns: Sequence[LoggedTurn]) -> int:
        self._screen.print_error(problem)
        self._list_others(turns)
        return NOT_DONE

    def _list_others(self, turns: Sequence[LoggedTurn]) -> None:
        """Lists the turns of `turns` that can be taken back; if there are none, those of other folders."""
        left = [turn for turn in turns if not self._is_undone(turn)]
        where = "these can be taken back:"
        if not left:
            left = [turn for turn in self._store.turns() if not self._is_undone(turn)]
            where = "these can be taken back in other folders, with --all:"
        if left:
            self._screen.print_line(where)
        for turn in left[:MOST_OFFERED]:
            self._list(turn)

    def _list(self, turn: LoggedTurn) -> None:
        when = datetime.fromtimestamp(turn.time).strftime("%Y-%m-%d %H:%M")
        undone = self._is_undone(turn)
        self._screen.print_line(
            f"{when}  {one_line(turn.id)}  {one_line(turn.title, 80)}{'  (taken back)' if undone else ''}",
            "dim" if undone else "bold",
        )
        histories = self._checkpoints.histories(turn.id)
        # Two changes of one file that were taken back are two histories, but are shown once.
        lines = [self._summary(history) for history in histories if undone or not history.undone]
        if changed := self._checkpoints.commands.paths(turn.id):
            names = ", ".join(self._shown(path) for path in changed[:MOST_NAMED])
            lines.append(f"commands {names}{f' and {len(changed) - MOST_NAMED} more' * (len(changed) > MOST_NAMED)}")
        for line in dict.fromkeys(lines):
            self._screen.print_line(f"  {line}", "dim" if undone else "none")

    def _summary(self, history: FileHistory) -> str:
        place, origin = self._shown(history.place), self._shown(history.origin)
        if history.removal is not None:
            return f"deleted  {place}"
        if history.created:
            return f"created  {place}"
        return f"changed  {place}" if place == origin else f"moved    {origin} to {place}"

    async def _take_back(self, turn: LoggedTurn, *, yes: bool) -> int:
        workspace = self._workspace(turn)
        foreseen = await self._checkpoints.preview_undo([turn.id], workspace)
        for edit in foreseen.edits:
            self._draw(edit)
        drawn = {path for edit in foreseen.edits for path in (edit.path, edit.target)}
        others = [path for path in foreseen.undone.restored if path not in drawn] if foreseen.undone.commands else []
        for path in others:  # files that are not text, or of which only the mode changed
            self._screen.print_line(f"restore {self._shown(path)}", "bold")
        if not foreseen.edits and not others:  # then undo only records what is already restored
            self._screen.print_line("there is nothing to take back", "yellow")
        elif not yes and not await self._agreed(turn):
            return NOT_DONE
        undone = await self._checkpoints.undo(turn.id, workspace)
        for path in undone.restored:
            verb = "restored" if path.exists() else "removed "
            self._screen.print_line(f"{verb}  {self._shown(path)}", "green")
        self._show_kept(undone.kept)
        if undone.commands:
            self._screen.print_line("what commands did to files that Git ignores stays", "dim")
        return NOT_DONE if undone.kept else DONE

    async def _agreed(self, turn: LoggedTurn) -> bool:
        if not at_terminal():
            raise RequestError(
                "this is not a terminal, so nobody can be asked", hint="--yes takes it back without asking"
            )
        keyboard = Keyboard()
        while (typed := await keyboard.ask(f"Take back {one_line(turn.id)}? [y]es, [n]o: ")) is not None:
            if typed[:1].lower() in ("y", "n"):
                return typed[:1].lower() == "y"
        return False

    def _draw(self, edit: ProposedEdit) -> None:
        if edit.target is not None:
            self._screen.print_line(f"move {self._shown(edit.path)} back to {self._shown(edit.target)}", "bold")
        elif edit.removes:
            self._screen.print_line(f"remove {self._shown(edit.path)}", "bold")
        elif not edit.base.exists:
            self._screen.print_line(f"bring back {self._shown(edit.path)}", "bold")
        elif edit.hunks:
            self._screen.print_line(f"change {self._shown(edit.path)}", "bold")
        for line in edit.diff().rstrip("\n").split("\n")[2:]:  # the first two name the file
            self._screen.print_line(visible(line), STYLES.get(line[:1], "dim"))

    def _show_kept(self, kept: Sequence[tuple[Path, str]]) -> None:
        for path, reason in kept:
            self._screen.print_line(f"kept      {self._shown(path)}: {visible(reason)}", "yellow")

    def _workspace(self, turn: LoggedTurn) -> Workspace:
        """The workspace of the turn's own folders. A document outside them gets its own folder."""
        touched = self._checkpoints.changed_paths(turn.id)
        alone = [path.parent for path in touched if not any(path.is_relative_to(folder) for folder in turn.folders)]
        return Workspace([*turn.folders, *alone], NoOpenBuffers())

    def _is_here(self, turn: LoggedTurn) -> bool:
        return any(path.is_relative_to(self._folder) for path in self._checkpoints.changed_paths(turn.id))

    def _is_undone(self, turn: LoggedTurn) -> bool:
        return not self._store.standing([turn.id])

    def _shown(self, path: Path) -> str:
        return one_line(str(path.relative_to(self._folder) if path.is_relative_to(self._folder) else path))

    def _failed(self, problem: str, *_: bool) -> None:
        self._broken = True
        self._screen.print_error(f"the recorded changes cannot be read: {problem}", "see docs/undo.md")


def _find_turn(wanted: str, turns: Sequence[LoggedTurn]) -> LoggedTurn | None:
    """The turn whose id starts with `wanted`, with or without `turn-`. Raises RequestError if there are several."""
    found = [turn for turn in turns if turn.id.startswith((wanted, f"turn-{wanted}"))]
    if len(found) > 1:
        several = ", ".join(turn.id for turn in found)
        raise RequestError(f"{wanted!r} is the start of several ids", hint=f"use one of {several}")
    return found[0] if found else None
