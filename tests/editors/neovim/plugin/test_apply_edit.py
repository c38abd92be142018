"""Edits of the server while the user types, and in files that Neovim would treat in its own way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import sharing
from tests.editors.neovim.plugin.files import CHANGED, SCENARIO, TEXT, ask, edit
from tests.editors.neovim.plugin.pictures import changes, init
from tests.editors.neovim.plugin.rest import UNDECIDED, clear
from tests.editors.neovim.plugin.turns import told, unhurt

pytestmark = pytest.mark.editor

LONG = "a-long-name-of-a-folder/" * 8
FRAMES = """
    vim.g.frames = {}
    local frames = {}
    vim.api.nvim_buf_attach(0, false, { on_lines = function(_, bufnr)
      table.insert(frames, table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), ' '))
      vim.g.frames = frames
    end })
"""
APPLY = """
    local client = vim.lsp.get_clients({ name = 'tark' })[1]
    return client.handlers['workspace/applyEdit'](nil, { edit = { documentChanges = ... } }, { client_id = client.id })
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    folder = tmp_path_factory.mktemp("files")
    yield from sharing(folder, SCENARIO, init(folder))


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return resting[0]


@pytest.fixture
def path(shared: tuple[Neovim, Path]) -> Path:
    path = shared[1] / "a.txt"
    path.write_text(TEXT)
    return path


def apply(neovim: Neovim, *document_changes: object) -> tuple[bool, str]:
    """Renames as the server requests it."""
    answer = neovim.lua(APPLY, document_changes)
    return answer["applied"], answer.get("failureReason", "")


@pytest.mark.parametrize("typed_before", [False, True])
def test_typing_at_once(neovim: Neovim, path: Path, *, typed_before: bool) -> None:
    """For document version 0 and others: no change is in a wrong place, and nothing typed is lost."""
    edit(neovim, path)
    if typed_before:
        neovim.keys("Goeleven<Esc>:write<CR>")
        neovim.until(lambda: "eleven" in path.read_text(), "it is written")
    ask(neovim, "a.txt")
    neovim.lua(FRAMES)
    neovim.keys(":TarkAccept!<CR>ggOx<CR>y<CR>z<Esc>")
    wanted = ["x", "y", "z", *CHANGED.split(), *(["eleven"] if typed_before else [])]
    neovim.until(lambda: neovim.lines == wanted, f"{wanted}, not {neovim.lines}")
    frames = neovim.lua("return vim.g.frames")
    wrong = [frame for frame in frames if "TWO" in frame and "one TWO TWO2 three" not in frame]
    assert wrong == []
    assert "newer than edits" not in neovim.messages()
    unhurt(neovim)


def test_an_edit_for_an_older_text(neovim: Neovim, path: Path) -> None:
    """Its refusal waits for no key, even with a long path."""
    long = path.parent / LONG / "a.txt"
    long.parent.mkdir(parents=True)
    long.write_text(TEXT)
    edit(neovim, long)
    version = neovim.lua("return vim.lsp.util.buf_versions[0]")
    edits = [{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}, "newText": "TWO\n"}]
    for _ in range(2):  # version 0, and another one
        old = {"textDocument": {"uri": long.as_uri(), "version": version}, "edits": edits}
        neovim.keys("Gotyped")
        neovim.until(lambda: neovim.lines[-1] == "typed", "it is typed")
        before = neovim.lines
        assert apply(neovim, old) == (False, "the text is newer")
        assert neovim.lines == before
        assert neovim.lua("return vim.api.nvim_get_mode()") == {"mode": "i", "blocking": False}
        neovim.keys("<Esc>")
        version = neovim.lua("return vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]")
        neovim.keys("Goagain<Esc>")


@pytest.mark.parametrize("close", ["bwipeout!", "enew | bunload! #"])
def test_an_edit_of_a_file_that_is_closed(neovim: Neovim, path: Path, close: str) -> None:
    """Neovim would make it in a hidden buffer, which nobody sees or saves."""
    edit(neovim, path)
    version = neovim.lua("return vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]")
    neovim.keys(f":{close}<CR>")
    neovim.until(lambda: neovim.lua("return vim.api.nvim_buf_get_name(0)") == "", "it is closed")
    whole_line = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    change = {"range": whole_line, "newText": "TWO\n"}
    for known in (version, 0, None):
        identity = {"uri": path.as_uri(), "version": known}
        assert apply(neovim, {"textDocument": identity, "edits": [change]}) == (False, "a.txt is not open in Neovim")
    assert neovim.lua("return vim.fn.bufloaded(...)", str(path)) == 0


def test_closing_at_once(neovim: Neovim, path: Path) -> None:
    """What was accepted before the file was closed is written to the file."""
    edit(neovim, path)
    ask(neovim, "a.txt")
    neovim.keys(":TarkAccept!<CR>:bwipeout!<CR>")
    told(neovim, "accepted 2 changes, nothing left to review")
    assert path.read_text() == CHANGED
    assert neovim.lua("return vim.fn.bufexists('a.txt')") == 0


@pytest.mark.parametrize(("data", "is_refused"), [(b"a\rb\n", True), (b"a\r\n", False), (b"a\r\r\n", True)])
def test_a_carriage_return_inside_a_line(neovim: Neovim, path: Path, data: bytes, *, is_refused: bool) -> None:
    """The server counts lines as LSP does. Neovim does not, and would apply the change elsewhere."""
    path.write_bytes(data + (b"" if data == b"a\r\n" else TEXT.encode()))
    edit(neovim, path)
    before = neovim.lines
    version = neovim.lua("return vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]")
    where = {"line": 0, "character": 0}
    change = {"range": {"start": where, "end": where}, "newText": "new\n"}
    applied, reason = apply(neovim, {"textDocument": {"uri": path.as_uri(), "version": version}, "edits": [change]})
    assert applied is not is_refused
    assert ("a.txt has a carriage return inside" in reason) is is_refused
    assert neovim.lines == (before if is_refused else ["new", *before])


def test_accepting_there_says_why_not(neovim: Neovim, path: Path) -> None:
    path.write_bytes(b"a\rb\n" + TEXT.encode())
    edit(neovim, path)
    before = neovim.lines
    neovim.keys(":Tark upper a.txt now<CR>")
    neovim.until(lambda: neovim.lua(UNDECIDED) == 2, "its hunks")
    neovim.keys(":TarkAccept!<CR>")
    neovim.keys(":TarkAccept!<CR>")
    told(neovim, "has a carriage return inside")
    assert neovim.lines == before


def test_windows_outlive_a_deleted_file(neovim: Neovim, path: Path) -> None:
    path = path.rename(path.with_name("old.txt"))
    path.with_name("b.txt").write_text("b\n")
    edit(neovim, path)
    neovim.keys(":vsplit b.txt<CR>:split old.txt<CR>")
    neovim.until(lambda: len(neovim.windows) == 3, "three windows")
    neovim.keys(":Tark delete old.txt<CR>")
    neovim.until(lambda: "T: Tark deletes this file (+0 -10)" in changes(neovim), "it is drawn")
    neovim.keys(":TarkAccept<CR>")
    neovim.until(lambda: not path.exists(), "it is deleted")
    neovim.until(lambda: neovim.windows == [["b"]] * 3, "each window shows another")

    (path := path.with_name("alone.txt")).write_text(TEXT)
    edit(neovim, path)
    neovim.keys(":split<CR>")
    assert apply(neovim, {"kind": "delete", "uri": path.as_uri()}) == (True, "")
    assert neovim.windows == [[""]] * 2
    unhurt(neovim)


def test_what_cannot_be_renamed(neovim: Neovim, path: Path) -> None:
    """The server gets the reason, and the user sees no error of Neovim."""
    edit(neovim, path)
    there = path.with_name("there.txt")
    there.write_text("there\n")
    unsaved, gone = path.with_name("unsaved.txt"), path.with_name("gone.txt")
    neovim.lua("vim.cmd('badd unsaved.txt | call bufload(\"unsaved.txt\")')")

    def rename(source: Path, target: Path) -> tuple[bool, str]:
        return apply(neovim, {"kind": "rename", "oldUri": source.as_uri(), "newUri": target.as_uri()})

    assert rename(path, there) == (False, f"{there} exists already")
    assert rename(gone, gone.with_name("new.txt")) == (False, f"{gone} does not exist")
    assert rename(path, unsaved) == (False, f"{unsaved} is open in Neovim, unsaved")
    assert path.exists()
    assert neovim.messages().strip() == ""
    assert rename(path, gone) == (True, "")
    assert not path.exists()
