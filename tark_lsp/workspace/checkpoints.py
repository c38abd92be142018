"""What each turn changed, and how that is taken back without touching what the person wrote."""

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.errors import FileMissing, WorkspaceError
from tark_lsp.workspace.edits import ProposedEdit, rebase
from tark_lsp.workspace.encoding import decode
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.lines import line_changes
from tark_lsp.workspace.outcomes import Applied, Refused, Stale
from tark_lsp.workspace.snapshot import Snapshot, digest_of

KEPT_TURNS = 200
"""As many as can be waited for (protocol.md, "The turn's end"); older ones are forgotten."""
TRIES = 3
"""How often a file is tried again because the person typed in it meanwhile."""


@dataclass(frozen=True, slots=True)
class Undone:
    """`kept` are files left as they are, wholly or (those also in `restored`) in part, each with the reason."""

    restored: tuple[Path, ...]
    kept: tuple[tuple[Path, str], ...]


@dataclass(slots=True)
class _Step:
    """Changes with nothing of the person's between them. Digests of texts; `before` None: there was no file."""

    before: str | None
    after: str | None = None


@dataclass(slots=True)
class Checkpoints:
    """Texts are kept once each, by their digest; bytes follow from them, since every edit keeps the encoding."""

    _turns: OrderedDict[str, dict[Path, list[_Step]]] = field(default_factory=OrderedDict)
    _texts: dict[str, str] = field(default_factory=dict)

    def before(self, turn_id: str, path: Path, data: bytes | str | None) -> None:
        """Note what is about to be changed: the bytes on disk, the text of the buffer, or None: there is no file.

        To be called before every change: so what the person typed between two changes is told from the agent's.
        Raises NotText for bytes that could not be restored by an edit.
        """
        text = decode(data)[0] if isinstance(data, bytes) else data
        steps = self._turn(turn_id).setdefault(path, [])
        digest = None if text is None else self._keep(text)
        if steps and steps[-1].after is None:
            steps[-1].before = digest  # The change noted before this one never came to be.
        elif not steps or steps[-1].after != digest:
            steps.append(_Step(digest))

    def after(self, turn_id: str, path: Path, text: str) -> None:
        """Note what the agent left. Raises KeyError where `before` was not called."""
        self._turn(turn_id)[path][-1].after = self._keep(text)

    def changed(self, turn_id: str) -> tuple[Path, ...]:
        """The files the turn changed, in the order of their first change; none for a turn that is not known."""
        files = self._turns.get(turn_id, {})
        return tuple(path for path, steps in files.items() if any(step.after is not None for step in steps))

    async def undo(self, turn_id: str, workspace: Workspace) -> Undone:
        """Take back the turn's changes, file by file: exactly where nothing was changed since, else hunk by hunk.

        What is kept can be tried again by a second call, which finds the rest done.
        """
        restored: list[Path] = []
        kept: list[tuple[Path, str]] = []
        for path in self.changed(turn_id):
            steps = [step for step in self._turns[turn_id][path] if step.after is not None]
            done, reason = await self._undo_file(path, steps, workspace)
            if done:
                restored.append(path)
            if reason:
                kept.append((path, reason))
        return Undone(tuple(restored), tuple(kept))

    async def _undo_file(self, path: Path, steps: list[_Step], workspace: Workspace) -> tuple[bool, str]:
        """Whether anything was restored, and why not all of it was (empty: it was)."""
        reason = "you kept typing in it"
        for _ in range(TRIES):
            try:
                current = workspace.read(path)
            except FileMissing:
                return (True, "") if steps[0].before is None else (False, "it was deleted since")
            except WorkspaceError as error:
                return False, error.message
            if steps[0].before is None:
                if not self._is_still_ours(steps, current):
                    return False, "the agent created it, and it was changed since"
                outcome = await workspace.remove(current)
                reason = ""
            else:
                edit, total, conflicts = self._inverse(steps, current)
                reason = f"{conflicts} of {total} changes were changed again since" if conflicts else ""
                if not edit.hunks:
                    return not conflicts, reason
                outcome = await workspace.apply(edit, "Undo Tark")
            match outcome:
                case Applied():
                    return True, reason
                case Refused(why):
                    return False, why
                case Stale(why):
                    reason = why
        return False, reason

    def _inverse(self, steps: list[_Step], current: Snapshot) -> tuple[ProposedEdit, int, int]:
        """The edit of the current text that takes back all steps, the last first; hunks in all, and in conflict."""
        now = current
        total = conflicts = 0
        for step in reversed(steps):
            left, wanted = self._texts[step.after or ""], self._texts[step.before or ""]
            base = Snapshot(current.path, left)
            # Single changes, not joined as for people to read: typing near one is then no conflict.
            inverse = ProposedEdit(current.path, base, tuple(line_changes(left, wanted)))
            carried, lost = rebase(inverse, now)
            now = carried.drafted
            total += len(inverse.hunks)
            conflicts += len(lost)
        return ProposedEdit.between(current, now.text), total, conflicts

    def _is_still_ours(self, steps: list[_Step], current: Snapshot) -> bool:
        """Whether all of the text is the agent's: nothing was typed between the changes, nor after the last."""
        return len(steps) == 1 and steps[-1].after == current.digest

    def _turn(self, turn_id: str) -> dict[Path, list[_Step]]:
        if turn_id not in self._turns:
            self._turns[turn_id] = {}
            if len(self._turns) > KEPT_TURNS:
                self._turns.popitem(last=False)
                self._forget()
        return self._turns[turn_id]

    def _keep(self, text: str) -> str:
        digest = digest_of(text)
        self._texts.setdefault(digest, text)
        return digest

    def _forget(self) -> None:
        """Drop the texts no step needs any more."""
        steps = [step for files in self._turns.values() for steps in files.values() for step in steps]
        needed = {step.before for step in steps} | {step.after for step in steps}
        self._texts = {digest: text for digest, text in self._texts.items() if digest in needed}
