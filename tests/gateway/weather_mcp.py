"""An MCP server with one tool, for Codex CLI: a program of its own, without dependencies."""

import json
import sys

FORECAST = {
    "name": "forecast",
    "description": "The weather of a city.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}

for line in sys.stdin:
    message = json.loads(line)
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "weather", "version": "1"}
            answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            answer = {"result": {"tools": [FORECAST]}}
        case "tools/call":
            text = f"rain in {message['params']['arguments']['city']}"
            answer = {"result": {"content": [{"type": "text", "text": text}]}}
        case other:
            answer = {"error": {"code": -32601, "message": f"there is no {other}"}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
