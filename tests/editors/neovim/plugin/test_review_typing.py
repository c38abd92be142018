"""Typing near hunks in a real Neovim with the plugin: drawings follow, conflicts keep what was typed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.neovim.driver import Neovim
from tests.editors.neovim.plugin.conftest import Start, sharing
from tests.editors.neovim.plugin.killing import kill_for_good
from tests.editors.neovim.plugin.pictures import changes, drawn, followed, hints, init
from tests.editors.neovim.plugin.rest import clear
from tests.editors.neovim.plugin.turns import told, unhurt
from tests.editors.shapes import AREA, CUBE, FACES, NEW_AREA, NEW_CUBE, NEW_FACES, NEW_VOLUME, SHAPES, SOLIDS, VOLUME

pytestmark = pytest.mark.editor

SCENARIO = Path(__file__).with_name("review.toml")
OLD, NEW = AREA.rstrip(), NEW_AREA.rstrip()
VOLUME_HUNK = [f"- {VOLUME.rstrip()}", f"+: {NEW_VOLUME.rstrip()}"]
# Records after each change of the text what is drawn once all effects of a key are done.
WATCH = """
    vim.g.frames = {}
    local seen = {}
    vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
      group = 'of_a_test',
      callback = vim.schedule_wrap(function()
        local lines = {}
        local namespace = vim.api.nvim_create_namespace('tark_review')
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
          if mark[4].line_hl_group then
            table.insert(lines, mark[4].line_hl_group .. vim.fn.getline(mark[2] + 1))
          end
        end
        local frame = table.concat(lines, '|')
        if not seen[frame] then
          seen[frame] = true
          vim.g.frames = vim.list_extend(vim.g.frames, { frame })
        end
      end),
    })
"""


def open_shapes(neovim: Neovim, workspace: Path) -> Neovim:
    (workspace / "shapes.py").write_text(SHAPES)
    (workspace / "solids.py").write_text(SOLIDS)
    neovim.open(workspace / "shapes.py")
    return neovim


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neovim, Path]]:
    folder = tmp_path_factory.mktemp("reviewing")
    yield from sharing(folder, SCENARIO, init(folder))


@pytest.fixture
def neovim(resting: tuple[Neovim, Path]) -> Neovim:
    clear(resting[0])
    return open_shapes(*resting)


@pytest.fixture
def reviewing(neovim: Neovim) -> Neovim:
    """With undecided hunks."""
    neovim.keys(":Tark tidy both files<CR>")
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)
    return neovim


def text(neovim: Neovim) -> str:
    return "".join(f"{line}\n" for line in neovim.lines)


def shows(neovim: Neovim, expected: str) -> None:
    neovim.until(lambda: text(neovim) == expected, f"{expected!r}, not {text(neovim)!r}")


def test_marks_are_never_at_a_wrong_place_while_one_types(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.lua(WATCH)
    neovim.keys("ggOone<CR>two<CR><CR>three<Esc>ddk")
    for _ in range(10):
        neovim.keys("ofour<CR>five<Esc>kdd")
        neovim.keys("Gofunny<Esc>uggyyp")
    neovim.keys(":14,16move $<CR>")
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)
    assert set(neovim.lua("return vim.g.frames")) == {f"TarkRemoved{OLD}|TarkRemoved{VOLUME.rstrip()}"}


def test_hunks_that_come_while_one_types_are_drawn_where_they_belong(neovim: Neovim) -> None:
    neovim.lua(WATCH)
    neovim.keys("ggObefore them<CR>")
    neovim.until(lambda: neovim.lua("return vim.g.frames") == [""], "a frame without hunks")
    neovim.lua("require('tark').agent({ prompt = 'tidy both files' })")
    keys = iter(range(2000))

    def typed_on() -> bool:
        neovim.keys(f"line {next(keys)}<CR>")
        return len(neovim.lua("return vim.g.frames")) > 1

    neovim.until(typed_on, "hunks drawn while the person types")
    neovim.keys("<Esc>")
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)
    assert set(neovim.lua("return vim.g.frames")) == {"", f"TarkRemoved{OLD}|TarkRemoved{VOLUME.rstrip()}"}


def test_what_is_told_of_an_older_text_is_carried_to_the_text_of_now(reviewing: Neovim) -> None:
    neovim = reviewing
    typed_and_forgotten = """
        known, uri = require('tark.state').all()[1], vim.uri_from_bufnr(0)
        version = vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
        hunks = known.hunks[uri].hunks
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'typed', 'meanwhile' })
        require('tark.state.hunks').set_document_hunks(known, { uri = uri, version = version, hunks = {} })
    """
    neovim.lua(typed_and_forgotten)
    neovim.lua(
        "local document = { uri = uri, version = version, hunks = { hunks[2] } } "
        "require('tark.state.hunks').set_document_hunks(known, document)"
    )
    assert changes(neovim)[-2:] == VOLUME_HUNK  # at once: the server has not heard of these lines yet
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)

    neovim.lua("vim.api.nvim_buf_set_lines(0, 18, 19, false, { 'typed' })")
    assert changes(neovim)[-2:] == ["! typed", VOLUME_HUNK[1]]  # likewise
    drawn(neovim, f"- {OLD}", f"+: {NEW}", "! typed", VOLUME_HUNK[1])


def test_what_is_accepted_while_one_types_is_a_step_of_its_own(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys("gg0ione")
    neovim.lua("require('tark').accept({ range = { 7, 7 } })")
    told(neovim, "accepted 1 change")
    neovim.keys("two<Esc>")
    shows(neovim, "onetwo" + SHAPES.replace(AREA, NEW_AREA))
    neovim.keys("u")
    shows(neovim, "onetwo" + SHAPES)
    neovim.keys("u")
    shows(neovim, SHAPES)
    drawn(neovim, *VOLUME_HUNK)
    assert neovim.lines == SHAPES.splitlines(), "two steps took everything back"


def test_a_conflict_keeps_what_was_typed_until_it_is_decided(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys("7GA  # mine<Esc>")
    mine = f"! {OLD}  # mine"
    drawn(neovim, mine, f"+: {NEW}", *VOLUME_HUNK)
    neovim.until(
        lambda: "7  conflict: yours kept  :TarkAccept theirs  :TarkReject mine" in "".join(hints(neovim)[:1]),
        f"told in {hints(neovim)}",
    )
    neovim.keys("u")  # the text is again what it was
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)
    neovim.keys("5Gd5ju")  # also if other lines go and come back with it
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)
    neovim.keys("7GA  # mine<Esc>")
    drawn(neovim, mine, f"+: {NEW}", *VOLUME_HUNK)

    neovim.keys(":TarkAccept<CR>")
    drawn(neovim, *VOLUME_HUNK)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))
    neovim.keys("u")
    shows(neovim, SHAPES.replace(AREA, f"{OLD}  # mine\n"))

    neovim.keys("17Gddk")  # all of its lines are gone
    drawn(neovim, f"+: {NEW_VOLUME.rstrip()}")
    neovim.keys(":TarkReject<CR>")
    drawn(neovim)
    shows(neovim, SHAPES.replace(AREA, f"{OLD}  # mine\n").replace(VOLUME, ""))
    neovim.until(lambda: "dismissed 1 conflict" in neovim.messages(), "the message")
    assert text(neovim) == SHAPES.replace(AREA, f"{OLD}  # mine\n").replace(VOLUME, "")
    unhurt(neovim)


def test_all_are_rejected_with_the_conflicts_after_one_question(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys("7GA  # mine<Esc>")
    mine = f"! {OLD}  # mine"
    drawn(neovim, mine, f"+: {NEW}", *VOLUME_HUNK)
    neovim.until(lambda: "conflict" in "".join(hints(neovim)[:1]), "the server knows of it")
    neovim.keys(":TarkReject!<CR>")
    neovim.until(lambda: neovim.asks, "the question")
    neovim.keys("<Esc>")
    neovim.until(lambda: not neovim.asks, "it is left")
    drawn(neovim, mine, f"+: {NEW}", *VOLUME_HUNK)
    neovim.keys(":TarkReject!<CR>")
    neovim.choose(1)
    drawn(neovim)
    told(neovim, "rejected 3 changes, dismissed 1 conflict, nothing left to review")
    shows(neovim, SHAPES.replace(AREA, f"{OLD}  # mine\n"))


def test_what_is_applied_at_once_can_be_taken_back(start: Start, workspace: Path, tmp_path: Path) -> None:
    neovim = start(SCENARIO, init(tmp_path, "{ approval = 'balanced', editReview = 'after' }"))
    open_shapes(neovim, workspace)
    neovim.keys(":Tark tidy both files<CR>")
    area = [f"-: {OLD}", f"+ {NEW}"]
    volume = [f"-: {VOLUME.rstrip()}", f"+ {NEW_VOLUME.rstrip()}"]
    drawn(neovim, *area, *volume)
    changed = SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME)
    shows(neovim, changed)

    neovim.keys("u")
    drawn(neovim)
    shows(neovim, SHAPES)
    neovim.keys("<C-r>")
    followed(neovim)
    drawn(neovim, *area, *volume)

    neovim.keys("17G:TarkReject<CR>")
    told(neovim, "undone 1 change")
    drawn(neovim, *area)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))
    neovim.keys("u")  # its text is there again, and nobody asks about it any more
    shows(neovim, changed)
    drawn(neovim, *area)

    neovim.keys("7GA  # mine<Esc>")
    drawn(neovim, f"! {NEW}  # mine", f"+: {NEW}")
    neovim.keys(":TarkReject<CR>")  # keeps mine
    drawn(neovim)
    shows(neovim, changed.replace(NEW_AREA, f"{NEW}  # mine\n"))
    neovim.keys(":edit solids.py<CR>")
    cube = [f"-: {CUBE.rstrip()}", f"+ {NEW_CUBE.rstrip()}"]
    drawn(neovim, *cube, f"-: {FACES.rstrip()}", f"+ {NEW_FACES.rstrip()}")
    neovim.keys("G:TarkAccept<CR>")
    drawn(neovim, *cube)
    neovim.keys(":TarkReject!<CR>")
    drawn(neovim)
    shows(neovim, SOLIDS.replace(FACES, NEW_FACES))
    assert changes(neovim) == []


def test_an_edited_proposal_is_kept_when_its_hunk_goes(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys("7G")
    neovim.lua("require('tark').hunk_edit()")
    shows(neovim, NEW_AREA)
    neovim.keys("ccmy own line<Esc>")
    hunks = "return vim.tbl_map(function(entry) return entry.hunk end, require('tark.review.hunks').undecided())"
    (area,) = [hunk["hunkId"] for hunk in neovim.lua(hunks) if hunk["newText"] == NEW_AREA]
    reject = (
        "local clients, requests = require('tark.server.clients'), require('tark.server.requests')"
        " requests.send_command(clients.for_buffer(), 'tark.hunk.reject', { hunkIds = { ... } })"
    )
    neovim.lua(reject, area)
    neovim.until(lambda: area not in [hunk["hunkId"] for hunk in neovim.lua(hunks)], "the hunk is gone")
    neovim.keys(":wq<CR>")
    told(neovim, "not accepted: the change is rejected already; your text is kept")
    assert neovim.lines == ["my own line"]
    assert neovim.lua("return vim.bo.modified"), "so that no :q throws it away"
    neovim.keys(":q!<CR>")
    shows(neovim, SHAPES)
    drawn(neovim, *VOLUME_HUNK)


def test_a_buffer_that_takes_no_changes_or_is_gone(reviewing: Neovim, folder: Path) -> None:
    neovim = reviewing
    neovim.lua("vim.bo.modifiable = false")
    neovim.keys("7G:TarkAccept<CR>")
    told(neovim, "shapes.py cannot be changed here (:set modifiable)")
    accept = (
        "local clients, requests = require('tark.server.clients'), require('tark.server.requests')"
        " requests.send_command(clients.for_buffer(), 'tark.hunk.accept', { uri = ... })"
    )
    neovim.lua(accept, (folder / "shapes.py").as_uri())
    reason = "(the editor refused the edit: shapes.py is not 'modifiable' in Neovim)"
    neovim.until(
        lambda: any("not applied" in hint and reason in hint for hint in hints(neovim)), "said beside the hunk"
    )
    shows(neovim, SHAPES)
    neovim.lua("vim.bo.modifiable = true")
    neovim.keys(":TarkAccept<CR>")
    drawn(neovim, f"! {VOLUME.rstrip()}", f"+: {NEW_VOLUME.rstrip()}")
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))

    neovim.keys(":w<CR>:set nobuflisted<CR>:edit other.py<CR>:bwipeout shapes.py<CR>")
    neovim.until(lambda: changes(neovim) == [], "nothing is drawn elsewhere")
    neovim.keys(":edit shapes.py<CR>")
    drawn(neovim, f"! {VOLUME.rstrip()}", f"+: {NEW_VOLUME.rstrip()}")
    neovim.keys("17G:TarkAccept<CR>")
    drawn(neovim)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA).replace(VOLUME, NEW_VOLUME))
    unhurt(neovim)
    assert changes(neovim) == []


def test_reading_the_file_anew_and_a_server_that_dies(reviewing: Neovim) -> None:
    neovim = reviewing
    neovim.keys("ggOtyped<Esc>")
    neovim.keys(":edit!<CR>")
    shows(neovim, SHAPES)
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)
    kill_for_good(neovim)
    neovim.until(lambda: changes(neovim) == [], "nothing is drawn of a server that is gone")
    neovim.keys(":TarkRestart<CR>")
    drawn(neovim, f"- {OLD}", f"+: {NEW}", *VOLUME_HUNK)  # the next one brings them back
    neovim.keys("7G:TarkAccept<CR>")
    drawn(neovim, *VOLUME_HUNK)
    shows(neovim, SHAPES.replace(AREA, NEW_AREA))
    assert len(changes(neovim)) == len(VOLUME_HUNK)
