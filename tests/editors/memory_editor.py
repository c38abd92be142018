"""An editor in memory: real documents, a real server process, and the habits of real editors by flags."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from tests.editors.behaviour import Behaviour, Files, Profile, Stale
from tests.editors.capabilities import capabilities_of
from tests.editors.connection import Connection, Json, Message
from tests.editors.contract import Contract
from tests.editors.document import Document, EditError
from tests.editors.previewed import Previewed
from tests.editors.question import INPUT, MESSAGE, PERMISSION, Policy, Question, wait
from tests.patience import AT_ONCE

LINT_SECONDS = 0.1
"""From a change to the diagnostics of other servers."""


class MemoryEditor:
    """`flags`: the names under `experimental.tark` that this editor understands. `behaviour` may change at any time."""

    def __init__(
        self, profile: Profile, flags: frozenset[str] = frozenset(), behaviour: Behaviour | None = None
    ) -> None:
        self.profile = profile
        self.behaviour = behaviour or profile.behaviour
        self.capabilities = capabilities_of(profile, flags)
        self.contract = Contract(self.capabilities)
        self.connection = Connection(self._handlers())
        self.connection.listeners.append(self.contract.see)
        self.server: Json = {}
        """The answer to `initialize`."""
        self.folder = Path()
        self.documents: dict[str, Document] = {}
        self.policy: Policy = wait
        self.questions: list[Question] = []
        self.before_apply: Callable[[], None] = lambda: None
        """Run when an edit has arrived, before it is looked at: a person who types at that very moment."""
        self.previews: list[Previewed] = []
        self.shown: list[Json] = []
        """Params of `window/showDocument`."""
        self.notes: list[str] = []
        """Messages of `window/showMessage`."""
        self.diagnostics: dict[str, list[Json]] = {}
        self.lint: Callable[[str], list[Json]] | None = None
        """What another server says of a text; the editor shows it some time after the text was written."""
        self.problems: dict[str, list[Json]] = {}
        """What it shows of that, by document."""
        self.saved: list[str] = []
        self._timers: dict[str, asyncio.TimerHandle] = {}

    # Starting and ending

    async def start(
        self, command: Sequence[str], *, folder: Path, env: Mapping[str, str], process_id: int | None = None
    ) -> None:
        self.folder = folder
        await self.connection.start(command, env=env, cwd=folder)
        self.server = await self.connection.initialize(
            {
                "processId": process_id,
                "clientInfo": {"name": self.profile.name, "version": self.profile.version},
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "capabilities": self.capabilities,
            }
        )

    async def come_to_rest(self) -> None:
        """Cancel what still runs, close the documents, forget what was seen: ready for another test."""
        self.before_apply = lambda: None
        for turn in (await self.command("tark.turn.cancel", {}))["cancelled"]:
            await self.end(turn)  # its last words are not the next test's
        await self.connection.until(lambda: self.open_question() is None, "every question withdrawn")
        for uri in list(self.documents):
            self.close_document(uri)
        await self.command("tark.permission.list", {})  # answered behind all that the server makes of the closing
        for seen in (self.connection.messages, self.questions, self.previews, self.shown, self.notes, self.saved):
            seen.clear()
        self.diagnostics.clear()
        self.problems.clear()
        self.lint = None
        self.policy = wait

    async def close(self) -> int:
        """As a person closes it; the server's exit code."""
        await self.connection.request("shutdown", None)
        self.connection.notify("exit", None)
        return await self.connection.exited()

    # The person

    def open(self, path: Path) -> str:
        """The document's URI. Its text is what the file holds."""
        uri, text = path.as_uri(), path.read_bytes().decode()
        document = Document(uri, text, self.server["capabilities"].get("positionEncoding", "utf-16"))
        self.documents[uri] = document
        item = {"uri": uri, "languageId": "python", "version": self._version(document), "text": text}
        self.connection.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def new_file(self, text: str, name: str = "shapes") -> str:
        """Write a file no test used before and open it; its URI."""
        path = self.folder / f"{name}_{len(list(self.folder.iterdir()))}.py"
        path.write_bytes(text.encode())
        return self.open(path)

    def close_document(self, uri: str) -> None:
        self.flush()
        del self.documents[uri]
        self.connection.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def text(self, uri: str) -> str:
        return self.documents[uri].text

    def type(self, uri: str, line: int, character: int, text: str) -> None:
        place = {"line": line, "character": character}
        self.replace(uri, {"start": place, "end": place}, text)

    def replace(self, uri: str, range_: Json, text: str) -> None:
        self.documents[uri].edit([{"range": range_, "newText": text}])
        self._changed(uri)

    def flush(self) -> None:
        """Tell the server of every change it has not been told of."""
        for uri, document in self.documents.items():
            timer = self._timers.pop(uri, None)
            if timer is not None:
                timer.cancel()
            changes = document.take_unsent()
            if changes:
                identity = {"uri": uri, "version": self._version(document)}
                self.connection.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": changes})

    # What an editor's commands do

    async def request(self, method: str, params: Any) -> Any:
        """Any request flushes what was typed, as in Neovim and eglot. Raises ResponseError."""
        self.flush()
        return await self.connection.request(method, params)

    async def command(self, name: str, argument: Json | None = None) -> Any:
        params: Json = {"command": name}
        if argument is not None:
            params["arguments"] = [argument]
        return await self.request("workspace/executeCommand", params)

    async def turn(self, prompt: str, uri: str | None = None, range_: Json | None = None, **more: Any) -> str:
        """Start a turn; its id."""
        argument: Json = {"prompt": prompt, **more}
        if uri is not None:
            argument["textDocument"] = {"uri": uri, "version": self._version(self.documents[uri])}
        if range_ is not None:
            argument["range"] = range_
        answer = await self.command("tark.turn.start", argument)
        return str(answer["turnId"])

    async def end(self, turn_id: str, seconds: float = AT_ONCE) -> Json:
        """The turn's end. Fails with the last messages said."""
        waiting = self.command("tark.turn.wait", {"turnId": turn_id})
        end: Json = await self.connection.within(waiting, f"the end of turn {turn_id}", seconds)
        return end

    async def actions(
        self,
        uri: str,
        range_: Json,
        *,
        only: Sequence[str] = (),
        invoked: bool = True,
        diagnostics: Sequence[Json] = (),
    ) -> list[Json]:
        context: Json = {"diagnostics": list(diagnostics), "triggerKind": 1 if invoked else 2}
        if only:
            context["only"] = list(only)
        params = {"textDocument": {"uri": uri}, "range": range_, "context": context}
        return list(await self.request("textDocument/codeAction", params) or ())

    async def run_action(self, action: Json) -> Any:
        """What the editor does when the person picks it: its command, whichever of the two shapes it has."""
        command = action["command"] if isinstance(action["command"], dict) else action
        return await self.request(
            "workspace/executeCommand", {"command": command["command"], "arguments": command.get("arguments", [])}
        )

    async def question(self, seconds: float = AT_ONCE) -> Question:
        """The question that is open, once there is one."""
        return await self.connection.until(self.open_question, "a question", seconds)

    def open_question(self) -> Question | None:
        return next((question for question in self.questions if question.open), None)

    # Looking back

    def sent(self, method: str) -> list[Message]:
        """What the server sent."""
        return [
            message for message in self.connection.messages if (message.sender, message.method) == ("server", method)
        ]

    def progress(self, prompt: str) -> list[Json]:
        """The values of the progress whose title names the prompt."""
        token = None
        values = []
        for message in self.sent("$/progress"):
            value = message.params["value"]
            if value["kind"] == "begin" and prompt in value["title"]:
                token = message.params["token"]
            if message.params["token"] == token:
                values.append(value)
        return values

    def updates(self, turn_id: str, kind: str = "") -> Iterator[Json]:
        for message in self.sent("tark/update"):
            if message.params["turnId"] == turn_id and kind in ("", message.params["update"]["kind"]):
                yield message.params["update"]

    # The server asks

    def _handlers(self) -> dict[str, Callable[[Json], Any]]:
        """Closures, since pygls sets attributes on what it is given."""

        async def ask_message(params: Json) -> Any:
            return await self._ask(MESSAGE, params)

        async def ask_permission(params: Json) -> Any:
            return await self._ask(PERMISSION, params)

        async def ask_input(params: Json) -> Any:
            return await self._ask(INPUT, params)

        async def apply_edit(params: Json) -> Any:
            edit = params["edit"]
            if self.profile.confirms and edit.get("changeAnnotations"):
                return await self._preview(edit)
            return self.apply(edit)

        def publish(params: Json) -> None:
            self.diagnostics[params["uri"]] = params["diagnostics"]

        def show_document(params: Json) -> Json:
            self.shown.append(params)
            return {"success": True}

        def client_state(params: Json) -> Json:
            assert params["want"] == ["diagnostics"]
            wanted = [params["uri"]] if "uri" in params else self.problems
            return {"diagnostics": [{"uri": uri, "diagnostics": self.problems.get(uri, [])} for uri in wanted]}

        def save(params: Json) -> Json:
            self.saved += params["uris"]
            return {"saved": params["uris"]}

        return {
            MESSAGE: ask_message,
            PERMISSION: ask_permission,
            INPUT: ask_input,
            "workspace/applyEdit": apply_edit,
            "workspace/configuration": lambda params: [None for _ in params["items"]],
            "workspace/codeLens/refresh": lambda _: None,
            "client/registerCapability": lambda _: None,
            "client/unregisterCapability": lambda _: None,
            "window/workDoneProgress/create": lambda _: None,
            "window/showDocument": show_document,
            "window/showMessage": lambda params: self.notes.append(params["message"]),
            "window/logMessage": lambda _: None,
            "textDocument/publishDiagnostics": publish,
            "$/progress": lambda _: None,
            "tark/update": lambda _: None,
            "tark/session": lambda _: None,
            "tark/save": save,
            "tark/clientState": client_state,
        }

    async def _ask(self, method: str, params: Json) -> Any:
        question = Question(method, params, asyncio.get_running_loop().time())
        self.questions.append(question)
        self.connection.wake()
        try:
            self.policy(question)
            return await question.result
        except asyncio.CancelledError:
            question.withdrawn = True
            raise

    async def _preview(self, edit: Json) -> Json:
        previewed = Previewed(edit)
        self.previews.append(previewed)
        self.connection.wake()
        ticked = await previewed.answer
        return {"applied": False} if ticked is None else self.apply(ticked)

    async def preview(self) -> Previewed:
        """The one that is open, once there is one."""
        return await self.connection.until(
            lambda: next((preview for preview in self.previews if not preview.answer.done()), None), "a preview"
        )

    def apply(self, edit: Json) -> Json:
        """What this editor answers to `workspace/applyEdit`."""
        self.before_apply()
        changes = edit.get("documentChanges", [])
        behaviour = self.behaviour
        for change in changes:
            if "kind" in change:
                if behaviour.files is Files.REFUSE:
                    return {"applied": False, "failureReason": f"no {change['kind']} here"}
                self._operate(change)
                continue
            identity = change["textDocument"]
            document = self.documents.get(identity["uri"])
            if document is None:
                return {"applied": False, "failureReason": f"{identity['uri']} is not open"}
            stale = behaviour.versions and identity["version"] != document.version
            if stale and behaviour.stale is Stale.REFUSE:
                return {"applied": False, "failureReason": f"version {identity['version']} is not {document.version}"}
            if stale and behaviour.stale is Stale.SKIP:
                continue
            try:
                document.edit(change["edits"])
            except EditError as error:
                return {"applied": False, "failureReason": str(error)}
            self._changed(document.uri)
        return {"applied": True}

    def _operate(self, change: Json) -> None:
        """RenameFile and DeleteFile."""
        if self.behaviour.files is Files.SKIP:
            return
        uri = str(change["oldUri" if change["kind"] == "rename" else "uri"])
        path = Path(url2pathname(urlsplit(uri).path))
        if change["kind"] == "delete":
            path.unlink()
        else:
            new = Path(url2pathname(urlsplit(change["newUri"]).path))
            new.parent.mkdir(parents=True, exist_ok=True)
            assert not new.exists()
            path.rename(new)
        if uri in self.documents and self.behaviour.files is Files.HONEST:
            self.close_document(uri)
            if change["kind"] == "rename":
                self.open(new)

    def look_for_problems(self, uri: str) -> None:
        """The other server is done with the text as it is by now."""
        if self.lint is not None and uri in self.documents:
            self.problems[uri] = self.lint(self.documents[uri].text)

    def _changed(self, uri: str) -> None:
        if self.lint is not None:
            asyncio.get_running_loop().call_later(LINT_SECONDS, self.look_for_problems, uri)
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()
        if self.behaviour.did_change_delay is None:
            self.flush()
        else:
            self._timers[uri] = asyncio.get_running_loop().call_later(self.behaviour.did_change_delay, self.flush)

    def _version(self, document: Document) -> int | None:
        return document.version if self.behaviour.versions else None
