"""Which editor the client is, and what that editor does if the protocol leaves it open: a table of flags by name.

Source of the rows: docs/editors.md (from the source code of the editors, or reproduced).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tark_lsp.server.protocol.capabilities import PROTOCOL, choose_encoding, find_value
from tark_lsp.workspace.uris import path_from_uri

ANSWER_SECONDS = 30.0
"""How long an editor that does not ask the user can take to answer an edit."""


@dataclass(frozen=True, slots=True)
class EditorFlags:
    """The defaults are the careful choice for an editor that was not tested."""

    honours_confirmation: bool = False
    """Shows edits annotated `needsConfirmation` to the user first. Other editors apply them at once."""
    takes_keyboard_on_message: bool = True
    """A `window/showMessageRequest` takes the keyboard focus, so the user's typing can answer it."""
    forgets_earlier_message: bool = True
    """A second `window/showMessageRequest` replaces the first one, which is then never answered."""
    show_document_replaces_view: bool = False
    """`window/showDocument{takeFocus: false}` still replaces the document in view."""
    draws_icons: bool = False
    """Draws `$(name)` as an icon in the titles of code lenses and in progress."""
    checks_versions: bool = False
    """Refuses an edit that was made for an older version of the document."""
    says_applied_when_skipped: bool = True
    """Answers `applied: true` for an edit that it did not apply."""
    adds_line_at_end: bool = False
    """Adds an empty line after an edit that only adds lines at the end (vim.lsp.util.apply_text_edits)."""
    blocks_on_commands: bool = True
    """Sends no change while it waits for the answer to a command (eglot, whose timers do not run then)."""
    drops_questions: bool = False
    """Ends a question about an edit, and drops the edit, if the answer to a command comes meanwhile (eglot)."""
    always_says_by_hand: bool = False
    """Its `willSave` reports every save as a save by the user, even an automatic one."""
    answer_seconds: float | None = None
    """How long the answer to an edit can take, in seconds; None: the editor may ask the user first, as eglot does."""
    change_delay: float = 0.5
    """The longest time in seconds from a change of the text to its didChange, while the user does not type."""


_UNKNOWN = EditorFlags()
_VSCODE = EditorFlags(
    honours_confirmation=True,
    takes_keyboard_on_message=False,
    forgets_earlier_message=False,
    draws_icons=True,
    checks_versions=True,
    says_applied_when_skipped=False,
    blocks_on_commands=False,
    answer_seconds=ANSWER_SECONDS,
    change_delay=0.0,
)
_NEOVIM = EditorFlags(
    forgets_earlier_message=False,
    checks_versions=True,
    adds_line_at_end=True,
    blocks_on_commands=False,
    always_says_by_hand=True,
    answer_seconds=ANSWER_SECONDS,
    change_delay=0.15,
)
_EGLOT = EditorFlags(
    forgets_earlier_message=False,
    checks_versions=True,
    says_applied_when_skipped=False,
    drops_questions=True,
    always_says_by_hand=True,
)
_HELIX = EditorFlags(
    show_document_replaces_view=True,
    checks_versions=True,
    says_applied_when_skipped=False,
    blocks_on_commands=False,
    answer_seconds=ANSWER_SECONDS,
    change_delay=0.0,
)
_KAKOUNE = EditorFlags(
    forgets_earlier_message=False, blocks_on_commands=False, answer_seconds=ANSWER_SECONDS, change_delay=0.0
)

EDITORS: Sequence[tuple[str, tuple[int, ...], EditorFlags]] = (
    ("visual studio code", (), _VSCODE),
    ("code - oss", (), _VSCODE),
    ("code-server", (), _VSCODE),
    ("vscodium", (), _VSCODE),
    ("cursor", (), _VSCODE),
    ("windsurf", (), _VSCODE),
    ("neovim", (0, 12), replace(_NEOVIM, honours_confirmation=True)),
    ("neovim", (), _NEOVIM),
    ("eglot", (), _EGLOT),
    ("emacs (eglot)", (), _EGLOT),
    ("helix", (), _HELIX),
    ("kakoune-lsp", (), _KAKOUNE),
    ("kak-lsp", (), _KAKOUNE),
)
"""Prefix of `clientInfo.name` in lower case, lowest version, flags. The first row that matches is used.

A fork has its own name. Tark's extension sends the editor it is built from as `experimental.tark.editor`, which is used
instead.
"""


def flags_of(name: str, version: str) -> EditorFlags:
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    for start, least, flags in EDITORS:
        if name.lower().startswith(start) and numbers >= least:
            return flags
    return _UNKNOWN


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client's part of `initialize`. A value that is missing or not valid LSP is replaced by the default."""

    name: str = ""
    version: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    """The workspace folders, or the root if there are none: resolved, without those that are not on disk."""
    process_id: int | None = None
    initialization_options: object = None
    position_encoding: str = "utf-16"
    flags: EditorFlags = _UNKNOWN

    @classmethod
    def from_params(cls, params: object) -> "ClientInfo":
        """From the params of `initialize`, which can be anything."""
        capabilities = find_value(params, "capabilities")
        name, version = (_text(find_value(params, f"clientInfo.{key}")) for key in ("name", "version"))
        editor = _text(find_value(capabilities, "experimental.tark.editor"))
        process_id = find_value(params, "processId")
        folders = folder_paths(find_value(params, "workspaceFolders"))
        if not folders:
            folders = folder_paths([{"uri": find_value(params, "rootUri")}])
        return cls(
            name=name,
            version=version,
            capabilities=capabilities if isinstance(capabilities, dict) else {},
            folders=folders,
            process_id=process_id if type(process_id) is int and process_id > 0 else None,
            initialization_options=find_value(params, "initializationOptions"),
            position_encoding=choose_encoding(capabilities),
            flags=flags_of(editor or name, version),
        )

    def get(self, path: str) -> Any:
        """The capability at a dotted path such as `textDocument.codeAction.disabledSupport`; None if it is missing."""
        return find_value(self.capabilities, path)

    def has(self, path: str) -> bool:
        """Does the client have the capability? An empty object means yes, `false` and `null` mean no."""
        return self.get(path) not in (None, False)

    def understands(self, flag: str) -> bool:
        """Does the client support this part of Tark's protocol (`experimental.tark`: `updates`, `permission`, ...)?"""
        return self.get("experimental.tark.protocol") == PROTOCOL and self.get(f"experimental.tark.{flag}") is True


def folder_paths(folders: object) -> tuple[Path, ...]:
    """The paths of LSP `WorkspaceFolder`s, without folders that have no path."""
    uris = [find_value(folder, "uri") for folder in folders] if isinstance(folders, list) else []
    paths = [path_from_uri(uri) for uri in uris if isinstance(uri, str)]
    return tuple(path for path in paths if path is not None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
