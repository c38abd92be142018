"""New text that is no code: words for lines that are not written, code fences, line numbers. Real files have none."""

import sysconfig
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

from tark_lsp.errors import ToolError
from tark_lsp.workspace.placing.left_out import is_prose, numbers_of, require_complete, stands_for_lines
from tark_lsp.workspace.placing.placing import place_edit
from tests.cases import every
from tests.tools.conftest import Bench, bench

__all__ = ["bench"]

_WORDINGS = """existing code
... existing code ...
...existing code...
rest of the code remains the same
rest of code
rest of the file remains unchanged
rest of the function unchanged
the rest of the implementation stays the same
remaining methods unchanged
remaining code
(unchanged)
unchanged
unchanged code
other existing methods
existing imports
your existing code here
keep existing code
keep the rest of the code the same
... rest of code ...
... (rest of the class)
...rest unchanged
same as before ...
(rest of methods ...)
[rest of the code]
[existing code here]
... same as before
... other methods remain unchanged ...
code remains unchanged
everything else stays the same
all other functions remain the same
existing code above
existing implementation
rest of the component
previous code unchanged
omitted for brevity
... omitted for brevity
code omitted for brevity
truncated
snip
...
…"""
WORDINGS = _WORDINGS.split("\n")
COMMENTS = ("# {}", "// {}", "//{}", "    # {}", "/* {} */", "{{/* {} */}}", "<!-- {} -->", "-- {}", "; {}", " * {}")
_BARE = """...[truncated]
... [truncated]
(rest of methods ...)
[... rest of code ...]
[existing code]
<existing code>
... (rest of the file unchanged)
[rest of the code remains the same]
(unchanged code)
…[existing code]…"""
BARE = _BARE.split("\n")
LINES = [comment.format(words) for comment in COMMENTS for words in WORDINGS] + BARE


@every("line", LINES)
def test_words_for_lines_are_refused_in_every_wording(line: str) -> None:
    text = "def f():\n    a = 1\n    return a\n"
    for old, new in ((text, f"def f():\n{line}\n    return b\n"), ("    a = 1\n", f"    a = 2\n{line}\n")):
        with pytest.raises(ToolError) as caught:
            place_edit(text, old, new)
        assert caught.value.code == "unsupported"
        assert line.strip() in caught.value.message
        assert "every line" in caught.value.hint
        assert place_edit(text, old, new, prose=True) == text.replace(old, new)
    with pytest.raises(ToolError):  # nothing is replaced
        require_complete("", "", f"a\n{line}\n")
    kept = text.replace("    a = 1\n", f"    a = 1\n{line}\n")  # the line is in the old text, too
    assert place_edit(kept, f"    a = 1\n{line}\n", f"    a = 2\n{line}\n") == kept.replace("a = 1", "a = 2")


@every(
    "line",
    [
        "# the rest are numbers",
        "# Existing users keep their key.",
        "# keep the order of the arguments",
        "# same as above",
        "# rest",
        "# unchanged since 3.9",
        "// remaining seconds",
        "x = existing_code",
        "import code",
        "#include <code.h>",
        "*rest = code;",
        "--remaining;",
        "return rest",
        "f(...args)",
        "[...rest]",
        "{...rest}",
        "(rest)",
        "<rest>",
        "def f(): ...",
        "# Wait before the rest comes...",
        "# Loading...",
        "// TODO: omit the code",
        "const {a, ...rest} = code;",
        "# https://example.org/existing/code",
        "",
        "# -----",
        "# " + "existing code " * 20,
    ],
)
def test_what_only_looks_like_it_is_code(line: str) -> None:
    assert not stands_for_lines(line)


def library() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield from path.read_text("utf-8", "replace").split("\n")


def test_real_files_are_not_refused() -> None:
    """A comment that is only dots is left out on purpose: nobody can tell it from a placeholder."""
    lines = list(library())
    found = [line for line in lines if stands_for_lines(line) and line.strip(" \t#*") != "..."]
    assert len(lines) > 50_000
    assert not found


FENCED = ["```\n{}```\n", "```python\n{}```", "\n```c++\n{}\n```\n\n", "~~~\n{}~~~\n", "````js\n{}````\n"]


@pytest.mark.parametrize("fence", FENCED)
async def test_a_fence_around_the_whole_new_text_is_refused_by_every_tool(bench: Bench, fence: str) -> None:
    code = "def g():\n    pass\n"
    for name in ("a.py", "a.md", "README"):
        bench.write(name, "x = 1\n")
    calls = {
        "edit_file": {"path": "a.py", "old_text": "x = 1\n", "new_text": fence.format(code)},
        "write_file": {"path": "a.py", "content": fence.format(code)},
        "apply_patch": {
            "patch": "*** Begin Patch\n*** Update File: a.py\n-x = 1\n"
            + "".join(f"+{line}\n" for line in fence.format(code).strip().split("\n"))
        },
    }
    for tool, arguments in calls.items():
        failure = await bench.failure(tool, **arguments)
        assert (failure.code, "code fence" in failure.message) == ("unsupported", True), tool
    new = await bench.failure("write_file", path="new.py", content=fence.format(code))
    assert new.code == "unsupported"
    for name in ("a.md", "README"):
        await bench.edit("write_file", path=name, content=fence.format(code))


@pytest.mark.parametrize(
    "new", ["```\na\n```\nb\n", "a\n```\nb\n```\n", '"""\n```\na\n```\n"""\n', "```\n", "`a`\n", "``` a b ```\nc\n"]
)
def test_a_fence_inside_the_text_is_code(new: str) -> None:
    assert place_edit("x\n", "x\n", new) == new


@pytest.mark.parametrize(
    "form", ["{n}: {line}", "{n:5} | {line}", "{n:6}\t{line}", "{n}|{line}", "{n:4}→{line}", "{n}│ {line}"]
)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_line_numbers_in_the_new_text_are_refused(form: str, size: int) -> None:
    lines = [f"    call_{k}({k})" for k in range(30)]
    old = "".join(f"{line}\n" for line in lines[10 : 10 + size])
    new = "".join(form.format(n=11 + k, line=f"    other_{k}()") + "\n" for k in range(size))
    with pytest.raises(ToolError, match="line numbers") as caught:
        place_edit("\n".join(lines) + "\n", old, new)
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize(
    "new",
    [
        '1: "one",\n2: "two",\n',
        "1. a\n2. b\n",
        "3: a\n5: b\n",
        "7\n8\n",
        "1: a\nb\n",
        "2024-01-02: a\n",
        "    404: 1,\n",
    ],
)
def test_numbers_that_are_content_are_written(new: str) -> None:
    assert place_edit("a\nb\n", "b\n", new) == "a\n" + new


def test_numbers_are_read_with_their_separator() -> None:
    assert numbers_of(["1: a\n", "2: \n", "3:  b\n"]) == (1, ":", ["a\n", "\n", " b\n"])
    assert numbers_of(["1: a\n", "2| b\n"]) is None
    assert numbers_of([]) is None


@pytest.mark.parametrize(
    ("name", "prose"),
    [("a.md", True), ("README", True), ("a.TXT", True), ("a.py", False), ("Makefile", False), ("readme.js", False)],
)
def test_prose(name: str, prose: bool) -> None:
    assert is_prose(PurePath("deep") / name) is prose


async def test_a_selection_in_a_fence_or_with_numbers_is_refused(bench: Bench) -> None:
    from tark_lsp.tools.tool import Selection

    path = bench.write("a.py", "a = 1\nb = 2\n")
    snapshot = bench.ctx.workspace.read(path)
    bench.ctx.selection = Selection(snapshot, 0, 6)
    for new in ("```python\na = 2\n```", "1: a = 2\n", "a = 2\n# rest of the code\n"):
        assert (await bench.failure("replace_selection", new_text=new)).code == "unsupported"
