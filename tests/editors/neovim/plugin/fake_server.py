"""A language server of our own that is not tark-lsp, or not the one the plugin was made for.

Its argument says which: a number is the protocol it answers `initialize` with, "none" is none at all; with "dies" it
ends at once, with words on stderr; with "garbage" it writes what is no LSP. A prompt that begins with "write " makes it
write the rest of it, as it stands.
"""

import json
import sys
from typing import Any


def read() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def write(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def prompt(message: dict[str, Any]) -> str:
    arguments = message["params"].get("arguments", [{}]) if message["method"] == "workspace/executeCommand" else [{}]
    return str(arguments[0].get("prompt", ""))


def serve(protocol: str) -> None:
    tark = {} if protocol == "none" else {"experimental": {"tark": {"protocol": int(protocol)}}}
    while message := read():
        if message.get("method") == "initialize":
            capabilities = {"textDocumentSync": 1, "executeCommandProvider": {"commands": ["tark.turn.start"]}, **tark}
            info = {"name": "fake-server", "version": "9.9"}
            write({"id": message["id"], "result": {"capabilities": capabilities, "serverInfo": info}})
        elif message.get("method") == "exit":
            return
        elif "method" in message and "id" in message:
            if (words := prompt(message)).startswith("write "):
                sys.stdout.buffer.write(words.removeprefix("write ").encode())
                sys.stdout.buffer.flush()
            write({"id": message["id"], "result": None})


if __name__ == "__main__":
    if sys.argv[1] == "dies":
        sys.exit("Traceback (most recent call last):\nModuleNotFoundError: No module named 'tark_lsp'")
    if sys.argv[1] == "garbage":
        print("hello, I am no server", flush=True)
        sys.exit(3)
    serve(sys.argv[1])
