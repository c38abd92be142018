"""A server that refuses what the real ones refuse: reasoning of another model, and calls without their signature.

The messages are those of the providers (wires.md, 2 to 5). A model named `m` wrote the answers of wire_answers.py.
"""

import json
from collections.abc import Iterator
from typing import Any

from tark_lsp.llm.wire.gemini_content import PLACEHOLDER_SIGNATURE
from tests.llm.wire.wire_answers import MARKS
from tests.loopback import Answer, Loopback, Raw, Request

OWNER = "m"


class StrictUpstream(Loopback):
    def _next(self, request: Request) -> Answer:
        problem = next(problems(request), None)
        if problem is None:
            return super()._next(request)
        return Raw([json.dumps({"error": {"message": problem}}).encode()], 400, {"content-type": "application/json"})


def problems(request: Request) -> Iterator[str]:
    body = request.json
    model = body.get("model") or request.path.rpartition("/")[2].partition(":")[0]
    signed = MARKS[request.wire][1:]
    if model != OWNER and any(mark.encode() in request.body for marks in MARKS.values() for mark in marks[1:]):
        yield "the signature is of another model"
    match request.wire:
        case "anthropic-messages":
            yield from _anthropic(body, signed, model)
        case "gemini-content":
            yield from _gemini(body, signed, model)
        case "openai-responses":
            yield from _responses(body, signed, model)
        case "openai-chat":
            yield from _chat(body, signed, model)


def _anthropic(body: Any, signed: tuple[str, ...], model: str) -> Iterator[str]:
    for message in body["messages"]:
        kinds = [block["type"] for block in message["content"]]
        if any(block.get("signature", signed[0]) != signed[0] for block in message["content"]):
            yield "Invalid `signature` in `thinking` block"
        if model == OWNER and "tool_use" in kinds and kinds[:2] != ["thinking", "redacted_thinking"]:
            yield "Expected `thinking` or `redacted_thinking`, but found `tool_use`"


def _gemini(body: Any, signed: tuple[str, ...], model: str) -> Iterator[str]:
    for content in body["contents"]:
        calls = [part for part in content["parts"] if "functionCall" in part]
        valid = signed if model == OWNER else (PLACEHOLDER_SIGNATURE,)
        if calls and calls[0].get("thoughtSignature") not in valid:
            yield "Function call is missing a thought_signature in functionCall parts"


def _responses(body: Any, signed: tuple[str, ...], model: str) -> Iterator[str]:
    kinds = [item.get("type", "message") for item in body["input"]]
    if any(item.get("encrypted_content", signed[0]) != signed[0] for item in body["input"]):
        yield "The encrypted content could not be verified"
    if any("id" in item for item in body["input"]):
        yield "Item with id not found. Items are not persisted when `store` is set to false"
    if model == OWNER and "function_call" in kinds and "reasoning" not in kinds:
        yield "Item of type 'function_call' was provided without its required 'reasoning' item"


def _chat(body: Any, signed: tuple[str, ...], model: str) -> Iterator[str]:
    for message in body["messages"]:
        details = message.get("reasoning_details", [])
        if any(detail.get("signature", signed[0]) != signed[0] for detail in details):
            yield "Invalid signature in reasoning_details"
        if model == OWNER and message.get("tool_calls") and not details:
            yield "reasoning_details are missing"
