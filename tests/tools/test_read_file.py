"""read_file and read_files: what is shown, what is noted as seen, and what bad input gets."""

import os
from pathlib import Path

import pytest

from tests.tools.conftest import Bench

THREE = "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        (THREE, {}, '<code="{path}" #1:3>\none\ntwo\nthree\n</code>'),
        (THREE, {"start_line": 2, "end_line": 2}, '<code="{path}" #2:2>\ntwo\n</code>\nThese are lines 2-2 of 3.'),
        (THREE, {"start_line": 3}, '<code="{path}" #3:3>\nthree\n</code>\nThese are lines 3-3 of 3.'),
        (
            THREE,
            {"start_line": 2, "end_line": 9},
            '<code="{path}" #2:3>\ntwo\nthree\n</code>\nLine 9 is past the end: the file has 3 lines.\n{rest}',
        ),
        ("one\r\ntwo\r\n", {}, '<code="{path}" #1:2>\none\r\ntwo\r\n</code>'),
        ("a\n</code>\n", {}, '<code="{path}" #1:2>\na\n<\\/code>\n</code>'),
        ("one\ntwo", {}, '<code="{path}" #1:2>\none\ntwo\n</code>\nThe last line has no line ending.'),
        ("", {}, "a.py is empty."),
    ],
)
async def test_shows_lines_as_they_are(bench: Bench, text: str, arguments: dict[str, int], expected: str) -> None:
    path = bench.write("a.py", text)
    assert await bench.call("read_file", path="a.py", **arguments) == expected.format(
        path=path, rest="These are lines 2-3 of 3."
    )
    assert bench.ctx.seen[path].text == text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"path": "a.py", "start_line": 4}, "invalid_arguments", "start_line 4 is past the end: a.py has 3 lines"),
        ({"path": "a.py", "start_line": 3, "end_line": 2}, "invalid_arguments", "end_line 2 is before start_line 3"),
        ({"path": "missing.py"}, "not_found", "missing.py"),
        ({"path": "folder"}, "unsupported", "folder"),
        ({"path": "binary.bin"}, "unsupported", "binary"),
        ({"path": "latin.txt"}, "unsupported", "utf-8"),
        ({"path": "pipe"}, "unsupported", "pipe"),
        ({"path": "big.txt"}, "too_large", "big.txt"),
        ({"path": "a\0.py"}, "outside_workspace", "NUL"),
    ],
)
async def test_bad_input_is_told(bench: Bench, arguments: dict[str, str], code: str, message: str) -> None:
    bench.write("a.py", THREE)
    bench.write("folder/x.py", "")
    bench.write("binary.bin", b"\x7fELF\0\0\0")
    bench.write("latin.txt", b"caf\xe9\n")
    os.mkfifo(bench.root / "pipe")
    with (bench.root / "big.txt").open("wb") as big:
        big.truncate(50_000_000)
    failure = await bench.failure("read_file", **arguments)
    assert (failure.code, message in failure.message) == (code, True), failure
    assert not bench.ctx.seen


async def test_the_buffer_comes_before_the_disk_and_drafts_before_both(bench: Bench) -> None:
    path = bench.write("a.py", "disk\n")
    bench.buffers.open(path, "typed\n")
    assert "typed" in await bench.call("read_file", path="a.py")
    await bench.edit("edit_file", path="a.py", old_text="typed", new_text="drafted")
    assert "drafted" in await bench.call("read_file", path="a.py")


async def test_a_long_file_is_cut_and_says_how_to_go_on(bench: Bench) -> None:
    bench.write("a.txt", "".join(f"line {number}\n" for number in range(1, 1001)))
    bench.ctx.result_tokens = 100
    shown = await bench.call("read_file", path="a.txt")
    assert len(shown) < 600
    assert shown.endswith("Lines 1-51 of 1000 are shown; read on with start_line = 52.")
    assert "#52:" in await bench.call("read_file", path="a.txt", start_line=52)


async def test_a_line_longer_than_the_cap_is_cut(bench: Bench) -> None:
    bench.write("min.js", "x" * 10_000 + "\nsecond\n")
    bench.ctx.result_tokens = 10
    shown = await bench.call("read_file", path="min.js")
    assert "x" * 40 + "\n</code>\nLine 1 is 10,001 characters long and was cut." in shown
    assert "start_line = 2" in shown


@pytest.mark.parametrize("way", ["absolute", "dots", "link"])
async def test_outside_is_asked_about_and_then_read_on_its_own(bench: Bench, tmp_path: Path, way: str) -> None:
    outside = tmp_path / "elsewhere.txt"
    outside.write_text("outside\n", encoding="utf-8")
    (bench.root / "link.txt").symlink_to(outside)
    path = {"absolute": str(outside), "dots": "../elsewhere.txt", "link": "link.txt"}[way]
    preview = await bench.preview("read_file", path=path)
    assert preview.outside == (outside.resolve(),)
    assert "outside" in await bench.call("read_file", path=path)
    assert not bench.ctx.seen


async def test_outside_by_another_way_than_was_asked_about_is_refused(bench: Bench, tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    link = bench.root / "link.txt"
    link.symlink_to(tmp_path / "one.txt")
    tool = bench.tools["read_file"]
    arguments = tool.arguments(path="link.txt")
    preview = await tool.preview(arguments, bench.ctx)
    link.unlink()
    link.symlink_to(tmp_path / "two.txt")
    assert tool.run is not None
    with pytest.raises(Exception, match="leads to another place"):
        await tool.run(arguments, bench.ctx, preview)


async def test_several_files_with_a_failure_in_its_place(bench: Bench) -> None:
    bench.write("a.py", "aaa\n")
    bench.write("b.py", "bbb\n")
    shown = await bench.call("read_files", paths=["a.py", "no.py", "b.py"])
    first, second, third = shown.split("\n\n")
    assert "aaa" in first
    assert second.startswith('no.py: {"ok": false, "error": {"code": "not_found"')
    assert "bbb" in third
    assert len(bench.ctx.seen) == 2


async def test_several_files_share_one_cap(bench: Bench) -> None:
    for name in ("a.py", "b.py", "c.py"):
        bench.write(name, "xxxxxxxxx\n" * 100)
    bench.ctx.result_tokens = 300
    shown = await bench.call("read_files", paths=["a.py", "b.py", "c.py"])
    assert len(shown) < 1800
    assert shown.endswith("[Not read because the result is full: b.py, c.py; read them with another call.]")
