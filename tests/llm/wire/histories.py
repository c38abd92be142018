"""Histories that cause problems at providers, built from our message types."""

import json
from collections.abc import Mapping

from tark_lsp.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolDefinition, ToolResult

TOOLS = (
    ToolDefinition(
        "read_file",
        "Reads a file.",
        {
            "type": "object",
            "properties": {"path": {"type": "string"}, "range": {"$ref": "#/$defs/range"}},
            "required": ["path"],
            "additionalProperties": False,
            "$defs": {
                "range": {"type": ["object", "null"], "properties": {"first": {"type": "integer", "minimum": 1}}}
            },
        },
    ),
    ToolDefinition("list_directory", "Lists.", {"type": "object", "properties": {}}),
    ToolDefinition("anything", ""),
)
PICTURE = Image("image/png", "iVBORw0KGgo=")
SECOND_PICTURE = Image("image/jpeg", "/9j/4AAQSkY=")


ASKED = "asked"
"""Stands for the model that the history is sent to, in `Message.model`."""


def ref_of(wire: str) -> str:
    return f"maker/model-of-{wire}"


def user(*parts: Part | str) -> Message:
    return Message("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def assistant(*parts: Part | str, model: str = "maker/elsewhere") -> Message:
    return Message("assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts), model)


def tool(*results: ToolResult) -> Message:
    return Message("tool", results)


def call(call_id: str, name: str = "read_file", arguments: str = '{"path":"a.py"}') -> ToolCall:
    return ToolCall(call_id, name, arguments)


def ok(call_id: str, content: str = "fine", *images: Image) -> ToolResult:
    return ToolResult(call_id, content, images=images)


def bad(call_id: str, content: str = "no such file") -> ToolResult:
    return ToolResult(call_id, content, is_error=True)


LONG_ID = "chatcmpl-tool-0123456789abcdef0123456789abcdef"  # vLLM's, 46 characters
ODD_IDS = (LONG_ID, LONG_ID[:-1] + "0", "functions.add:0", "", "töol✓", "a b\n", "x" * 200, "-", "call_1")
NASTY = 'a\u2028b\u2029c\x85d\x00e\x0b\U0001f600\u202e\ufeff\r\n"\\</script>'
SERVER_TOOL = Opaque({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}})

HISTORIES: Mapping[str, tuple[Message, ...]] = {
    "text": (user("Hello"), assistant("Hi."), user("Go on.")),
    "one call": (
        user("Do it."),
        assistant("Well.", call("call_1")),
        tool(ok("call_1")),
        assistant("Done."),
        user("Ta."),
    ),
    "parallel calls": (
        user("Do it."),
        assistant(call("call_1"), call("call_2", "list_directory", "{}"), call("call_3")),
        tool(ok("call_1", "one"), ok("call_2", "two"), ok("call_3", "three")),
    ),
    "results in another order": (
        user("Do it."),
        assistant(call("call_1"), call("call_2")),
        tool(ok("call_2", "two"), ok("call_1", "one")),
    ),
    "results in two messages": (
        user("Do it."),
        assistant(call("call_1"), call("call_2")),
        tool(ok("call_1", "one")),
        tool(ok("call_2", "two")),
    ),
    "words between the calls": (
        user("Do it."),
        assistant("First", call("call_1"), "then", call("call_2")),
        tool(ok("call_1"), ok("call_2")),
    ),
    "error results": (
        user("Do it."),
        assistant(call("call_1"), call("call_2")),
        tool(bad("call_1"), ToolResult("call_2", '{"ok": false, "error": {"code": "stale"}}', is_error=True)),
    ),
    "an empty result": (user("Do it."), assistant(call("call_1")), tool(ok("call_1", ""))),
    "a blank result": (user("Do it."), assistant(call("call_1")), tool(ok("call_1", " \n"))),
    "images of the user": (user("What is", PICTURE, "and", SECOND_PICTURE, "?"), assistant("Pictures."), user(PICTURE)),
    "images in results": (
        user("Look."),
        assistant(call("call_1"), call("call_2"), call("call_3")),
        tool(ok("call_1", "a plot", PICTURE), ok("call_2", "text"), ok("call_3", "", SECOND_PICTURE, PICTURE)),
    ),
    "images in results, then steering": (
        user("Look."),
        assistant(call("call_1")),
        tool(ok("call_1", "a plot", PICTURE)),
        user("Not that one."),
    ),
    "cancelled calls": (
        user("Do it."),
        assistant("Sure.", call("call_1"), call("call_2")),
        tool(ok("call_1"), bad("call_2", "cancelled")),
        user("Something else."),
    ),
    "calls without any result": (user("Do it."), assistant(call("call_1"), call("call_2")), user("Well?")),
    "a call without its result among others": (
        user("Do it."),
        assistant(call("call_1"), call("call_2"), call("call_3")),
        tool(ok("call_1"), ok("call_3")),
        assistant("Done."),
        user("Well?"),
    ),
    "a call at the very end": (user("Do it."), assistant(call("call_1"))),
    "stray results": (
        user("Do it."),
        tool(ok("nobody", "lost")),
        assistant(call("call_1")),
        tool(ok("other", "lost"), ok("call_1"), ok("call_1", "twice"), ok("third", "lost")),
        user("Well?"),
        tool(ok("call_1", "late")),
        assistant("Hm."),
        user("Well?"),
    ),
    "interrupted answer": (user("Write."), assistant("Once upon a"), user("Stop, shorter.")),
    "interrupted in white space": (user("Write."), assistant("Once upon a \n\n"), user("Shorter.")),
    "interrupted in a call": (
        user("Do it."),
        assistant("Well.", call("call_1", "read_file", '{"path": "a.p')),
        tool(bad("call_1", "the answer was cut off")),
        user("Go on."),
    ),
    "steering": (user("Do it."), assistant(call("call_1")), tool(ok("call_1")), user("Wait."), user("Use the other.")),
    "consecutive user messages": (
        user("One."),
        user("Two.", "Three."),
        user("Four."),
        assistant("Yes."),
        user("Five."),
    ),
    "consecutive answers": (user("Write."), assistant("Once"), assistant(" upon"), assistant(call("c")), tool(ok("c"))),
    "broken arguments": (
        user("Do it."),
        assistant(
            *(call(f"call_{n}", arguments=text) for n, text in enumerate(("{", "[1]", "3", "null", '"x"', "{}}")))
        ),
        tool(*(bad(f"call_{n}") for n in range(6))),
    ),
    "arguments no one can represent": (
        user("Do it."),
        assistant(
            call("call_1", arguments='{"n": NaN, "m": Infinity}'),
            call("call_2", arguments='{"n": 1e999, "big": 123456789012345678901234567890}'),
            call("call_3", arguments='{"a":' * 600 + "1" + "}" * 600),
            call("call_4", arguments='{"path":"a\\ud800"}'),
        ),
        tool(*(bad(f"call_{n}") for n in range(1, 5))),
    ),
    "empty arguments": (
        user("Do it."),
        assistant(call("call_1", "list_directory", ""), call("call_2", "list_directory", " \n")),
        tool(ok("call_1"), ok("call_2")),
    ),
    "odd ids": (
        user("Do it."),
        assistant(*(call(odd) for odd in ODD_IDS)),
        tool(*(ok(odd, f"result of {number}") for number, odd in enumerate(ODD_IDS))),
        user("Again."),
    ),
    "ids used again later": (
        user("Do it."),
        assistant(call("call_1")),
        tool(ok("call_1", "first")),
        assistant(call("call_1"), call("")),
        tool(ok("call_1", "second"), ok("", "third")),
        assistant(call("")),
        tool(ok("", "fourth")),
    ),
    "names no provider takes": (
        user("Do it."),
        assistant(
            call("call_1", "functions.read_file"),
            call("call_2", "read file(1)"),
            call("call_3", "x" * 100),
            call("call_4", "7up"),
            call("call_5", "datei_öffnen"),
            call("call_6", ""),
        ),
        tool(*(bad(f"call_{n}", "no such tool") for n in range(1, 7))),
    ),
    "unicode": (
        user(NASTY),
        assistant(NASTY, call("call_1", arguments=json.dumps({"path": NASTY}, ensure_ascii=False))),
        tool(ok("call_1", NASTY)),
    ),
    "lone surrogates": (user("a\ud800b"), assistant("c\udfffd", call("call_1")), tool(ok("call_1", "\udcff"))),
    "a huge result": (user("Do it."), assistant(call("call_1")), tool(ok("call_1", "0123456789abcdef\n" * 60_000))),
    "opaque blocks of a server's tools": (user("Search."), assistant("I look.", SERVER_TOOL, "Found."), user("Ta.")),
    "nothing but thinking": (user("Hm?"), assistant(Thinking("so"), model="maker/elsewhere"), user("Well?")),
    "interrupted in thinking": (user("Hm?"), assistant(Thinking("so"), model=ASKED), user("Well?")),
    "unsigned thinking before a call": (
        user("Hm?"),
        assistant(Thinking("so"), call("call_1"), model=ASKED),
        tool(ok("call_1")),
    ),
    "nothing but an opaque block": (user("Hm?"), assistant(SERVER_TOOL), user("Well?")),
    "nothing at all": (user("Hm?"), assistant(), assistant(""), assistant(" \n"), user("", "Well?"), user("")),
}
"""By what is wrong with them; none has a part that only some model understands, unless it says so."""
