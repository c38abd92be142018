"""Decodes a file to text that can be written back byte for byte, and refuses everything else; pure."""

import codecs
from dataclasses import dataclass

from tark_lsp.errors import NotText


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec, and the byte order mark before the text."""

    codec: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Raises NotText if the text cannot be encoded (a lone surrogate)."""
        try:
            return self.mark + text.encode(self.codec)
        except UnicodeEncodeError as error:
            raise NotText(f"the text cannot be written as {self.codec}: {error.reason}") from error


UTF_8 = Encoding("utf-8")
MARKED = (
    Encoding("utf-8", codecs.BOM_UTF8),
    Encoding("utf-16-le", codecs.BOM_UTF16_LE),
    Encoding("utf-16-be", codecs.BOM_UTF16_BE),
)


def decode(data: bytes) -> tuple[str, Encoding]:
    """The text without its mark, and its encoding. Raises NotText if encoding it again would not give `data`."""
    encoding = next((marked for marked in MARKED if data.startswith(marked.mark)), UTF_8)
    try:
        text = data[len(encoding.mark) :].decode(encoding.codec)
    except UnicodeDecodeError as error:
        hint = "only UTF-8, and UTF-16 with a byte order mark, can be edited without harm"
        raise NotText(f"not {encoding.codec} text (at byte {error.start})", hint=hint) from error
    if "\0" in text:
        raise NotText("a binary file (it holds a NUL character)")
    if encoding.encode(text) != data:
        raise NotText(f"the {encoding.codec} text would not be written back as it is")
    return text, encoding
