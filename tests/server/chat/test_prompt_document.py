"""The prompt of a client's own chat, a document that is no file: completed as a chat is, and nothing else."""

from typing import Any

import pytest

from tark_lsp.server.documents.sync import DocumentSync
from tark_lsp.server.protocol import lsp_params
from tests.server.desk import Desk, MakeDesk

PROMPT = "tark://chat/prompt.tark.md"
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 5}}


def open_prompt(desk: Desk, uri: str, text: str) -> None:
    item = {"uri": uri, "languageId": "tark_prompt", "version": 1, "text": text}
    DocumentSync(desk.app.parts.documents).did_open({"textDocument": item})


async def completed(desk: Desk, uri: str, line: int, character: int) -> list[str]:
    place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
    found = await desk.app.parts.chat.completion(lsp_params.HoverParams.model_validate(place))
    return [item["textEdit"]["newText"] for item in (found or {"items": []})["items"]]


async def test_mentions_and_names_are_completed(make: MakeDesk) -> None:
    desk = make()
    (desk.folder / "shapes.py").write_text("")
    open_prompt(desk, PROMPT, "/ex\n@file:sha")
    assert await completed(desk, PROMPT, 1, 9) == ["@file:shapes.py"]
    assert "/explain" in await completed(desk, PROMPT, 0, 3)


@pytest.mark.parametrize("uri", ["untitled:prompt.tark.md", "tark://chat/prompt.md"])
async def test_other_documents_that_are_no_files_are_left_alone(make: MakeDesk, uri: str) -> None:
    desk = make()
    open_prompt(desk, uri, "/ex")
    assert await completed(desk, uri, 0, 3) == []


async def test_nothing_is_done_with_it(make: MakeDesk) -> None:
    desk = make()
    open_prompt(desk, PROMPT, "one\ntwo and so on")
    about: dict[str, Any] = {"textDocument": {"uri": PROMPT}}
    asked = {**about, "range": WHOLE, "context": {"diagnostics": [], "triggerKind": 1}}
    assert await desk.app.code_actions(lsp_params.CodeActionParams.model_validate(asked)) == []
    assert desk.app.parts.chat.lenses(lsp_params.DocumentParams.model_validate(about)) == []
