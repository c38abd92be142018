"""A server of twenty lines for the client's tests: each command does one thing a real server might do to its client."""

import json
import os
import subprocess
import sys
import time
from typing import Any

# With PYTHONUNBUFFERED, a write to sys.stdout.buffer can write only a part, if the process is stopped meanwhile.
out = open(1, "wb", closefd=False)  # noqa: SIM115 - open as long as the process


def read() -> dict[str, Any]:
    length = 0
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        length = int(line.split(b":")[1])
    if not length:
        sys.exit(1)
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


def send(**message: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    out.write(b"Content-Type: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    out.flush()


seen: list[dict[str, Any]] = []


def ask(method: str, params: object) -> dict[str, Any]:
    """Send a request and give the client's answer; what comes in between is kept in `seen`."""
    send(id="q", method=method, params=params)
    while (message := read()).get("id") != "q":
        seen.append(message)
    return message


def run(number: int, name: str, argument: dict[str, Any]) -> None:
    match name:
        case "echo":
            send(id=number, result=argument)
        case "fail":
            send(id=number, error={"code": -32602, "message": "no such thing"})
        case "ask":
            send(id=number, result=ask(argument["method"], argument["params"]))
        case "seen":
            send(id=number, result=seen)
        case "tell":
            send(method=argument["method"], params=argument["params"])
            send(id=number, result=None)
        case "cancel":
            send(id="slow", method="tark/requestPermission", params={"title": "slow"})
            send(method="$/cancelRequest", params={"id": "slow"})
            send(id=number, result=read())
        case "hang":
            send(id=number, result=read())
        case "tark.turn.start":
            send(id=number, result={"turnId": "t"})
        case "tark.turn.wait":
            send(method="window/showMessage", params={"type": 3, "message": "waiting"})
        case "leave a process":
            subprocess.Popen(["sleep", "30"], start_new_session=True)  # it has our standard output
            send(id=number, result=None)
        case "die":
            print("Traceback: the log's last words", file=sys.stderr, flush=True)
            os._exit(3)
        case "garbage" | "much garbage":
            out.write(b"hello\r\n\r\n" + b"x" * (1_000_000 if name == "much garbage" else 0))
            out.flush()
            time.sleep(60)


while True:
    message = read()
    match message["method"]:
        case "workspace/executeCommand":
            [argument] = message["params"]["arguments"]
            run(message["id"], message["params"]["command"], argument)
        case "shutdown" if "deaf" in sys.argv:
            time.sleep(60)
        case "exit":
            sys.exit(0)
        case _ if "id" in message:
            seen.append(message)
            send(id=message["id"], result={})
        case _:
            seen.append(message)
