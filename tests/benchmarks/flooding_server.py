"""A language server that plays one turn at a set pace: `python -m tests.benchmarks.flooding_server`.

By it bench_neovim and bench_vscode measure. It knows as much of docs/protocol.md as our clients ask of it, and is none
of ours: what is measured is the client.
The first command that starts a turn begins the flood: UPDATES_PER_SECOND for SECONDS, evenly.
"""

import copy
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

SESSION, TURN = "session-1", "turn-1"
NOW = "2026-01-01T00:00:00Z"
COMMANDS = ("tark.turn.start", "tark.state", "tark.session.open", "tark.session.list", "tark.hunk.list")
UPDATES_PER_SECOND = 500
SECONDS = float(os.environ.get("FLOOD_SECONDS", "10"))
LINES = (
    "The area of a circle is *pi* times the square of its `radius`, and that is what `area()` returns.",
    "",
    "```python",
    "def area(radius: float) -> float:",
    "    return math.pi * radius**2",
    "```",
    "",
    "- one more point, with a [link](https://example.org/a/page) in it, so long that most screens wrap it, here, too",
    "- and one with **strong** words",
    "",
)


def updates() -> Iterator[dict[str, Any]]:
    """All of the turn's, as the real server sends them: thinking, then words with tool calls among them."""
    yield {"kind": "start", "prompt": "go", "turnKind": "agent", "model": "flood/flood", "mode": "build"}
    words = _words()
    for number in range(int(UPDATES_PER_SECOND * SECONDS) - 2):
        if number < 100:
            yield {"kind": "thinking", "delta": next(words)}
        elif number % 100 in (0, 1, 2):
            status = ("pending", "in_progress", "completed")[number % 100]
            call: dict[str, Any] = {"toolCallId": f"call-{number // 100}", "name": "read_file", "toolKind": "read"}
            call |= {"title": f"Read src/file_{number // 100}.py", "status": status}
            if status == "completed":
                call["content"] = [{"type": "text", "text": "".join(next(words) for _ in range(200))}]
            yield {"kind": "toolCall", **call}
        else:
            yield {"kind": "text", "delta": next(words)}
    usage = {"inputTokens": 1000, "cachedTokens": 0, "outputTokens": 9000, "reasoningTokens": 0, "costUsd": 0.01}
    end = {
        "sessionId": SESSION,
        "turnId": TURN,
        "stopReason": "end_turn",
        "text": "",
        "edits": [],
        "changedByCommand": [],
    }
    yield {"kind": "end", **end, "usage": usage}


def said() -> list[str]:
    """The texts between the tool calls, whole."""
    texts: list[str] = []
    open_text = False
    for update in updates():
        if update["kind"] == "text":
            texts.append((texts.pop() if open_text else "") + update["delta"])
        open_text = update["kind"] == "text"
    return texts


def _words() -> Iterator[str]:
    """Pieces of a few words, as models send them."""
    while True:
        for line in LINES:
            words = (line + "\n").split(" ")
            for at in range(0, len(words), 3):
                piece = " ".join(words[at : at + 3])
                yield piece if piece.endswith("\n") else piece + " "


class Server:
    def __init__(self) -> None:
        self._out = sys.stdout.buffer
        self._lock = threading.RLock()
        self._begun = False
        self._sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self._lock:
            self._out.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._out.flush()

    def run(self) -> None:
        while (message := _read()) is not None:
            if message.get("method") == "exit":
                return
            if "id" in message and "method" in message:
                with self._lock:  # no update between what an answer is made of and the answer
                    result = self._answer(message["method"], message.get("params") or {})
                    self.send({"id": message["id"], "result": result})

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "initialize":
            return {
                "capabilities": {
                    "positionEncoding": params["capabilities"]["general"]["positionEncodings"][0],
                    "textDocumentSync": 2,
                    "executeCommandProvider": {"commands": list(COMMANDS)},
                    "experimental": {"tark": {"protocol": 1}},
                },
                "serverInfo": {"name": "tark-lsp", "version": "0.1.0"},
            }
        if method != "workspace/executeCommand":
            return None
        match params["command"]:
            case "tark.turn.start":
                if not self._begun:
                    self._begun = True
                    threading.Thread(target=self._flood, daemon=True).start()
                return {"sessionId": SESSION, "turnId": TURN}
            case "tark.session.open":
                turn = {"turnId": TURN, "prompt": "go", "kind": "agent", "began": NOW, "seq": len(self._sent)}
                turn["state"] = "running" if self._sent else "queued"
                return {**_session(), "messages": _messages(self._sent), "earlier": False, "turns": [turn]}
            case "tark.state":
                lists: dict[str, Any] = {name: [] for name in ("turns", "permissions", "inputs", "hunks", "prompts")}
                return {**lists, "sessions": [_session()], "settings": {"model": "flood/flood", "mode": "build"}}
            case "tark.session.list":
                return {"sessions": [_session()]}
            case "tark.hunk.list":
                return {"hunks": []}
        return {}

    def _flood(self) -> None:
        begun = time.perf_counter()
        for seq, update in enumerate(updates(), 1):
            ahead = begun + seq / UPDATES_PER_SECOND - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            params = {"sessionId": SESSION, "turnId": TURN, "seq": seq, "update": update}
            with self._lock:
                self._sent.append(update)
                self.send({"method": "tark/update", "params": params})


def _messages(sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the updates so far, as a session that is opened has them."""
    messages: list[dict[str, Any]] = [{"turnId": TURN, "role": "user", "text": "go", "time": NOW}]
    answer = {"turnId": TURN, "role": "assistant", "text": "", "thinking": "", "toolCalls": []}
    calls: dict[str, dict[str, Any]] = {}
    for update in sent:
        kind = update["kind"]
        if messages[-1]["role"] == "user" or (kind == "text" and messages[-1]["toolCalls"]):
            messages.append(copy.deepcopy(answer))
        if kind in ("text", "thinking"):
            messages[-1][kind] += update["delta"]
        elif kind == "toolCall" and update["toolCallId"] in calls:
            calls[update["toolCallId"]].update(update)
        elif kind == "toolCall":
            calls[update["toolCallId"]] = {"arguments": "{}", **update}
            messages[-1]["toolCalls"].append(calls[update["toolCallId"]])
    return messages


def _session() -> dict[str, Any]:
    settings = {"model": "flood/flood", "mode": "build", "approval": "careful", "thinking": "auto"}
    times = {"created": NOW, "updated": NOW, "folders": [], "turns": 1, "costUsd": 0.0, "readOnly": False}
    return {"sessionId": SESSION, "title": "go", **times, **settings}


def _read() -> dict[str, Any] | None:
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    if not length:
        return None
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


if __name__ == "__main__":
    Server().run()
