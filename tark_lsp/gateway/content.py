"""Reads the content of messages and outputs: texts and images. The error for any other part names its place."""

import re
from collections.abc import Mapping
from typing import Any

from tark_lsp.gateway.problems import invalid
from tark_lsp.gateway.reading import field, read, read_list_or_text, short
from tark_lsp.messages import Image, Text

DATA_URL = re.compile(r"data:(image/[a-zA-Z0-9.+-]{1,64});base64,([A-Za-z0-9+/\s]*+={0,2}\s*+)")
"""Must not backtrack: an image can have many megabytes."""

TEXTS: Mapping[str, str] = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "summary_text": "text",
    "refusal": "refusal",
}
"""The types of text parts, and the field that holds the text."""

NOT_CARRIED: Mapping[str, str] = {
    "input_file": "files are not supported; send their text as input_text",
    "input_audio": "audio is not supported",
}


def read_content(content: Any, where: str) -> list[Text | Image]:
    """A string, or an array of parts. Raises Problem."""
    if isinstance(read_list_or_text(content, where), str):
        return [Text(content)]
    return [_part(part, f"{where}[{index}]") for index, part in enumerate(content)]


def text_of(content: Any, where: str) -> str:
    """The text of a message that can hold only text. Raises Problem."""
    parts = read_content(content, where)
    if any(isinstance(part, Image) for part in parts):
        raise invalid(f"{where} cannot hold images", where)
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _part(part: Any, where: str) -> Text | Image:
    kind = field(read(part, dict, where), "type", str, where)
    if kind in TEXTS:
        return Text(field(part, TEXTS[kind], str, where))
    if kind == "input_image":
        return _image(part, where)
    reason = NOT_CARRIED.get(kind, f"a part of type {short(kind)} is unknown")
    raise invalid(f"{where}: {reason}", f"{where}.type")


def _image(part: Mapping[str, Any], where: str) -> Image:
    """An image that is included in the request: the gateway fetches nothing."""
    if not part.get("image_url"):
        raise invalid(f"{where}: files at OpenAI cannot be read; send the image as a data: URL", f"{where}.file_id")
    url = field(part, "image_url", str, where)
    matched = DATA_URL.fullmatch(url)
    if matched is None:
        raise invalid(
            f"{where}.image_url must be data:image/...;base64,...; images at other addresses are not fetched",
            f"{where}.image_url",
            "invalid_image_url",
        )
    return Image(matched[1], "".join(matched[2].split()))
