"""Converts notifications about documents and files to plain values. Malformed parts are logged and skipped."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tark_lsp.server.protocol.capabilities import find_value
from tark_lsp.workspace.documents import ContentChange, Documents
from tark_lsp.workspace.uris import path_from_uri

logger = logging.getLogger(__name__)

BY_HAND, AUTOMATIC_SAVES = 1, (2, 3)
"""Values of TextDocumentSaveReason. Automatic: after a delay, and when the focus leaves. LSP has it in `willSave`.
Tark's own clients also send it in `didSave`."""


class DocumentSync:
    """Each method takes the params of one notification."""

    def __init__(self, documents: Documents, *, trusts_will_save: bool = True) -> None:
        """`trusts_will_save`: the editor distinguishes saves by the user from automatic saves in `willSave`."""
        self._documents = documents
        self._trusts_will_save = trusts_will_save

    def did_open(self, params: Mapping[str, Any]) -> None:
        uri, text = find_value(params, "textDocument.uri"), find_value(params, "textDocument.text")
        if not isinstance(uri, str) or not isinstance(text, str):
            logger.warning("didOpen without uri or text")
            return
        language_id = find_value(params, "textDocument.languageId")
        language_id = language_id if isinstance(language_id, str) else ""
        self._documents.open_document(uri, language_id, _version(params), text)

    def did_change(self, params: Mapping[str, Any]) -> None:
        uri, changes = _uri(params, "didChange"), find_value(params, "contentChanges")
        if uri is None or not isinstance(changes, list):
            return
        understood: list[ContentChange] = []
        problem = ""
        for change in changes:
            try:
                understood.append(_content_change(change))
            except ValueError as error:
                problem = str(error)
                break
        self._documents.change_document(uri, _version(params), understood, problem=problem)

    def will_save(self, params: Mapping[str, Any]) -> None:
        if (uri := _uri(params, "willSave")) is not None:
            self._documents.will_save_document(uri, find_value(params, "reason"))

    def did_save(self, params: Mapping[str, Any]) -> None:
        if (uri := _uri(params, "didSave")) is None:
            return
        told = find_value(params, "reason")
        reason = self._documents.announced_reason(uri) if told is None else told
        certain = reason == BY_HAND and (told is not None or self._trusts_will_save)
        self._documents.save_document(uri, by_hand=reason not in AUTOMATIC_SAVES, certain=certain)

    def did_close(self, params: Mapping[str, Any]) -> None:
        if (uri := _uri(params, "didClose")) is not None:
            self._documents.close_document(uri)


def paths_of_files(params: Mapping[str, Any], *names: str) -> Iterator[list[Path]]:
    """For each file of a notification, the paths of the URIs with these names. Skips URIs that are not files."""
    files = params.get("files")
    for file in files if isinstance(files, list) else ():
        uris = [file.get(name) for name in names] if isinstance(file, dict) else []
        paths = [path_from_uri(uri) for uri in uris if isinstance(uri, str)]
        known = [path for path in paths if path is not None]
        if len(known) == len(names):
            yield known


def _uri(params: object, method: str) -> str | None:
    uri = find_value(params, "textDocument.uri")
    if isinstance(uri, str):
        return uri
    logger.warning("%s without a uri: %r", method, uri)
    return None


def _version(params: object) -> int | None:
    version = find_value(params, "textDocument.version")
    return version if type(version) is int else None


def _content_change(value: object) -> ContentChange:
    """Raises ValueError if the change has no text, or has a range without positions."""
    text, span = find_value(value, "text"), find_value(value, "range")
    if not isinstance(text, str):
        raise ValueError("a change without text")
    if span is None:
        return ContentChange(text)
    return ContentChange(text, _position(find_value(span, "start")), _position(find_value(span, "end")))


def _position(value: object) -> tuple[int, int]:
    line, character = find_value(value, "line"), find_value(value, "character")
    if type(line) is not int or type(character) is not int or line < 0 or character < 0:
        raise ValueError(f"not a position: {value!r}")
    return line, character
