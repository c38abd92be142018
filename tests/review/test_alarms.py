"""Edits that brought errors: what is offered while the errors are shown, whatever happens to the lines."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tark_lsp.review.alarms import Alarms
from tark_lsp.server.actions.error_actions import take_back
from tark_lsp.tools.editor import Diagnostic
from tests.review.live_hunk import LiveHunk
from tests.review.review_desk import Desk

TEXT = "".join(f"line {n}\n" for n in range(20))
HERE = Path("/elsewhere/a.py")


def error(message: str, line: int = 0) -> Diagnostic:
    return Diagnostic(HERE, line, 0, 1, message)


class Watched:
    """An editor in which every edit is watched, and its errors are reported."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder)
        self.path = self.desk.editor.open("f.py", TEXT)
        self.alarms = Alarms(self.desk.reviews)

    async def edit(
        self, *lines: int, new: Sequence[str] = (), shown: Sequence[str] = (), remove: bool = False
    ) -> tuple[str, list[LiveHunk]]:
        """Rewrite or remove lines, and accept that. The editor then shows errors `shown`, of which `new` are new."""
        alarm = self.alarms.open_alarm()
        lines_new = () if remove else ("NEW\n",)
        hunks = self.desk.propose(self.path, *((line, line + 1, lines_new) for line in lines))
        self.alarms.watch_hunks(alarm, hunks)
        await self.desk.reviews.accept(hunks)
        self.alarms.report_errors(alarm, [error(item) for item in new], [error(item, 5) for item in shown])
        return alarm, hunks

    def offered(self, alarm_id: str) -> str:
        """The title of the offer; "" if there is none."""
        hunks = self.desk.reviews.hunks.find_hunks()
        alarms = [hunk.alarm for hunk in hunks if hunk.alarm and hunk.alarm.id == alarm_id and hunk.applied]
        return take_back(self.desk.reviews, alarms[0]).title if alarms and alarms[0].errors else ""


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


async def test_an_offer_stands_while_one_of_its_errors_does(watched: Watched) -> None:
    first, _ = await watched.edit(2, 8, new=["a", "b"], shown=["a", "b"])
    assert watched.offered(first) == "Undo Tark's 2 changes (2 new errors)"
    second, _ = await watched.edit(15, shown=["b"])
    assert (watched.offered(first) != "", watched.offered(second)) == (True, "")
    third, _ = await watched.edit(17, new=["c"], shown=["c"])
    assert (watched.offered(first), watched.offered(third)) == ("", "Undo Tark's change (1 new error)")
    watched.alarms.end_all()
    assert watched.offered(third) == ""


async def test_what_is_still_being_watched_outlasts_the_look_of_another(watched: Watched) -> None:
    waiting = watched.alarms.open_alarm()
    (hunk,) = watched.desk.propose(watched.path, (2, 3, ("NEW\n",)))
    watched.alarms.watch_hunks(waiting, [hunk])
    await watched.edit(15)
    await watched.desk.reviews.accept([hunk])
    watched.alarms.report_errors(waiting, [error("a")], [error("a")])
    assert watched.offered(waiting) == "Undo Tark's change (1 new error)"


async def test_all_of_the_edit_is_taken_back_where_it_stands_now(watched: Watched) -> None:
    _, hunks = await watched.edit(2, 8, new=["a"], shown=["a"])
    watched.desk.editor.type(watched.path, (0, 0, "typed\n"))
    watched.desk.reviews.reopen(hunks)
    await watched.desk.reviews.reject(hunks)
    assert watched.desk.editor.text(watched.path) == "typed\n" + TEXT
    assert {hunk.state for hunk in hunks} == {"rejected"}


async def test_lines_that_the_person_changed_stay_as_they_are(watched: Watched) -> None:
    alarm, hunks = await watched.edit(2, 8, new=["a"], shown=["a"])
    text = watched.desk.editor.text(watched.path)
    watched.desk.editor.type(watched.path, (text.index("NEW"), text.index("NEW"), "mine "))
    assert watched.offered(alarm) == "Undo Tark's change (1 new error)"
    watched.desk.reviews.reopen(hunks)
    await watched.desk.reviews.reject(hunks)
    assert watched.desk.editor.text(watched.path) == TEXT.replace("line 2\n", "mine NEW\n")
    assert [hunk.state for hunk in hunks] == ["accepted", "rejected"]


@pytest.mark.parametrize("remove", [True, False])
async def test_what_was_undone_is_not_taken_back_once_more(watched: Watched, remove: bool) -> None:
    alarm, hunks = await watched.edit(2, new=["a"], shown=["a"], remove=remove)
    watched.desk.editor.replace(watched.path, TEXT)
    watched.desk.outside.undo_turn("turn", [watched.path])
    assert watched.offered(alarm) == ""
    watched.desk.reviews.reopen(hunks)
    await watched.desk.reviews.reject(hunks)
    assert watched.desk.editor.text(watched.path) == TEXT


async def test_accepted_hunks_without_an_alarm_are_not_reopened(watched: Watched) -> None:
    _, hunks = await watched.edit(2)
    watched.desk.reviews.reopen(hunks)
    assert [hunk.state for hunk in hunks] == ["accepted"]


async def test_where_it_is_offered_is_drawn_anew(watched: Watched) -> None:
    watched.desk.changed.clear()
    await watched.edit(2, new=["a"], shown=["a"])
    assert watched.desk.changed.count(watched.path) >= 3, "proposed, accepted, and offered"
    watched.desk.changed.clear()
    watched.alarms.end_all()
    assert watched.desk.changed == [watched.path]
