"""Checks the images that a client attaches to a prompt, by their first bytes. The pixels are not decoded. Pure."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence

from tark_lsp.errors import TarkError
from tark_lsp.messages import Image

LARGEST_IMAGE = 3_750_000
"""Bytes. In base64, this is 5 MB, the lowest limit of all providers (Anthropic)."""
LONGEST_SIDE = 8_000
"""Pixels of width or height: the lowest limit of all providers (Anthropic)."""
MOST_IMAGES = 20
"""In one prompt."""
FRAMES_WITHOUT_SIZE = {0xC4, 0xC8, 0xCC}
"""JPEG segments in the range of the frame headers that are not frame headers: two tables, and a reserved one."""

Size = tuple[int, int]


class BadImage(TarkError):
    """The image cannot be sent. The message names it."""

    code = "bad_image"


def check_images(images: Sequence[tuple[str, str, str]]) -> list[Image]:
    """Each image is a name, a media type, and base64 data. Raises BadImage."""
    if len(images) > MOST_IMAGES:
        raise BadImage(f"{len(images)} images are attached, and a prompt can have {MOST_IMAGES}")
    return [_checked(*image) for image in images]


def _checked(name: str, mime_type: str, data: str) -> Image:
    read = SIZES.get(mime_type)
    if read is None:
        raise BadImage(f"{name} is {mime_type}: only PNG, JPEG, GIF and WebP can be sent")
    if len(data) > LARGEST_IMAGE * 4 // 3 + 4:
        raise BadImage(f"{name} is larger than {LARGEST_IMAGE / 1e6:g} MB", hint="attach a smaller image")
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadImage(f"{name} is not valid base64") from error
    size = read(content)
    if size is None or 0 in size:
        raise BadImage(f"{name} is not a {mime_type.removeprefix('image/').upper()} image")
    if max(size) > LONGEST_SIDE:
        raise BadImage(
            f"{name} has {size[0]:,} by {size[1]:,} pixels, and a side can have at most {LONGEST_SIDE:,}",
            hint="attach a smaller image",
        )
    return Image(mime_type, data)


def _png(content: bytes) -> Size | None:
    if not content.startswith(b"\x89PNG\r\n\x1a\n") or content[12:16] != b"IHDR" or len(content) < 24:
        return None
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


def _gif(content: bytes) -> Size | None:
    if content[:6] not in (b"GIF87a", b"GIF89a") or len(content) < 10:
        return None
    return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")


def _jpeg(content: bytes) -> Size | None:
    """The size in the first frame header. The segments before it contain their lengths, so they can be skipped."""
    if not content.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        kind = content[at + 1]
        if kind == 0xFF:  # padding
            at += 1
        elif 0xC0 <= kind <= 0xCF and kind not in FRAMES_WITHOUT_SIZE:
            return int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])
        else:
            at += 2 + max(2, int.from_bytes(content[at + 2 : at + 4]))
    return None


def _webp(content: bytes) -> Size | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    match content[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
        case b"VP8L" if content[20] == 0x2F:
            bits = int.from_bytes(content[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 " if content[23:26] == b"\x9d\x01\x2a":
            width, height = (int.from_bytes(content[at : at + 2], "little") & 0x3FFF for at in (26, 28))
            return width, height
    return None


SIZES: Mapping[str, Callable[[bytes], Size | None]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
"""By media type: a function that reads the width and height in pixels. It returns None for other bytes."""
