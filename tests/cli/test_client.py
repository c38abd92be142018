"""The terminal's LSP client against a toy server: framing, requests in both directions, documents, and the end."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from tark_lsp.errors import FileMissing, FileTooLarge, NotText
from tark_lsp.server.client import Client, ServerError, ServerGone
from tests.patience import AT_ONCE

pytestmark = pytest.mark.slow  # most of its tests start a program

TOY = (sys.executable, str(Path(__file__).with_name("toy_server.py")))


class Recorder:
    """A person who always says yes, and records what was shown."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.messages: list[tuple[str, int]] = []

    def update(self, update: Mapping[str, Any]) -> None:
        self.updates.append(update["kind"])

    def message(self, text: str, severity: int) -> None:
        self.messages.append((text, severity))

    async def permission(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        if request["title"] == "slow":
            await asyncio.sleep(60)
        if request["title"] == "bug":
            raise ZeroDivisionError("a bug of ours")
        return {"outcome": "allow"}

    async def input(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"answer": request["question"].upper()}

    async def choose(self, message: str, titles: Sequence[str]) -> str | None:
        return titles[-1] if message == "last" else None


@pytest.fixture
def person() -> Recorder:
    return Recorder()


@pytest.fixture
async def client(tmp_path: Path, person: Recorder) -> AsyncIterator[Client]:
    async with await Client.start(tmp_path, person, settings={"model": "a/b"}, argv=TOY) as client:
        yield client


async def ask(client: Client, method: str, params: object) -> Any:
    return await client.command("ask", {"method": method, "params": params})


async def test_initialize_says_who_we_are(client: Client, tmp_path: Path) -> None:
    first, second = await client.command("seen")
    assert first["params"]["initializationOptions"] == {"model": "a/b"}
    assert first["params"]["capabilities"]["experimental"]["tark"]["userSettings"] is True
    assert first["params"]["workspaceFolders"] == [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    assert second["method"] == "initialized"


async def test_answers_find_their_requests(client: Client) -> None:
    big = "é\U0001f600\r\n" * 50_000
    answers = await asyncio.gather(*(client.command("echo", {"n": n, "big": big}) for n in range(5)))
    assert answers == [{"n": n, "big": big} for n in range(5)]
    with pytest.raises(ServerError, match="no such thing") as failed:
        await client.command("fail")
    assert failed.value.rpc_code == -32602


async def test_a_cancelled_request_is_told(client: Client) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.command("hang"), 0.2)
    assert await client.command("echo", {"still": "alive"}) == {"still": "alive"}


ASKED: list[tuple[str, Any, Any]] = [
    ("window/workDoneProgress/create", {"token": 1}, None),
    ("tark/requestPermission", {"title": "edit"}, {"outcome": "allow"}),
    ("tark/requestInput", {"question": "why"}, {"answer": "WHY"}),
    ("window/showMessageRequest", {"message": "last", "actions": [{"title": "A"}, {"title": "B"}]}, {"title": "B"}),
    ("window/showMessageRequest", {"message": "none", "actions": [{"title": "A"}]}, None),
]


@pytest.mark.parametrize(("method", "params", "expected"), ASKED)
async def test_the_server_asks(client: Client, method: str, params: Any, expected: Any) -> None:
    assert (await ask(client, method, params))["result"] == expected


async def test_unknown_methods_are_refused(client: Client) -> None:
    assert (await ask(client, "window/juggle", {}))["error"]["code"] == -32601


async def test_a_bug_of_ours_reaches_whoever_waits(client: Client) -> None:
    with pytest.raises(ZeroDivisionError):
        await ask(client, "tark/requestPermission", {"title": "bug"})


async def test_a_bug_in_showing_an_update_does_not_leave_us_waiting(tmp_path: Path, person: Recorder) -> None:
    client = await Client.start(tmp_path, person, argv=TOY)
    with pytest.raises(KeyError, match="kind"):
        await client.command("tell", {"method": "tark/update", "params": {"update": {}}})
    with pytest.raises(KeyError):
        await client.close()
    assert not psutil.pid_exists(client.process.pid)


async def test_the_server_takes_its_question_back(client: Client) -> None:
    assert (await client.command("cancel"))["error"]["code"] == -32800


async def test_updates_and_messages_reach_the_person(client: Client, person: Recorder) -> None:
    await client.command("tell", {"method": "tark/update", "params": {"seq": 1, "update": {"kind": "text"}}})
    await client.command("tell", {"method": "window/showMessage", "params": {"type": 2, "message": "m"}})
    await client.command("tell", {"method": "$/progress", "params": {"token": 1, "value": {}}})
    assert person.updates == ["text"]
    assert person.messages == [("m", 2)]


@pytest.mark.parametrize("death", ["die", "garbage"])
async def test_the_log_of_a_dead_server_is_shown(client: Client, death: str) -> None:
    with pytest.raises(ServerGone) as gone:
        await client.command(death)
    assert ("last words" in gone.value.hint) == (death == "die")
    with pytest.raises(ServerGone):
        await client.command("echo")


@pytest.mark.parametrize("kind", ["much garbage", "leave a process"])
async def test_closing_does_not_wait_for_output(tmp_path: Path, person: Recorder, kind: str) -> None:
    """Neither for what nobody reads, nor for a process that has inherited the output of the server."""
    client = await Client.start(tmp_path, person, argv=TOY)
    with contextlib.suppress(ServerGone):
        await client.command(kind)
    async with asyncio.timeout(AT_ONCE):
        await client.close(seconds=0.2)
    assert not psutil.pid_exists(client.process.pid)


async def test_an_unresponsive_server_is_killed(tmp_path: Path, person: Recorder) -> None:
    client = await Client.start(tmp_path, person, argv=(*TOY, "deaf"))
    async with asyncio.timeout(AT_ONCE):
        await client.close(seconds=0.2)
    assert not psutil.pid_exists(client.process.pid)


async def test_a_server_that_does_not_start(tmp_path: Path, person: Recorder) -> None:
    with pytest.raises(ServerGone):
        await Client.start(tmp_path, person, argv=(sys.executable, "-c", "raise SystemExit('no')"))


async def test_nothing_of_the_folder_is_run(tmp_path: Path, person: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules in it that are named like ours, or like those of the standard library."""
    for name in ("tark_lsp.py", "queue.py", "asyncio.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    async with await Client.start(tmp_path, person):
        pass
    assert not (tmp_path / "run").exists()


def edit(uri: str, version: int | None, *changes: tuple[int, int, int, int, str]) -> dict[str, Any]:
    edits = [
        {"range": {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}, "newText": text}
        for a, b, c, d, text in changes
    ]
    return {"edit": {"documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": edits}]}}


BYTES: list[tuple[str, bytes, tuple[tuple[int, int, int, int, str], ...], bytes]] = [
    ("LF", b"a\nb\nc\n", ((1, 0, 2, 0, "B\n"),), b"a\nB\nc\n"),
    ("CRLF and mixed", b"a\r\nb\nc\rd\r\n", ((1, 0, 2, 0, "B\n"),), b"a\r\nB\nc\rd\r\n"),
    ("UTF-8 mark", b"\xef\xbb\xbfa\r\nb", ((0, 0, 1, 0, "A\r\n"),), b"\xef\xbb\xbfA\r\nb"),
    ("UTF-16", "\ufeffa\nü\n".encode("utf-16-le"), ((1, 0, 1, 1, "ö"),), "\ufeffa\nö\n".encode("utf-16-le")),
    ("no final newline", b"a\nb", ((1, 0, 1, 1, "B"),), b"a\nB"),
    ("at the end", b"a\n", ((1, 0, 1, 0, "b\n"),), b"a\nb\n"),
    ("astral", "\U0001f600x\n".encode(), ((0, 1, 0, 2, "y"),), "\U0001f600y\n".encode()),
    ("several", b"1\n2\n3\n", ((0, 0, 1, 0, ""), (2, 0, 3, 0, "III\n")), b"2\nIII\n"),
    ("line separators are text", "a\u2028b\x0c\nc\n".encode(), ((1, 0, 2, 0, "C\n"),), "a\u2028b\x0c\nC\n".encode()),
]


@pytest.mark.parametrize(("before", "changes", "after"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES])
async def test_an_edit_is_written_and_other_bytes_survive(
    client: Client, tmp_path: Path, before: bytes, changes: Any, after: bytes
) -> None:
    file = tmp_path / "a b.txt"
    file.write_bytes(before)
    file.chmod(0o754)
    document = client.documents.open(file)
    assert (await ask(client, "workspace/applyEdit", edit(document.uri, 1, *changes)))["result"] == {"applied": True}
    assert file.read_bytes() == after
    assert file.stat().st_mode & 0o777 == 0o754
    opened, changed, saved = (await client.command("seen"))[2:]
    assert opened["params"]["textDocument"]["uri"] == document.uri
    assert changed["params"]["textDocument"]["version"] == document.version == 2
    assert changed["params"]["contentChanges"] == [{"text": document.text}]
    assert saved["method"] == "textDocument/didSave"
    assert [path.name for path in tmp_path.iterdir()] == ["a b.txt"]


async def test_edits_that_do_not_fit_change_nothing(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\n")
    uri = client.documents.open(file).uri
    unfit: list[dict[str, Any]] = [
        edit(uri, 7, (0, 0, 0, 1, "b")),
        edit(uri + "x", 1, (0, 0, 0, 1, "b")),
        {"edit": {"documentChanges": [{"kind": "create", "uri": uri}]}},
        {"edit": {}},
    ]
    for words in unfit:
        answer = (await ask(client, "workspace/applyEdit", words))["result"]
        assert answer["applied"] is False
        assert answer["failureReason"]
    assert file.read_bytes() == b"a\n"


async def test_a_file_that_changed_on_disk_is_read_again(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"a\n")
    document = client.documents.open(file)
    file.write_bytes(b"by a command\n")
    refused = (await ask(client, "workspace/applyEdit", edit(document.uri, 1, (0, 0, 0, 1, "b"))))["result"]
    assert refused["applied"] is False
    assert (document.text, document.version) == ("by a command\n", 2)
    assert (await ask(client, "workspace/applyEdit", edit(document.uri, 2, (0, 0, 0, 2, "B"))))["result"]["applied"]
    assert file.read_bytes() == b"B a command\n"


async def test_what_is_no_text_file_is_not_opened(client: Client, tmp_path: Path) -> None:
    files: list[tuple[str, bytes | None, type[Exception]]] = [
        ("missing", None, FileMissing),
        ("binary", b"\x7fELF\0\0", NotText),
        ("latin-1", "über".encode("latin-1"), NotText),
        ("huge", b"a" * (10 * 1024**2 + 1), FileTooLarge),
    ]
    for name, data, error in files:
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(error, match=name):
            client.documents.open(tmp_path / name)
    with pytest.raises(NotText, match="a directory"):
        client.documents.open(tmp_path)
