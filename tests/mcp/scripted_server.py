"""A legacy server over stdio whose behaviour is the Python text of a test: it overrides `tools`, `called`, `opened`."""

import sys
from pathlib import Path
from typing import Any

from tark_lsp.mcp.server_config import ServerConfig
from tests.mcp.servers import Desk

HEAD = """
import json, os, sys, time
def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
def send(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
def read():
    return json.loads(sys.stdin.buffer.readline())
def tool(name="add", **more):
    return {"name": name, "description": "Adds.", "inputSchema": {"type": "object"}, **more}
def tools(params):
    return {"tools": [tool()]}
def say(message_id, text):
    send({"id": message_id, "result": {"content": [{"type": "text", "text": text}]}})
def called(message_id, params):
    say(message_id, "3")
def opened():
    pass
"""
TAIL = """
for line in sys.stdin.buffer:
    message = json.loads(line)
    method, message_id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if message_id is None:
        if method == "notifications/initialized":
            opened()
    elif method == "initialize":
        able = {"tools": {"listChanged": True}}
        info = {"name": "scripted", "version": "1"}
        send({"id": message_id, "result": {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": info}})
    elif method == "tools/list":
        if (listed := tools(params)) is not None:
            send({"id": message_id, "result": listed})
    elif method == "tools/call":
        called(message_id, params)
    else:
        send({"id": message_id, "error": {"code": -32601, "message": "no such method"}})
"""


def scripted(desk: Desk, body: str, name: str = "toy", **settings: Any) -> ServerConfig:
    """Its script is outside the workspace. `CHANGED` and `LOG` are files."""
    script = desk.folder.parent / f"{name}-server.py"
    files = f"CHANGED, LOG = {str(desk.changed)!r}, {str(desk.log)!r}\n"
    Path(script).write_text(HEAD + files + body + TAIL)
    return desk.config({"command": sys.executable, "args": ("-S", "-E", str(script)), **settings}, name)
