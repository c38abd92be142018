"""A small language server for Python over stdio, which stands for the user's own one: definitions, references, symbols,
hover and call hierarchies of the open files and of those in its folder. It knows the language by regular expressions.

Like many servers it answers questions about open documents only, and counts in UTF-16. With the argument "silent" it
answers nothing but `initialize`.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DEFINITION = re.compile(r"^( *)(def|class) (\w+)")
SYMBOL_KINDS = {"def": 12, "class": 5}
CAPABILITIES = {
    "textDocumentSync": 1,
    **dict.fromkeys(("definitionProvider", "referencesProvider", "documentSymbolProvider"), True),
    **dict.fromkeys(("workspaceSymbolProvider", "hoverProvider", "callHierarchyProvider"), True),
}
NOT_OPEN = {"code": -32602, "message": "the document is not open"}

Json = dict[str, Any]


class Toy:
    def __init__(self) -> None:
        self.folder = Path()
        self.open: dict[str, str] = {}

    def lines(self, uri: str) -> list[str]:
        text = self.open.get(uri)
        return (text if text is not None else Path(unquote(urlsplit(uri).path)).read_text()).splitlines()

    def uris(self) -> list[str]:
        return sorted({*self.open, *(path.as_uri() for path in self.folder.rglob("*.py"))})

    def definitions(self, uri: str) -> Iterator[Json]:
        lines = self.lines(uri)
        for number, line in enumerate(lines):
            if found := DEFINITION.match(line):
                end = number
                while end + 1 < len(lines) and (not lines[end + 1] or lines[end + 1].startswith(found[1] + " ")):
                    end += 1
                name = {"start": at(number, found.start(3)), "end": at(number, found.end(3))}
                yield {
                    "name": found[3],
                    "kind": SYMBOL_KINDS[found[2]],
                    "uri": uri,
                    "range": {"start": at(number, 0), "end": at(end, len(lines[end]))},
                    "selectionRange": name,
                }

    def all_definitions(self) -> list[Json]:
        return [found for uri in self.uris() for found in self.definitions(uri)]

    def uses(self, name: str) -> Iterator[Json]:
        for uri in self.uris():
            for number, line in enumerate(self.lines(uri)):
                for found in re.finditer(rf"\b{name}\b", line):
                    if not line[: found.start()].rstrip().endswith(("def", "class")):
                        yield {
                            "uri": uri,
                            "range": {"start": at(number, found.start()), "end": at(number, found.end())},
                        }

    def around(self, place: Json) -> Json | None:
        line = place["range"]["start"]["line"]
        inside = [
            found
            for found in self.definitions(place["uri"])
            if found["range"]["start"]["line"] <= line <= found["range"]["end"]["line"]
        ]
        return inside[-1] if inside else None

    def word(self, params: Json) -> str:
        line, units = self.lines(params["textDocument"]["uri"])[params["position"]["line"]], 0
        for found in re.finditer(r"\w+|\W", line):
            units += len(found[0].encode("utf-16-le")) // 2
            if units > params["position"]["character"]:
                return found[0]
        return ""

    def answer(self, method: str, params: Json) -> Any:
        name = self.word(params) if "position" in params else params.get("item", {}).get("name", "")
        named = [found for found in self.all_definitions() if found["name"] == name]
        if method == "textDocument/definition":
            return [{"uri": found["uri"], "range": found["selectionRange"]} for found in named]
        if method == "textDocument/references":
            return list(self.uses(name))
        if method == "textDocument/documentSymbol":
            return list(self.definitions(params["textDocument"]["uri"]))
        if method == "workspace/symbol":
            return [
                {
                    "name": found["name"],
                    "kind": found["kind"],
                    "location": {"uri": found["uri"], "range": found["range"]},
                }
                for found in self.all_definitions()
                if params["query"] in found["name"]
            ]
        if method == "textDocument/hover":
            return {"contents": {"kind": "markdown", "value": f"toy: **{name}**"}} if named else None
        if method == "textDocument/prepareCallHierarchy":
            return named
        if method == "callHierarchy/incomingCalls":
            calls = [(self.around(use), use["range"]) for use in self.uses(name)]
            return [{"from": caller, "fromRanges": [place]} for caller, place in calls if caller]
        if method == "callHierarchy/outgoingCalls":
            span = params["item"]["range"]
            body = "\n".join(self.lines(params["item"]["uri"])[span["start"]["line"] + 1 : span["end"]["line"] + 1])
            called = set(re.findall(r"(\w+)\(", body))
            return [{"to": found, "fromRanges": []} for found in self.all_definitions() if found["name"] in called]
        return None


def at(line: int, character: int) -> Json:
    return {"line": line, "character": character}


def read() -> Json | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def write(message: Json) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def serve(*, silent: bool) -> None:
    toy = Toy()
    while message := read():
        method, params = message.get("method", ""), message.get("params") or {}
        document = params.get("textDocument", {})
        if method == "initialize":
            toy.folder = Path(unquote(urlsplit(params["rootUri"]).path))
            write({"id": message["id"], "result": {"capabilities": CAPABILITIES}})
        elif method == "exit":
            return
        elif method == "textDocument/didOpen":
            toy.open[document["uri"]] = document["text"]
        elif method == "textDocument/didChange":
            toy.open[document["uri"]] = params["contentChanges"][-1]["text"]
        elif method == "textDocument/didClose":
            toy.open.pop(document["uri"])
        elif "id" in message and method and not silent:
            if document and document["uri"] not in toy.open:
                write({"id": message["id"], "error": NOT_OPEN})
            else:
                write({"id": message["id"], "result": toy.answer(method, params)})


if __name__ == "__main__":
    serve(silent="silent" in sys.argv)
