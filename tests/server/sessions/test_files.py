"""Sessions exported to files and taken in again: never over a file, readable by nobody else, junk refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.desk import Desk
from tests.server.sessions.conftest import Another
from tests.server.sessions.probe import listed, opened, private, refused, run, said


@pytest.mark.parametrize(("form", "ending"), [("markdown", ".md"), ("json", ".json")])
async def test_export_has_a_place_of_its_own(desk: Desk, tmp_path: Path, form: str, ending: str) -> None:
    session = await run(desk, "hello")
    first = Path((await desk.command("tark.session.export", {"sessionId": session, "format": form}))["path"])
    assert first.parent == tmp_path / "home" / "state" / "tark" / "exports"
    assert first.parent.stat().st_mode & 0o777 == 0o700
    assert first.suffix == ending
    assert private(first)
    assert "Hello." in first.read_text()
    again = await desk.command("tark.session.export", {"sessionId": session, "format": form})
    assert again["path"] != str(first)


@pytest.mark.parametrize("absolute", [True, False])
async def test_export_to_a_file_of_the_persons(desk: Desk, absolute: bool) -> None:
    session = await run(desk, "hello")
    path = desk.folder / "s.md"
    wanted = str(path) if absolute else "s.md"
    assert await desk.command("tark.session.export", {"sessionId": session, "path": wanted}) == {"path": str(path)}
    assert private(path)
    assert path.read_text().startswith("# hello\n")


async def test_nothing_is_written_over(desk: Desk, tmp_path: Path) -> None:
    session = await run(desk, "hello")
    there, link = desk.folder / "there.md", desk.folder / "link.md"
    there.write_text("theirs")
    link.symlink_to(tmp_path / "elsewhere.md")
    for path, why in (
        (there, "exists already"),
        (link, "exists already"),
        (desk.folder / "no" / "s.md", "cannot be written"),
        (desk.folder, "exists already"),
        ("a\0b", "not an absolute path"),
    ):
        assert why in await refused(desk, "tark.session.export", sessionId=session, path=str(path))
    assert there.read_text() == "theirs"
    assert not (tmp_path / "elsewhere.md").exists()
    assert "format" in await refused(desk, "tark.session.export", sessionId=session, format="pdf")


async def test_without_a_folder_a_relative_path_is_none(desk: Desk) -> None:
    session = await run(desk, "hello")
    desk.app.parts.workspace.set_folders([])
    assert "not an absolute path" in await refused(desk, "tark.session.export", sessionId=session, path="s.md")


async def exported(desk: Desk, session: str) -> Path:
    return Path((await desk.command("tark.session.export", {"sessionId": session, "format": "json"}))["path"])


async def test_what_is_taken_in_is_what_was_exported(desk: Desk, another: Another, tmp_path: Path) -> None:
    session = await run(desk, "hello")
    await run(desk, "list .", session)
    before = await opened(desk, session)
    path = await exported(desk, session)
    await desk.command("tark.session.delete", {"sessionId": session})
    folder = tmp_path.resolve() / "elsewhere"
    folder.mkdir()
    other = another(folder)
    taken = (await other.command("tark.session.new", {"import": str(path)}))["sessionId"]
    assert taken != session
    after = await opened(other, taken)
    assert said(after) == said(before)
    assert (after["title"], after["folders"], after["created"]) == ("hello", [folder.as_uri()], before["created"])
    assert [len(message.get("toolCalls", ())) for message in after["messages"]] == [0, 0, 0, 1, 0]
    await run(other, "hello", taken)
    assert len(await listed(other)) == 1


async def test_an_imported_session_can_have_another_title_and_loosens_nothing(desk: Desk) -> None:
    path = await exported(desk, await run(desk, "hello", mode="plan"))
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, "approval": "balanced", "mode": "build", "model": "evil/model"}))
    taken = (await desk.command("tark.session.new", {"import": str(path), "title": "Mine"}))["sessionId"]
    (row,) = [row for row in await listed(desk) if row["sessionId"] == taken]
    assert (row["title"], row["approval"], row["model"], row["mode"]) == ("Mine", "careful", "scripted/desk", "build")


JUNK: dict[str, Any] = {
    "nothing": b"",
    "no JSON": b"hello",
    "no session": b'{"a": 1}',
    "a list": b"[]",
    "no text": b"\xff\xfe\x00",
    "of a newer version": {"version": 99},
    "a message of no role": {"messages": [{"number": 1, "turn": "", "time": 0, "callIds": {}, "seq": 0, "parts": []}]},
    "messages that are none": {"messages": 7},
    "turns that are none": {"turns": {"a": 1}},
}


@pytest.mark.parametrize("name", JUNK)
async def test_junk_is_not_taken_in(desk: Desk, name: str) -> None:
    path = await exported(desk, await run(desk, "hello"))
    junk = JUNK[name]
    path.write_bytes(junk if isinstance(junk, bytes) else json.dumps({**json.loads(path.read_text()), **junk}).encode())
    before = await listed(desk)
    assert "import: " in await refused(desk, "tark.session.new", **{"import": str(path)})
    assert await listed(desk) == before


@pytest.mark.parametrize("update", [{"kind": "toolCall"}, {"kind": "text"}, {"kind": 7}])
async def test_updates_that_could_not_be_shown(desk: Desk, update: dict[str, Any]) -> None:
    path = await exported(desk, await run(desk, "list ."))
    value = json.loads(path.read_text())
    value["turns"][0]["updates"] = [[1, update]]
    path.write_text(json.dumps(value))
    before = await listed(desk)
    assert "import: " in await refused(desk, "tark.session.new", **{"import": str(path)})
    assert await listed(desk) == before


async def test_updates_of_a_file_may_be_of_any_kind(desk: Desk) -> None:
    path = await exported(desk, await run(desk, "list ."))
    value = json.loads(path.read_text())
    odd = [{"kind": "nonesuch", "delta": 7}, {}, {"kind": "toolCall", "toolCallId": "x"}]
    value["turns"][0]["updates"] = [[seq, update] for seq, update in enumerate(odd, 1)]
    value["turns"][0]["end"] = {}
    path.write_text(json.dumps(value))
    taken = (await desk.command("tark.session.new", {"import": str(path)}))["sessionId"]
    shown = await opened(desk, taken)
    calls = [call["toolCallId"] for message in shown["messages"] for call in message.get("toolCalls", ())]
    assert calls[-1] == "x"
    turn = shown["turns"][0]["turnId"]
    assert "stopReason" not in await desk.command("tark.turn.wait", {"turnId": turn, "show": True})
    await run(desk, "hello", taken)


@pytest.mark.parametrize("path", ["nonesuch.json", ".", "a\0b"])
async def test_no_file(desk: Desk, path: str) -> None:
    assert "import: " in await refused(desk, "tark.session.new", **{"import": path})
