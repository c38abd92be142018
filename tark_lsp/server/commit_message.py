"""`tark.commitMessage`: asks the model for the message of a Git commit, which the client uses."""

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from tark_lsp.agent import events
from tark_lsp.agent.approval import is_read_asked
from tark_lsp.agent.commit_message import COMMIT_MESSAGE, CUT, FileChange, commit_request, read_message
from tark_lsp.agent.side_request import send_side_request
from tark_lsp.errors import ModelError, RequestError, TarkError, ToolError
from tark_lsp.server.commands import Command
from tark_lsp.server.protocol.commit_message import ChangedFile, WriteCommitMessage
from tark_lsp.server.protocol.outgoing import error_json
from tark_lsp.server.sessions.sessions import Sessions
from tark_lsp.server.turns.preparation import Preparation
from tark_lsp.server.turns.recording import Recorder
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.protected import is_protected_path
from tark_lsp.workspace.uris import path_from_uri

if TYPE_CHECKING:  # first needed when a client asks for what is staged
    from tark_lsp.tools.staged_changes import StagedChanges, StagedFile

FILE_HEAD = re.compile(r"^diff --", re.MULTILINE)
"""Begins each file of a diff. Lines of files begin with a blank, `+`, `-` or `\\`."""


class CommitMessages:
    def __init__(self, preparation: Preparation, workspace: Workspace, sessions: Sessions, recorder: Recorder) -> None:
        self._configuration = preparation.configuration
        self._models = preparation.models
        self._workspace = workspace
        self._sessions = sessions
        self._recorder = recorder

    def commands(self) -> Iterable[Command]:
        yield Command("tark.commitMessage", WriteCommitMessage, self.write)

    async def write(self, request: WriteCommitMessage) -> dict[str, Any]:
        """Stays open until the model has answered. Raises RequestError if there are no changes."""
        from tark_lsp.redaction import environment_secrets, redact  # loaded with the first message

        root = path_from_uri(request.root)
        if root is None:
            raise RequestError(f"root: {request.root!r} is not a file URI")
        files: Sequence[ChangedFile | StagedFile] | None = request.files
        subjects: Sequence[str] = request.recent_subjects
        if files is None:
            staged = await self._staged(root, request.index)
            root, files, subjects = staged.repository, staged.files, staged.subjects
        elif not files:
            raise RequestError("files: there are no changes to describe")
        secrets = environment_secrets(os.environ)
        changes = []
        for file in files:
            changes.append(self._change(root, file, secrets))
            await asyncio.sleep(0)  # masking takes 10 ms a file
        subjects = [redact(subject, secrets) for subject in subjects]
        session = self._sessions.new_sessions.make_session()
        session.id = ""  # the cost belongs to no session
        try:
            name = request.model or await self._models.model_of(session)
            model = await self._configuration.models.open_model(name)

            def emit(event: events.AgentEvent) -> None:
                self._recorder.record_event(session, "", event)

            asked = commit_request(changes, subjects, model.context_window)
            message = read_message(await send_side_request(COMMIT_MESSAGE, model, asked, 1, emit, lambda _: None))
            if not message:
                raise ModelError("the model wrote no commit message")
        except RequestError:
            raise
        except TarkError as error:
            return {"error": error_json(error)}
        return {"message": message}

    async def _staged(self, root: Path, index: str | None) -> "StagedChanges":
        """Raises RequestError, also if nothing is staged."""
        from tark_lsp.tools.staged_changes import read_staged

        if self._configuration.settings.workspace_trusted is False:
            raise RequestError("this workspace is not trusted, so git is not run in it")
        try:
            staged = await read_staged(root, self._workspace.folders, index)
        except ToolError as error:
            raise RequestError(error.message) from error
        if not staged.files:
            raise RequestError("nothing is staged", hint="stage changes with git add")
        return staged

    def _change(self, root: Path, file: "ChangedFile | StagedFile", secrets: tuple[str, ...]) -> FileChange:
        """Keys in the diff are masked before it is cut, so that no half of a key is left."""
        from tark_lsp.redaction import MAX_CHARACTERS, redact

        names = [file.path, *([file.previous_path] if file.previous_path is not None else ())]
        diff = file.diff
        # More than one file: a name with wildcards, which Git took for a pattern.
        if diff is not None and (
            len(FILE_HEAD.findall(diff)) > 1 or any(self._is_closed(root, name) for name in names)
        ):
            diff = None
        if diff is not None:
            diff = redact(diff[:MAX_CHARACTERS], secrets) + (CUT if len(diff) > MAX_CHARACTERS else "")
        return FileChange(file.path, file.change, diff, file.previous_path)

    def _is_closed(self, root: Path, name: str) -> bool:
        """Is only the name of this file told? `name` is its path in the repository."""
        path = Path(os.path.normpath(root / name))
        return (
            is_protected_path(PurePath(name))
            or self._workspace.is_protected(path)
            or self._configuration.is_closed(path)
            or is_read_asked(path, self._configuration.policy(), self._workspace)
        )
