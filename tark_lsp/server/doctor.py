"""`tark.doctor`: what this editor supports and what it gets instead, the effective policy, providers, problems."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tark_lsp import __version__
from tark_lsp.index.status import IndexStatus
from tark_lsp.prose import prose_line
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.auth import Auth
from tark_lsp.server.commands import Command
from tark_lsp.server.connection.lsp import Connection
from tark_lsp.server.indexing.command import status_json, status_line
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.turns.preparation import Preparation
from tark_lsp.visible import code_span
from tark_lsp.workspace.files import Workspace

INSTEAD = {
    "updates": "answers open as documents",
    "permission": "permissions are asked by messages, code actions and lenses",
    "input": "questions of the model with up to four answers are asked by messages; others are put in its answer",
    "clientState": "diagnostics are those last seen in a code action request",
    "languageServers": "definitions and references are those of the code index",
    "save": "files are not saved after an edit",
    "review": "hunks are reviewed by code actions, lenses and the list of problems",
}
NO_KEYS = "none: run `tark-lsp login PROVIDER`, or set an environment variable (docs/keys.md)"
NO_MODEL = "no model is set: choose one, or set the key of a provider; Tark then offers its best model"
STANDARD = {
    "window.workDoneProgress": "no progress is shown",
    "window.showDocument.support": "long texts are written to a file, and a message shows its path",
    "workspace.applyEdit": "open documents cannot be edited",
    "workspace.workspaceEdit.documentChanges": "edits are sent with versions all the same",
    "textDocument.codeAction.codeActionLiteralSupport": "code actions are plain commands",
    "workspace.configuration": "settings are those sent at start and by didChangeConfiguration",
}


class Doctor:
    def __init__(
        self,
        connection: Connection,
        workspace: Workspace,
        preparation: Preparation,
        auth: Auth,
        show: TextDisplay,
        default_model: Callable[[], str | None],
    ) -> None:
        """`default_model`: that of new sessions."""
        self._connection = connection
        self._workspace = workspace
        self._configuration = preparation.configuration
        self._contexts = preparation.contexts
        self._auth = auth
        self._show = show
        self._default_model = default_model

    def commands(self) -> Iterable[Command]:
        yield Command("tark.doctor", command_payloads.Nothing, self.doctor)

    async def doctor(self, _: command_payloads.Nothing) -> Any:
        report = self.report(
            await self._auth.statuses(), await self._sandbox_state(), await self._contexts.index.status()
        )
        await self._show.command_result("doctor", self.text(report))
        return report

    async def _sandbox_state(self) -> dict[str, Any]:
        """Whether commands that only read run in a sandbox, and what the user is asked about."""
        sandbox = self._contexts.sandbox_of(self._workspace)
        works = sandbox is not None and await sandbox.check()
        if works:
            why = "commands run in it; those that only read run without a question"
        elif sandbox is None:
            why = "it is turned off, or could not be set up for this workspace, so every command is asked for"
        else:
            why = f"{sandbox.why_not}, so every command is asked for"
        return {"available": works, "why": why}

    def report(
        self, keys: Sequence[Mapping[str, Any]], sandbox: Mapping[str, Any], index: IndexStatus
    ) -> dict[str, Any]:
        """`keys`: the status of every provider, like in `tark.auth.status`. `sandbox`: `available` and `why`."""
        client = self._connection.client
        missing = {f"experimental.tark.{flag}": text for flag, text in INSTEAD.items() if not client.understands(flag)}
        missing |= {name: text for name, text in STANDARD.items() if not client.has(name)}
        settings = self._configuration.settings
        model = self._default_model()
        return {
            "version": __version__,
            "editor": {"name": client.name, "version": client.version, "positionEncoding": client.position_encoding},
            "missing": [{"capability": name, "instead": text} for name, text in missing.items()],
            "policy": {
                "mode": settings.mode,
                "approval": settings.approval,
                "editReview": self._configuration.policy().edit_review.when(settings.approval),
                "permissions": settings.permissions.model_dump(mode="json"),
            },
            "sandbox": dict(sandbox),
            "index": {**status_json(index), "text": status_line(index)},
            "model": model,
            "providers": sorted(settings.providers),
            "keys": [dict(key) for key in keys],
            "folders": [str(folder) for folder in self._workspace.folders],
            "problems": [*([] if model else [NO_MODEL]), *self._configuration.problems],
        }

    def text(self, report: dict[str, Any]) -> str:
        """The report as Markdown for people."""
        editor, policy = report["editor"], report["policy"]
        name = f"{editor['name'] or 'this editor'} {editor['version']}".rstrip()
        lines = [
            f"# tark-lsp {report['version']} in {prose_line(name)}",
            "",
            f"- model: {code_span(report['model']) if report['model'] else 'not set'}",
            f"- mode {policy['mode']}, approval level {policy['approval']}, edits are reviewed: {policy['editReview']}",
            f"- providers set up in the settings: {', '.join(map(code_span, report['providers'])) or 'none'}",
            f"- keys: {_ready(report['keys']) or NO_KEYS}",
            f"- sandbox: {report['sandbox']['why']}",
            f"- code index: {prose_line(report['index']['text'])}",
            f"- folders: {', '.join(map(code_span, report['folders'])) or 'none'}",
            "",
            "## What this editor gets instead",
            "",
            *(f"- no `{missing['capability']}`: {missing['instead']}" for missing in report["missing"]),
            "",
            "## Problems",
            "",
            *(f"- {prose_line(problem)}" for problem in report["problems"] or ["none"]),
        ]
        return "\n".join(lines) + "\n"


def _ready(keys: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(prose_line(f"{key['provider']} ({key['source']})") for key in keys if key["status"] == "ready")
