"""What the editor shows, for the gate after an edit: asked for, or seen in code action requests."""

from pathlib import Path

import pytest

from tark_lsp.agent.edit_check import ReportedLines, ShownDiagnostics
from tark_lsp.server.documents.client_state import ClientState
from tark_lsp.server.protocol.incoming import Range
from tark_lsp.server.protocol.lsp_params import CodeActionContext
from tests.server.scripted import Json, ScriptedConnection, ScriptedEditor, capabilities, refuse

TEXT = "one\ntwo\nthree\n"
AUTOMATIC, INVOKED = 2, 1


def diagnostic(line: int, message: str = "bad", source: str = "lint") -> Json:
    place = {"line": line, "character": 2}
    return {"range": {"start": place, "end": place}, "message": message, "source": source, "severity": 1}


class Desk:
    def __init__(self, folder: Path, *flags: str) -> None:
        self.editor = ScriptedEditor(folder.resolve(), capabilities(tark=flags))
        self.path = self.editor.open("a.py", TEXT)
        connection = self.editor.connection
        assert isinstance(connection, ScriptedConnection)
        self.connection = connection
        self.state = ClientState(connection, self.editor.documents)

    def saw(self, first: int, last: int, *diagnostics: Json, trigger: int = AUTOMATIC) -> None:
        lines = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 1}}
        context = {"diagnostics": list(diagnostics), "triggerKind": trigger}
        self.state.saw_action(
            self.path.as_uri(), Range.model_validate(lines), CodeActionContext.model_validate(context)
        )


def words(shown: ShownDiagnostics | None) -> list[tuple[str, int, str]] | None:
    return None if shown is None else [(item.path.name, item.line, item.message) for item in shown.diagnostics]


async def test_all_that_the_editor_shows(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "clientState")
    other = (tmp_path / "b.py").resolve().as_uri()
    listed = [
        {"uri": desk.path.as_uri(), "diagnostics": [diagnostic(1), diagnostic(2, "ours", "tark")]},
        {"uri": other, "diagnostics": [diagnostic(7)]},
    ]
    desk.connection.answers["tark/clientState"] = lambda _: {"diagnostics": listed}
    shown = await desk.state.read_shown()
    assert words(shown) == [("a.py", 1, "bad"), ("b.py", 7, "bad")]
    assert shown is not None
    assert shown.reported is None
    assert shown.versions == {desk.path: 1}
    desk.saw(0, 0, diagnostic(0, "seen"))
    assert words(await desk.state.read_shown()) == words(shown), "what was only seen does not count here"


async def test_an_editor_that_fails_to_answer(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "clientState")
    desk.connection.answers["tark/clientState"] = refuse
    assert await desk.state.read_shown() is None


async def test_what_was_seen_of_some_lines(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert await desk.state.read_shown() is None
    desk.saw(1, 1, diagnostic(1))
    shown = await desk.state.read_shown()
    assert words(shown) == [("a.py", 1, "bad")]
    assert shown is not None
    assert shown.reported == {desk.path: ReportedLines(1, 1, 2)}
    desk.saw(0, 2)
    shown = await desk.state.read_shown()
    assert shown is not None
    assert (shown.diagnostics, shown.reported) == ((), {desk.path: ReportedLines(2, 0, 3)})


async def test_an_editor_that_only_asks_when_told_to_is_not_waited_for(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.saw(1, 1, diagnostic(1), trigger=INVOKED)
    assert await desk.state.read_shown() is None
    assert [item.message for item in await desk.state.read_diagnostics(desk.path)] == ["bad"], "tools may read it"


async def test_what_was_seen_of_another_text_does_not_count(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.saw(1, 1, diagnostic(1))
    desk.editor.type(desk.path, (0, 0, "zero\n"))
    assert await desk.state.read_shown() == ShownDiagnostics((), {desk.path: 2}, {})


@pytest.mark.parametrize("path", [None, "a.py", "b.py"])
async def test_diagnostics_seen_are_given_by_file(tmp_path: Path, path: str | None) -> None:
    desk = Desk(tmp_path)
    desk.saw(1, 1, diagnostic(1))
    found = await desk.state.read_diagnostics(None if path is None else (tmp_path / path).resolve())
    assert len(found) == (0 if path == "b.py" else 1)
