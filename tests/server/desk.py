"""The whole server in this process: its parts as `create_server` puts them together, before a scripted editor."""

import asyncio
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from pygls.feature_manager import FeatureManager

from tark_lsp.server.app import App
from tark_lsp.server.connection.protocol import find_command
from tark_lsp.server.protocol import lsp_params
from tests.patience import AT_ONCE
from tests.server.scripted import Json, ScriptedConnection, ScriptedEditor, capabilities

SCENARIO = """\
wire = "anthropic-messages"

[[reply]]
tool = "edit_file"
text = "Edited."

[[reply]]
tool = "write_file"
text = "Written."

[[reply]]
tool = "list_directory"
text = 'Listed.'

[[reply]]
tool = "run_command"
text = "Run."

[[reply]]
tool = "request_code_context"
text = "Found."

[[reply]]
when = 'says:\\s+edit (?P<path>\\S+)'
calls = [{ name = "edit_file", arguments = { path = '\\g<path>', old_text = "line 3\\n", new_text = "THREE\\n" } }]

[[reply]]
when = 'says:\\s+write (?P<path>\\S+)'
calls = [{ name = "write_file", arguments = { path = '\\g<path>', content = "new\\n" } }]

[[reply]]
when = 'says:\\s+list (?P<path>\\S+)'
calls = [{ name = "list_directory", arguments = { path = '\\g<path>' } }]

[[reply]]
when = 'says:\\s+run (?P<command>.+)'
calls = [{ name = "run_command", arguments = { command = '\\g<command>' } }]

[[reply]]
when = 'says:\\s+where'
calls = [{ name = "request_code_context", arguments = {} }]

[[reply]]
when = 'says:\\s+wait'
text = "This takes its time and does not end before somebody ends it, or it has been told to the very end."
chunk = 1
delay_ms = 50

[[reply]]
text = "Hello."
"""
TEXT = "".join(f"line {n}\n" for n in range(10))


class Desk:
    """`folders`: those that the editor has open; None means only `folder`. The model is a script (above)."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *paths: str,
        tark: Sequence[str] = ("updates", "permission", "input"),
        folders: Sequence[Path] | None = None,
        config: str = "",
        client_name: str = "Visual Studio Code",
        indexed: bool = False,
        **more: Any,
    ) -> None:
        """`indexed`: an index process starts if the workspace is trusted."""
        home = folder / "home"
        self.folder = (folder / "workspace").resolve()
        self.folder.mkdir()
        (home / "config" / "tark").mkdir(parents=True)
        (home / "scenario.toml").write_text(SCENARIO)
        scripted = f"[providers.scripted]\nscenario = {str(home / 'scenario.toml')!r}\n"
        self.config = home / "config" / "tark" / "config.toml"
        index = "" if indexed else "[index]\nenabled = false\n"
        self.config.write_text(f'model = "scripted/desk"\n{config}\n{scripted}{index}')
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
        self.client = capabilities(*paths, tark=tark)
        self.client_name = client_name
        self._begin([self.folder] if folders is None else folders, **more)

    def _begin(self, folders: Sequence[Path], **more: Any) -> None:
        self.connection = ScriptedConnection(self.client, self.client_name, folders, **more)
        self.app = App(self.connection)
        self.app.begin()
        self.editor = ScriptedEditor(self.folder, self.client)
        self.editor.connection, self.editor.documents = self.connection, self.app.parts.documents
        self.connection.answers["workspace/applyEdit"] = self.editor.apply

    def another(self, folder: Path | None = None) -> "Desk":
        """A second server with the same home, on the same folder or another one."""
        other = copy(self)
        other.folder = self.folder if folder is None else folder
        other._begin([other.folder])
        return other

    @property
    def registry(self) -> FeatureManager:
        """The commands of the current `app`, registered as `create_server` does it."""
        manager = FeatureManager()  # type: ignore[no-untyped-call]  # pygls does not annotate it
        self.app.parts.commands.register(manager)
        return manager

    async def command(self, name: str, *arguments: object, token: str | None = None) -> Any:
        params: Json = {"command": name, "arguments": list(arguments), "workDoneToken": token}
        handler = find_command(self.registry, name)
        return await handler(lsp_params.ExecuteCommand.model_validate(params))

    async def start(self, prompt: str, path: Path | None = None, **more: Any) -> str:
        argument: Json = {"prompt": prompt, **more}
        if path is not None:
            argument["textDocument"] = {"uri": path.as_uri()}
        return str((await self.command("tark.turn.start", argument))["turnId"])

    async def end(self, turn_id: str) -> Json:
        async with asyncio.timeout(AT_ONCE):
            end: Json = await self.command("tark.turn.wait", {"turnId": turn_id})
        return end

    async def actions(self, path: Path, first: int, last: int | None = None, **context: Any) -> list[Json]:
        last = first if last is None else last
        span = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
        params = {"textDocument": {"uri": path.as_uri()}, "range": span, "context": {"diagnostics": [], **context}}
        return await self.app.code_actions(lsp_params.CodeActionParams.model_validate(params))

    def updates(self, turn_id: str, kind: str = "") -> list[Json]:
        return [
            params["update"]
            for method, params in self.connection.told
            if method == "tark/update" and params["turnId"] == turn_id and kind in ("", params["update"]["kind"])
        ]

    async def settled(self) -> None:
        """What a notification began is done."""
        await self.app.parts.background.finished()

    async def settings(self) -> Json:
        """The effective ones."""
        await self.settled()
        return dict((await self.command("tark.state"))["settings"])

    async def stop(self) -> None:
        await self.app.stop()


MakeDesk = Callable[..., Desk]


def allow(_: Any) -> Json:
    return {"outcome": "allow"}
