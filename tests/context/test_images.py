"""Images that a client attaches: which can be sent, by their first bytes, and what is said about the others."""

import base64

import pytest

from tark_lsp.context.images import LARGEST_IMAGE, MOST_IMAGES, BadImage, check_images
from tark_lsp.messages import Image


def png(width: int = 2, height: int = 3) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0"


def gif(width: int = 2, height: int = 3) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0"


def jpeg(width: int = 2, height: int = 3) -> bytes:
    """With a segment, a table and padding before the frame."""
    head = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0" + b"\xff\xc4\0\4\0\0" + b"\xff"
    return head + b"\xff\xc2\0\x0b\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\1\1\x11\0"


def webp_lossy(width: int = 2, height: int = 3) -> bytes:
    sizes = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return b"RIFF\x20\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a" + sizes + b"\0"


def webp_lossless(width: int = 2, height: int = 3) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF\x20\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + bits.to_bytes(4, "little") + b"\0" * 8


def webp_extended(width: int = 2, height: int = 3) -> bytes:
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + sizes


MADE = {
    "png": ("image/png", png),
    "gif": ("image/gif", gif),
    "jpeg": ("image/jpeg", jpeg),
    "lossy webp": ("image/webp", webp_lossy),
    "lossless webp": ("image/webp", webp_lossless),
    "extended webp": ("image/webp", webp_extended),
}
FORMAT = pytest.mark.parametrize("form", MADE)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def problem(mime_type: str, data: str) -> str:
    with pytest.raises(BadImage) as raised:
        check_images([("shot", mime_type, data)])
    return raised.value.message


@FORMAT
def test_it_can_be_sent(form: str) -> None:
    mime_type, make = MADE[form]
    data = encoded(make())
    assert check_images([("shot", mime_type, data)]) == [Image(mime_type, data)]


@FORMAT
def test_the_largest_sides(form: str) -> None:
    mime_type, make = MADE[form]
    assert check_images([("shot", mime_type, encoded(make(8_000, 8_000)))])
    for width, height in ((8_001, 2), (2, 8_001)):
        said = problem(mime_type, encoded(make(width, height)))
        assert said == f"shot has {width:,} by {height:,} pixels, and a side can have at most 8,000"


@FORMAT
def test_a_part_of_it_is_no_image(form: str) -> None:
    mime_type, make = MADE[form]
    kind = mime_type.removeprefix("image/").upper()
    content = make()
    sized = {"png": 24, "gif": 10, "jpeg": len(content) - 4, "lossy webp": 30}.get(form, 30)
    for length in range(sized):
        assert problem(mime_type, encoded(content[:length])) == f"shot is not a {kind} image"


@FORMAT
def test_another_media_type_than_it_says(form: str) -> None:
    mime_type, make = MADE[form]
    for other in {known for known, _ in MADE.values()} - {mime_type}:
        assert "is not a" in problem(other, encoded(make()))


@pytest.mark.parametrize("mime_type", ["image/svg+xml", "image/tiff", "text/html", "", "IMAGE/PNG"])
def test_other_media_types(mime_type: str) -> None:
    assert problem(mime_type, encoded(png())) == f"shot is {mime_type}: only PNG, JPEG, GIF and WebP can be sent"


@pytest.mark.parametrize("data", ["", "no base64!", "iVBORw0KGgo", "ä", encoded(png()) + "\n", encoded(b"<svg/>")])
def test_other_data(data: str) -> None:
    assert problem("image/png", data) in ("shot is not valid base64", "shot is not a PNG image")


def test_20_mb_are_refused_unread() -> None:
    assert problem("image/png", "!" * 20_000_000) == "shot is larger than 3.75 MB"
    content = png() + b"\0" * (LARGEST_IMAGE - len(png()))
    assert check_images([("shot", "image/png", encoded(content))])
    assert "larger" in problem("image/png", encoded(content + b"\0" * 8))


def test_zero_pixels_are_no_image() -> None:
    assert problem("image/png", encoded(png(0, 3))) == "shot is not a PNG image"


def test_too_many() -> None:
    one = ("shot", "image/png", encoded(png()))
    assert len(check_images([one] * MOST_IMAGES)) == MOST_IMAGES
    with pytest.raises(BadImage, match="21 images are attached, and a prompt can have 20"):
        check_images([one] * (MOST_IMAGES + 1))
