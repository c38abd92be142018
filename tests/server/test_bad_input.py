"""Bad input, against a real server: each gives a clear message in the editor, the server lives on, no file changes."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.llm.scripted.answer import answer_frames
from tark_lsp.llm.scripted.scenario import Reply, ScriptedCall
from tests.loopback import Answer, Loopback, Raw, Request
from tests.server.raw import RawServer, python

Json = dict[str, Any]
TEXT = "one\ntwo\nthree\n"
EDIT = Reply(
    text="I will.",
    calls=(ScriptedCall("edit_file", {"path": "f.py", "old_text": "two\n", "new_text": "TWO\n"}),),
)
ASKED = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}).encode()
STREAM = b"".join(answer_frames(EDIT, "openai-chat", ASKED, 1))


class Provider(Loopback):
    """Gives `answers`, the last one again and again."""

    def __init__(self) -> None:
        super().__init__([Reply(text="Hello.")])
        self.answers: list[Answer] = []

    def _next(self, _: Request) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Bench:
    """A server, a workspace with files of all kinds, a provider on loopback; the editor understands LSP alone."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self.folder, self.provider = folder / "workspace", provider
        self.folder.mkdir()
        self.models = 0
        self.path = self.folder / "f.py"
        self.path.write_text(TEXT)
        (self.folder / "binary").write_bytes(b"\0\x01\xff" * 1000)
        (self.folder / "latin1.txt").write_bytes("caf\xe9\n".encode("latin-1"))
        (self.folder / "folder").mkdir()
        with (self.folder / "large.txt").open("wb") as stream:
            stream.truncate(50 * 1024 * 1024)
        (folder / "outside.py").write_text(TEXT)
        config = folder / "config" / "tark"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(
            'model = "local/m"\nthinking = "loudly"\n'
            f'[providers.local]\nwire = "openai-chat"\nbaseUrl = "{provider.url}/v1"\napiKeyEnv = "LOCAL_KEY"\n'
            f'[providers.keyless]\nwire = "openai-chat"\nbaseUrl = "{provider.url}/v1"\napiKeyEnv = "NO_SUCH_KEY"\n'
        )
        homes = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
        self.server = RawServer(python("tark_lsp"), env={**homes, "HOME": str(folder), "LOCAL_KEY": "key-1234"})
        self.server.initialize(workspaceFolders=[{"uri": self.folder.as_uri(), "name": "workspace"}])
        item = {"uri": self.path.as_uri(), "languageId": "python", "version": 1, "text": TEXT}
        self.server.notify("textDocument/didOpen", {"textDocument": item})
        self.before = self.digests()

    def digests(self) -> dict[str, str]:
        files = [item for item in sorted(self.folder.rglob("*")) if item.is_file()]
        whole = 1_000_000
        return {
            str(file): hashlib.sha256(file.read_bytes()).hexdigest()
            if file.stat().st_size < whole
            else str(file.stat().st_mtime_ns)
            for file in files
        }

    def command(self, name: str, argument: object) -> Json:
        return self.server.call("workspace/executeCommand", {"command": name, "arguments": [argument]})

    def start(self, uri: str | None = None, **more: Any) -> Json:
        document = {"textDocument": {"uri": uri}} if uri is not None else {}
        return self.command("tark.turn.start", {"prompt": "do it", **document, **more})

    def end(self, *answers: Answer, **more: Any) -> Json:
        """The end of a turn whose model answers so; each has a model of its own, or the breaker would step in."""
        self.provider.answers = list(answers)
        self.models += 1
        more = {"model": f"local/m{self.models}", **more}
        turn = self.start(self.path.as_uri(), **more)["result"]["turnId"]
        end: Json = self.command("tark.turn.wait", {"turnId": turn})["result"]
        return end

    def message(self) -> str:
        """The next `window/showMessage`."""
        return str(self.server.message("window/showMessage")["params"]["message"])

    def unharmed(self) -> None:
        assert self.server.process.poll() is None
        assert self.command("tark.doctor", {})["result"]["version"]
        self.server.message("window/showMessage")  # the doctor's
        assert self.digests() == self.before
        assert not [other for other in self.server.others if other.get("method") == "workspace/applyEdit"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Provider().in_thread() as provider:
        assert isinstance(provider, Provider)
        bench = Bench(tmp_path_factory.mktemp("bad"), provider)
        with bench.server:
            message = bench.message()
            assert "thinking" in message, "the bad setting was told"
            yield bench


@pytest.fixture(autouse=True)
def afterwards(bench: Bench) -> Iterator[None]:
    bench.server.others.clear()
    yield
    bench.unharmed()


def test_a_bad_setting_has_its_default(bench: Bench) -> None:
    assert bench.command("tark.state", {})["result"]["settings"]["thinking"] == "auto"


@pytest.mark.parametrize("body", [b"{", b"[1, 2", b'"jsonrpc"', b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 3}', b""])
def test_broken_messages(bench: Bench, body: bytes) -> None:
    bench.server.send(body)


@pytest.mark.parametrize(
    ("method", "params", "named"),
    [
        ("workspace/executeCommand", {}, "command"),
        ("workspace/executeCommand", {"command": 7}, "command"),
        ("workspace/executeCommand", {"command": "tark.turn.start", "arguments": {}}, "arguments"),
        ("workspace/executeCommand", {"command": "tark.nonesuch"}, "tark.nonesuch"),
        ("textDocument/codeAction", {}, "textDocument"),
        ("textDocument/codeAction", {"textDocument": {"uri": "file:///f"}, "range": "all"}, "range"),
        ("textDocument/codeLens", {"textDocument": 7}, "textDocument"),
        ("textDocument/hover", {"textDocument": {"uri": "file:///f"}, "position": {"line": "x"}}, "position.line"),
        ("workspace/executeCommand", [1], "object"),
    ],
)
def test_wrong_params(bench: Bench, method: str, params: object, named: str) -> None:
    error = bench.server.call(method, params)["error"]
    assert error["code"] == -32602
    assert named in error["message"]


@pytest.mark.parametrize(
    ("params", "method"),
    [
        ({"textDocument": {"uri": 7}}, "textDocument/didOpen"),
        ({}, "textDocument/didChange"),
        ({"textDocument": {"uri": "file:///nonesuch"}, "contentChanges": [{"text": "x"}]}, "textDocument/didChange"),
        ({"settings": [7]}, "workspace/didChangeConfiguration"),
        ({"event": 7}, "workspace/didChangeWorkspaceFolders"),
        ({"token": {}}, "window/workDoneProgress/cancel"),
    ],
)
def test_wrong_notifications(bench: Bench, params: object, method: str) -> None:
    bench.server.notify(method, params)
    bench.server.notify("workspace/didChangeConfiguration", {"settings": {}})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../outside.py", "outside the workspace"),
        ("folder", "folder"),
        ("binary", "binary"),
        ("latin1.txt", "latin1.txt"),
        ("large.txt", "larger than 10 MB"),
        ("nonesuch.py", "nonesuch.py"),
    ],
)
def test_documents_that_cannot_be_worked_on(bench: Bench, name: str, words: str) -> None:
    error = bench.start((bench.folder / name).resolve().as_uri())["error"]
    assert error["code"] == -32602
    assert words in error["message"]


def test_a_range_past_the_end(bench: Bench) -> None:
    far = {"start": {"line": 90, "character": 0}, "end": {"line": 91, "character": 0}}
    error = bench.start(bench.path.as_uri(), range=far)["error"]
    assert error == {"code": -32602, "message": "range: line 90 is past the end, which is line 3"}


def test_an_open_document_of_50_megabytes(bench: Bench) -> None:
    uri = (bench.folder / "huge.txt").as_uri()
    item = {"uri": uri, "languageId": "plaintext", "version": 1, "text": "0123456789abcdef\n" * 3_000_000}
    bench.server.notify("textDocument/didOpen", {"textDocument": item})
    error = bench.start(uri)["error"]
    assert (error["code"], error["message"]) == (-32602, f"textDocument: {uri} is larger than 10 MB")
    bench.server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("keyless/m", "missing_key", "NO_SUCH_KEY"),
        ("nonesuch/m", "settings", "nonesuch"),
    ],
)
def test_a_model_that_is_not_there(bench: Bench, model: str, code: str, words: str) -> None:
    end = bench.end(Reply(text="never asked"), model=model)
    assert (end["stopReason"], end["error"]["code"]) == ("error", code)
    message = bench.message()
    assert message.startswith("Tark: ")
    assert words in message


HTML = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>" + b"<p>proxy</p>" * 1000 + b"</body></html>"
WEB_PAGE = {"content-type": "text/html; charset=utf-8"}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (Raw([b'{"error": {"message": "Incorrect API key provided"}}'], 401), "authentication", "LOCAL_KEY"),
        (Raw([HTML], 401, WEB_PAGE), "authentication", "LOCAL_KEY"),
        (Raw([HTML], 200, WEB_PAGE), "protocol", "web page"),
        (Raw([HTML], 404, WEB_PAGE), "model_not_found", ""),
        (
            Raw([b'{"error": {"message": "[x](command:rm) \xe2\x80\xaeevil\\n\\nno credit"}}'], 400),
            "bad_request",
            "[x]\\u{28}",
        ),
        (Raw([b"\xff\xfe\x00not json"], 400), "bad_request", ""),
        (Raw([b"data: {not json}\n\n"]), "protocol", ""),
        (Raw([STREAM.replace(b"I will", b"I \xff\xfell")]), "protocol", "not UTF-8"),
        (Raw([b"data: [1, 2]\n\n"]), "protocol", ""),
        (Raw([b'data: {"error": {"message": "out of memory", "code": 400}}\n\n']), "", "out of memory"),
    ],
)
def test_what_providers_answer(bench: Bench, answer: Raw, code: str, words: str) -> None:
    end = bench.end(answer)
    assert end["stopReason"] == "error", end
    assert end["error"]["code"] == code or not code, end
    assert end["edits"] == []
    message = bench.message()
    assert message.startswith("Tark: ")
    assert words in message
    assert "\u202e" not in message
    assert len(message) < 1000, "no whole web page"
    assert "key-1234" not in message


FIRST = STREAM.index(b"\n\n", STREAM.index(b"I will")) + 2
"""After the first words came, so that the request is not made again."""
CUTS = range(FIRST, STREAM.index(b'"finish_reason":"tool_calls"'), 150)


@pytest.mark.parametrize("at", CUTS)
@pytest.mark.parametrize("reset", [True, False])
def test_a_stream_that_is_cut_runs_no_tool(bench: Bench, at: int, reset: bool) -> None:
    end = bench.end(Raw([STREAM[:at]], reset=reset))
    assert (end["stopReason"], end["error"]["code"]) in {("error", "stream_cut"), ("error", "connection")}, end
    assert end["edits"] == []
    assert bench.message().startswith("Tark: ")


def test_a_stream_that_is_cut_before_anything_came_is_asked_again(bench: Bench) -> None:
    assert bench.end(Raw([STREAM[:10]]), Reply(text="Hello again."))["text"] == "Hello again."
    bench.message()


def test_the_model_reaches_out_of_the_workspace(bench: Bench) -> None:
    outside = {"path": "../outside.py", "old_text": "two\n", "new_text": "TWO\n"}
    end = bench.end(Reply(calls=(ScriptedCall("edit_file", outside),)), Reply(text="Well."))
    assert (end["text"], end["edits"]) == ("Well.", [])
    assert (bench.folder.parent / "outside.py").read_text() == TEXT
    bench.message()


@pytest.mark.parametrize(
    "call",
    [
        ScriptedCall("edit_file", {"path": "binary", "old_text": "a", "new_text": "b"}),
        ScriptedCall("write_file", {"path": "folder", "content": "b"}),
        ScriptedCall("edit_file", {"path": "large.txt", "old_text": "a", "new_text": "b"}),
        ScriptedCall("edit_file", {"path": "f.py"}),
        ScriptedCall("nonesuch", {}),
        ScriptedCall("edit_file", {}, arguments_json='{"path": "f.py", "old_text": "two'),
    ],
)
def test_calls_that_cannot_be(bench: Bench, call: ScriptedCall) -> None:
    end = bench.end(Reply(calls=(call,)), Reply(text="Well."))
    assert (end["text"], end["edits"]) == ("Well.", [])
    bench.message()
