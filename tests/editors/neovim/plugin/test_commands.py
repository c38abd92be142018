"""The commands that start, stop and undo turns, typed as a user types them."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import INIT, Start, sharing
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.turns import ended, told, turns, unhurt
from tests.tools.test_read_changes import git

pytestmark = pytest.mark.editor
DRAWN = "local hunks = require('tark.review.drawing').of_buffer() return hunks and #hunks:ordered()"

SCENARIO = Path(__file__).with_name("commands.toml")
SHAPES = """import math


def area(radius):
    return math.pi * radius**2


def volume(radius):
    return 4 / 3 * math.pi * radius**3
"""
AREA = {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 0}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    yield from sharing(tmp_path_factory.mktemp("commands"), SCENARIO, INIT)


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return open_files(*resting)


def open_files(neovim: Neovim, workspace: Path) -> Neovim:
    (workspace / "shapes.py").write_text(SHAPES)
    (workspace / "names.py").write_text('größe = "drei"\n')
    neovim.open(workspace / "shapes.py")
    return neovim


@pytest.fixture
def input_box(neovim: Neovim) -> Iterator[None]:
    """An input box that is not the command line: the user continues to type, until the test calls `answer`."""
    neovim.lua("_G.former_input = vim.ui.input; vim.g.asked = nil")
    neovim.lua("vim.ui.input = function(_, done) vim.g.asked = true; _G.answer = done end")
    yield
    neovim.lua("vim.ui.input = _G.former_input")


def characters(line: int, start: int, end: int) -> dict[str, dict[str, int]]:
    """The range of one line, counted from 1."""
    return {"start": {"line": line - 1, "character": start}, "end": {"line": line - 1, "character": end}}


def lines(first: int, last: int) -> dict[str, dict[str, int]]:
    """The range of whole lines in LSP; the arguments count from 1."""
    return {"start": {"line": first - 1, "character": 0}, "end": {"line": last, "character": 0}}


def test_what_each_command_points_at(neovim: Neovim) -> None:
    """They all continue one session."""
    neovim.keys(":Tark say hello<CR>")
    assert ended(neovim, 1) == {
        "session": turns(neovim)[0]["session"],
        "current": True,
        "state": "ended",
        "kind": "agent",
        "prompt": "say hello",
        "stop": "end_turn",
    }
    neovim.keys("5G:TarkExplain<CR>")
    turn = ended(neovim, 2)
    assert (turn["kind"], turn["range"]) == ("explain", AREA)
    neovim.keys(":8,9TarkFix<CR>")
    turn = ended(neovim, 3)
    assert (turn["kind"], turn["range"]) == ("fix", lines(8, 9))
    neovim.keys("4GVj:TarkTest the edges<CR>")
    turn = ended(neovim, 4)
    assert (turn["kind"], turn["range"], turn["prompt"]) == ("test", lines(4, 5), "the edges")
    neovim.keys("<Esc>4Gwviw:TarkAsk what is it?<CR>")
    turn = ended(neovim, 5)
    assert (turn["kind"], turn["range"]) == ("ask", characters(4, 4, 8))
    neovim.keys("<Esc>ggVG:TarkAsk and all of it?<CR>")
    assert ended(neovim, 6)["range"] == lines(1, 9)

    neovim.lua("vim.keymap.set({ 'n', 'x' }, 'gs', '<Plug>(tark-ask)')")
    neovim.keys("<Esc>4Gwviwgs")
    neovim.until(lambda: neovim.asks, "it asks for words")
    neovim.keys("<C-u>what?<CR>")
    assert ended(neovim, 7)["range"] == characters(4, 4, 8)
    neovim.lua("vim.keymap.del({ 'n', 'x' }, 'gs')")
    assert neovim.lua("return vim.fn.mode()") == "n"

    neovim.keys(":new<CR>ithe magic word<Esc>V:TarkAsk echo what I selected<CR>")  # in what is no file
    ended(neovim, 8)
    neovim.until(lambda: "You selected: the magic word" in answers(neovim), "the model was told of it")
    assert len({turn["session"] for turn in turns(neovim)}) == 1
    unhurt(neovim)


def test_characters_are_counted_as_the_server_counts(neovim: Neovim, folder: Path) -> None:
    neovim.open(folder / "names.py")
    neovim.keys("0ve:TarkAsk why?<CR>")  # up to and with the last letter of größe
    assert ended(neovim, 1)["range"] == characters(1, 0, len("größe".encode()))
    neovim.keys("<Esc>0v$:TarkAsk and the rest?<CR>")
    assert ended(neovim, 2)["range"] == characters(1, 0, len('größe = "drei"'.encode()))


def test_words_are_asked_for_and_kept(neovim: Neovim) -> None:
    neovim.keys(":8,9TarkEdit<CR>")
    neovim.until(lambda: neovim.asks, "it asks for words")
    neovim.keys("<Esc>")
    neovim.until(lambda: not neovim.asks, "it asks no more")
    neovim.keys(":help<CR>:TarkEdit make it shorter<CR>")
    told(neovim, "only a file can be changed, and this is not one")
    neovim.keys(":quit<CR>8G:TarkEdit<CR>")
    neovim.until(lambda: neovim.asks, "it asks for words")
    assert neovim.lua("return vim.fn.getcmdline()") == "make it shorter"
    neovim.keys("<C-u><Esc>")
    neovim.until(lambda: not neovim.asks, "it asks no more")
    assert neovim.lua("return vim.fn.histget('cmd', -3)") == "TarkEdit make it shorter"
    assert turns(neovim) == []
    neovim.keys(":TarkEdit<CR><CR>")  # the words that were kept
    neovim.until(lambda: [turn["prompt"] for turn in turns(neovim)] == ["make it shorter"], "the turn began")
    neovim.keys(":TarkStop<CR>")
    ended(neovim, 1)
    neovim.keys(":TarkEdit<CR>")
    neovim.until(lambda: neovim.asks, "it asks for words")
    assert neovim.lua("return vim.fn.getcmdline()") == ""
    neovim.keys("<Esc>")


@pytest.mark.usefixtures("input_box")
def test_what_is_pointed_at_follows_the_typing(neovim: Neovim) -> None:
    neovim.keys("8GVj:TarkAsk<CR>")
    neovim.until(lambda: neovim.lua("return vim.g.asked"), "it asks for words")
    neovim.keys("<Esc>ggO# first<CR># second<Esc>")
    neovim.lua("answer('what is it?')")
    assert ended(neovim, 1)["range"] == lines(10, 11)
    neovim.keys("4GVjj:TarkAsk<CR><Esc>")
    neovim.keys(":4,6delete<CR>")
    neovim.lua("answer('and this?')")
    told(neovim, "the text that you selected does not exist any more")
    assert len(turns(neovim)) == 1


def test_a_busy_session_queues_and_stops(neovim: Neovim) -> None:
    neovim.keys(":TarkStop<CR>")
    told(neovim, "nothing is running")
    neovim.keys(":Tark talk for ever<CR>:Tark say hello<CR>")
    told(neovim, "queued behind 1 other turn")
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["running", "queued"], "one runs, one waits")
    assert len({turn["session"] for turn in turns(neovim)}) == 1
    neovim.keys(":TarkStop<CR>")
    told(neovim, "cancelled 2 turns")
    ended(neovim, 2)
    assert [turn["stop"] for turn in turns(neovim)] == ["cancelled", "cancelled"]

    neovim.keys(":Tark talk for ever<CR>")
    neovim.until(lambda: turns(neovim)[-1]["state"] == "running", "it runs")
    neovim.keys(":TarkSessions new<CR>")
    neovim.until(lambda: not turns(neovim)[0]["current"], "another session is the current one")
    neovim.keys("<Esc>:TarkStop<CR>")
    told(neovim, "nothing is running in this session, but 1 turn elsewhere")
    assert turns(neovim)[-1]["state"] == "running"
    neovim.keys(":TarkStop!<CR>")
    told(neovim, "cancelled 1 turn")
    assert ended(neovim, 3)["stop"] == "cancelled"


def test_undo_takes_back_turn_after_turn(start: Start, workspace: Path) -> None:
    """Before the first turn of its server there is nothing to undo."""
    neovim = open_files(start(SCENARIO), workspace)
    neovim.keys(":TarkUndo<CR>")
    told(neovim, "there is nothing to undo")
    area_and_volume(neovim)
    assert "tau" in neovim.lines[4]
    assert "tau" in neovim.lines[8]
    neovim.keys(":TarkUndo<CR>")
    told(neovim, 'took back "rewrite the volume in shapes.py" in shapes.py')
    assert "tau" in neovim.lines[4]
    assert "tau" not in neovim.lines[8]
    neovim.keys(":TarkUndo<CR>")
    neovim.until(lambda: neovim.lines == SHAPES.splitlines(), "both are taken back")


def test_undo_does_not_go_past_what_was_kept(neovim: Neovim) -> None:
    area_and_volume(neovim)
    neovim.keys("9G0C    return 0<Esc>:TarkUndo<CR>")
    told(neovim, "kept shapes.py: ")
    neovim.keys(":TarkUndo<CR>u:TarkUndo<CR>")
    told(neovim, 'took back "rewrite the volume in shapes.py" in shapes.py')
    assert "math.pi" in neovim.lines[8]
    assert "tau" in neovim.lines[4]


def test_undo_goes_past_what_was_kept_where_one_says_so(neovim: Neovim) -> None:
    area_and_volume(neovim)
    neovim.keys("9G0C    return 0<Esc>:TarkUndo<CR>")
    told(neovim, ":TarkUndo! goes on to the turn before")
    neovim.keys(":TarkUndo!<CR>")
    told(neovim, 'took back "rewrite the area in shapes.py" in shapes.py')
    assert neovim.lines[8] == "    return 0"
    assert "math.pi" in neovim.lines[4]


def test_redo_and_back_to_an_earlier_prompt(neovim: Neovim) -> None:
    area_and_volume(neovim)
    neovim.keys(":TarkUndo<CR>")
    told(neovim, 'took back "rewrite the volume in shapes.py" in shapes.py')
    neovim.keys("ggO# mine<Esc>:TarkRedo<CR>")
    told(neovim, "redid the turn in shapes.py")
    assert "tau" in neovim.lines[9]
    neovim.keys(":TarkRedo<CR>")
    told(neovim, "there is nothing to redo")
    former = neovim.lua("return require('tark').status_data().session")
    choose = "vim.ui.select = function(items, _, done) table.insert(_G.lists, #items); done(items[1], 1) end"
    neovim.lua(f"_G.former_select = vim.ui.select; _G.lists = {{}}; {choose}")
    try:
        neovim.keys(":TarkRestore<CR>")
        told(neovim, "this is a copy from before that prompt; took back shapes.py")
    finally:
        neovim.lua("vim.ui.select = _G.former_select")
    assert neovim.lua("return _G.lists") == [2, 2]
    prompt = "return require('tark.chat.prompt').text()"
    neovim.until(lambda: neovim.lua(prompt) == "rewrite the volume in shapes.py", "the prompt is back")
    neovim.lua("require('tark.chat.prompt').set_text('')")
    neovim.keys("<Esc>:TarkChat<CR>")
    lines = neovim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('shapes.py'), 0, -1, false)")
    assert lines[0] == "# mine"
    assert "tau" in lines[5]
    assert "tau" not in lines[9]
    assert neovim.lua("return require('tark').status_data().session") != former or former is None


def test_a_plan_is_approved(neovim: Neovim) -> None:
    neovim.keys(":TarkBuild<CR>")
    told(neovim, "there is no plan")
    neovim.keys(":Tark explain it<CR>")
    ended(neovim, 1)
    neovim.keys(":TarkMode plan<CR>")
    told(neovim, "mode of this session is plan")
    neovim.keys(":TarkBuild<CR>")
    ended(neovim, 2)
    assert turns(neovim)[-1]["prompt"] == "I approve the plan. Carry it out."
    neovim.until(lambda: neovim.lua("return require('tark').status_data().mode") == "build", "the mode is build")


def test_undo_does_not_go_past_what_waits_for_review(neovim: Neovim) -> None:
    neovim.keys(":Tark rewrite the volume in shapes.py<CR>")
    accept_all(neovim)
    ended(neovim, 1)
    neovim.keys(":TarkMode plan<CR>")
    told(neovim, "mode of this session is plan")
    neovim.keys(":Tark propose an area<CR>")
    ended(neovim, 2)
    neovim.keys(":TarkUndo<CR>")
    told(neovim, '"propose an area": 1 change still waits for your review')
    assert "tau" in neovim.lines[8]
    accept_all(neovim)
    neovim.until(lambda: "tau" in neovim.lines[4], "it is accepted")
    neovim.keys(":TarkUndo<CR>")
    told(neovim, 'took back "propose an area" in shapes.py')
    assert "math.pi" in neovim.lines[4]
    assert "tau" in neovim.lines[8]


def test_words_are_kept_where_there_is_no_server(start: Start, tmp_path: Path) -> None:
    init = tmp_path / "init.lua"
    init.write_text(
        "vim.opt.runtimepath:prepend(vim.env.PLUGIN)\nrequire('tark').setup({ cmd = { '/nowhere/tark-lsp' } })\n"
    )
    neovim = start(init=init)
    neovim.keys(":Tark say hello<CR>")
    told(neovim, "/nowhere/tark-lsp")
    told(neovim, "not started: ")
    neovim.keys(":Tark<CR>")
    neovim.until(lambda: neovim.asks, "it asks for words")
    assert neovim.lua("return vim.fn.getcmdline()") == "say hello"
    neovim.keys("<C-u><Esc>")
    unhurt(neovim)


def area_and_volume(neovim: Neovim) -> None:
    """Two turns that change the files, one after the other."""
    for number, what in enumerate(["area", "volume"], 1):
        neovim.keys(f":Tark rewrite the {what} in shapes.py<CR>")
        accept_all(neovim)
        ended(neovim, number)


def accept_all(neovim: Neovim) -> None:
    neovim.until(lambda: neovim.lua("return next(require('tark.state').all()[1].hunks) ~= nil"), "hunks to decide")
    neovim.keys(":TarkAccept!<CR>")


def answers(neovim: Neovim) -> str:
    code = """
        local texts = {}
        for _, transcript in pairs(require('tark.state').all()[1].transcripts) do
          for _, turn in ipairs(transcript.turns) do
            for _, block in ipairs(turn.blocks) do
              table.insert(texts, block.text)
            end
          end
        end
        return table.concat(texts, '\\n')
    """
    return str(neovim.lua(code))


def test_an_operator_changes_what_a_motion_covers(neovim: Neovim) -> None:
    neovim.lua("vim.keymap.set({ 'n', 'x', 'o' }, 'gs', '<Plug>(tark-edit)')")
    neovim.keys("4G0wgsiw")
    neovim.until(lambda: neovim.asks, "it asks for a prompt")
    neovim.keys("<C-u>say one<CR>")
    turn = ended(neovim, 1)
    assert (turn["kind"], turn["prompt"], turn["range"]) == ("edit", "say one", characters(4, 4, 8))
    neovim.keys("8G0w.")  # repeats it, with its prompt
    turn = ended(neovim, 2)
    assert (turn["prompt"], turn["range"]) == ("say one", characters(8, 4, 10))
    for keys, number, found in (("4Ggsj", 3, lines(4, 5)), ("8Ggsgs", 4, lines(8, 8)), ("4GVjgs", 5, lines(4, 5))):
        neovim.keys(keys)
        neovim.until(lambda: neovim.asks, "it asks for a prompt")
        neovim.keys("<C-u>say two<CR>")
        assert ended(neovim, number)["range"] == found
    neovim.keys("4G<C-v>jlgs")
    told(neovim, "a block of columns cannot be sent: select characters (v) or lines (V)")
    neovim.keys("<Esc>4G<C-v>jl:TarkAsk what?<CR>")
    told(neovim, "select characters (v) or lines (V). Your prompt is kept for :TarkAsk")
    assert len(turns(neovim)) == 5
    neovim.lua("vim.keymap.del({ 'n', 'x', 'o' }, 'gs')")
    unhurt(neovim)


def test_an_edit_runs_beside_a_turn_of_the_chat(neovim: Neovim) -> None:
    neovim.keys(":TarkAsk talk for ever<CR>")
    neovim.until(lambda: [turn["state"] for turn in turns(neovim)] == ["running"], "it runs")
    neovim.keys("8GV:TarkEdit say one<CR>")
    neovim.until(lambda: sorted(turn["state"] for turn in turns(neovim)) == ["ended", "running"], "the edit has ended")
    (edit,) = (turn for turn in turns(neovim) if turn["kind"] == "edit")
    (asked,) = (turn for turn in turns(neovim) if turn["kind"] == "ask")
    assert (edit["current"], asked["current"]) == (False, True)
    assert edit["session"] != asked["session"]
    neovim.keys(":TarkStop<CR>")
    neovim.until(lambda: all(turn["state"] == "ended" for turn in turns(neovim)), "all have ended")
    unhurt(neovim)


def test_a_buffer_without_a_name_is_edited_and_has_none_afterwards(neovim: Neovim, folder: Path) -> None:
    name = "return vim.fn.bufname()"
    neovim.keys(":enew<CR>ilonger = 1<CR>other = 2<Esc>ggV:TarkEdit make it shorter<CR>")
    told(neovim, "this buffer is named untitled while Tark changes it")
    neovim.until(lambda: neovim.lua(DRAWN) == 1, "its hunk is drawn")
    assert Path(neovim.lua(name)).name == "untitled", "as long as a hunk is undecided"
    neovim.keys("gg:TarkAccept<CR>")
    neovim.until(lambda: neovim.lines == ["short = 1", "other = 2"], "it is changed")
    neovim.until(lambda: neovim.lua(name) == "", "it has no name")
    neovim.keys("2GV:TarkEdit make it shorter<CR>")
    neovim.until(lambda: neovim.lua(DRAWN) == 1, "its hunk is drawn")
    assert Path(neovim.lua(name)).name == "untitled", "the same again"
    neovim.keys("2G:TarkReject<CR>")
    neovim.until(lambda: neovim.lua(name) == "", "it has no name")
    assert neovim.lines == ["short = 1", "other = 2"]
    neovim.keys("u")
    neovim.until(lambda: neovim.lines == ["longer = 1", "other = 2"], "one undo step")
    neovim.keys(":enew!<CR>:TarkEdit make it shorter<CR>")  # nothing is in it
    neovim.until(lambda: neovim.lua(DRAWN) == 1, "its hunk is drawn")
    neovim.keys("gg:TarkAccept<CR>")
    ended(neovim, 3)
    assert neovim.lines[0] == "short = 1"
    neovim.until(lambda: neovim.lua(name) == "", "it has no name")
    assert not list(folder.glob("untitled*")), "nothing is written"
    assert neovim.lua("return vim.fn.bufexists('untitled')") == 0
    neovim.keys(":help<CR>:TarkEdit make it shorter<CR>")
    told(neovim, "only a file can be changed, and this is not one")
    unhurt(neovim)


def test_the_message_of_a_commit(neovim: Neovim, folder: Path) -> None:
    """In the buffer of a real `git commit`, for what is staged, above what is typed."""
    neovim.keys(":TarkCommit<CR>")
    told(neovim, "this is not the message of a commit")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "feat: first")
    with (folder / "shapes.py").open("a") as shapes:
        shapes.write("tau = 6\n")
    git(folder, "add", "shapes.py")
    with suppress(CalledProcessError):  # the editor fails, and what it was to edit stays
        git(folder, "-c", "core.editor=false", "commit")
    neovim.open(folder / ".git" / "COMMIT_EDITMSG")
    template = neovim.lines
    message = ["feat: shapes.py has tau = 6", "", " #12 is done"]  # `#` would begin a comment
    neovim.keys(":TarkCommit<CR>")
    neovim.until(lambda: neovim.lines == [*message, *template], "the message is above the comments")
    told(neovim, "the commit message is written: :wq commits, :cq does not")
    neovim.keys("u")
    assert neovim.lines == template
    neovim.keys(":TarkCommit<CR>imine<Esc>")
    neovim.until(lambda: neovim.asks, "it asks")
    assert neovim.lines == ["mine", *template[1:]]
    neovim.choose(2)
    neovim.keys(":TarkCommit<CR>")
    neovim.until(lambda: neovim.asks, "it asks")
    neovim.choose(1)
    neovim.until(lambda: neovim.lines == [*message, "", "mine", *template[1:]], "both are there")
    assert git(folder, "log", "--format=%s") == "feat: first", "nothing is committed"
    index = (folder / ".git" / "index").read_bytes()
    git(folder, "reset", "-q")
    neovim.keys(":TarkCommit<CR>")
    told(neovim, "no commit message is written: nothing is staged")
    (folder / ".git" / "index.lock").write_bytes(index)  # as `git commit -a` does
    neovim.lua("vim.env.GIT_INDEX_FILE = ...", str(folder / ".git" / "index.lock"))
    neovim.keys(":TarkCommit<CR>")
    neovim.until(lambda: neovim.asks, "it asks")
    neovim.choose(2)
    neovim.lua("vim.env.GIT_INDEX_FILE = nil")
    assert turns(neovim) == []
    neovim.keys(":bwipe!<CR>")
    unhurt(neovim)
