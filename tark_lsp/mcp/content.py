"""The result of a call or the content of a resource, as text and images. Pure.

Links are named, not followed. Structured content is used only if there is no text, because servers repeat it as text.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tark_lsp.messages import Image

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


@dataclass(frozen=True, slots=True)
class Content:
    """`text` also names the images, for models that cannot see them. `is_error`: the tool says that it failed."""

    text: str
    images: tuple[Image, ...] = ()
    is_error: bool = False


def content_of_call(result: Mapping[str, Any]) -> Content:
    blocks = list(_blocks(result.get("content")))
    if "structuredContent" in result and not any(block.get("type") in ("text", "resource") for block in blocks):
        blocks.append({"type": "text", "text": json.dumps(result["structuredContent"], ensure_ascii=False, indent=1)})
    images = tuple(
        Image(block["mimeType"], block["data"])
        for block in blocks
        if block.get("type") == "image" and _type(block) in IMAGES and isinstance(block.get("data"), str)
    )
    return Content("\n".join(map(_text, blocks)) or "(no content)", images, result.get("isError") is True)


def content_of_resource(result: Mapping[str, Any]) -> Content:
    contents = result.get("contents")
    return Content("\n".join(_resource(item) for item in _blocks(contents)) or "(no content)")


def messages_of_prompt(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(role, text) of `prompts/get`."""
    found = []
    for message in _blocks(result.get("messages")):
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        text = "\n".join(_text(block) for block in blocks if isinstance(block, dict))
        found.append(("assistant" if message.get("role") == "assistant" else "user", text))
    return found


def _blocks(value: Any) -> Iterator[dict[str, Any]]:
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _text(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    match kind:
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio":
            return f"[{kind} {_type(block)}, {_size(block.get('data'))}]"
        case "resource_link":
            name = f" ({block['name']})" if isinstance(block.get("name"), str) else ""
            return f"[a link to the resource {block.get('uri', '')}{name}]"
        case "resource" if isinstance(inner := block.get("resource"), dict):
            return f"[the resource {inner.get('uri', '')}]\n{_resource(inner)}"
        case _:
            return f"[content of the type {str(kind)[:50]}, which tark-lsp does not know]"


def _resource(item: Mapping[str, Any]) -> str:
    if isinstance(text := item.get("text"), str):
        return text
    return f"[binary {_type(item)}, {_size(item.get('blob'))}]"


def _type(block: Mapping[str, Any]) -> str:
    return str(block.get("mimeType") or "of unknown type")[:100]


def _size(data: Any) -> str:
    return f"{len(data) * 3 // 4:,} bytes" if isinstance(data, str) else "no data"
