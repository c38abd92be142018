"""Reads images that a prompt mentions, such as `@file:shot.png`. They are sent with the prompt."""

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path, PurePath

from tark_lsp.context.images import LARGEST_IMAGE, BadImage, check_images
from tark_lsp.messages import Image
from tark_lsp.server.prompting.mention_access import MentionAccess, NotAvailable, why_not_readable
from tark_lsp.tools.places import locate_path

MEDIA_TYPES: Mapping[str, str] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}


def is_image_name(path: str) -> bool:
    return PurePath(path).suffix.lower() in MEDIA_TYPES


async def read_image(path: str, access: MentionAccess) -> Image:
    """Reads an image if read_file may read it. Raises NotAvailable, BadImage, WorkspaceError."""
    place = locate_path(access.context, path)
    if why := why_not_readable(place, access):
        raise NotAvailable(why)
    try:
        content = await asyncio.to_thread(_read, place.path)
    except OSError as error:
        raise NotAvailable(f"{place.shown} cannot be read: {error.strerror}") from error
    media_type = MEDIA_TYPES[PurePath(path).suffix.lower()]
    return check_images([(place.shown, media_type, base64.b64encode(content).decode("ascii"))])[0]


def _read(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe would never end
        raise NotAvailable("it is not a file")
    if path.stat().st_size > LARGEST_IMAGE:
        raise BadImage(f"{path.name} is larger than {LARGEST_IMAGE / 1e6:g} MB", hint="attach a smaller image")
    return path.read_bytes()
