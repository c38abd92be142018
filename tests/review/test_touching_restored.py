"""Hunks that touch, some decided and some applied, when their server stops: the next one decides on each alone."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tark_lsp.workspace.edits import ProposedEdit
from tests.exhaustive import examples
from tests.review.kept_desk import Server
from tests.review.test_touching_hunks import SIZES, TEXT, hunks_of, text_with


async def restarted_while_undecided(data: st.DataObject, folder: Path) -> None:
    (folder / "workspace").mkdir()
    (folder / "state").mkdir()
    server = Server(folder / "workspace", folder / "state")
    path = server.folder / "a.py"
    path.write_text(TEXT)
    hunks = hunks_of(TEXT, data.draw(SIZES))
    live = server.add_proposal("turn", [(ProposedEdit(path, server.editor.workspace.read(path), hunks), ())])
    applied: set[int] = set()
    decided: set[int] = set()
    for number in data.draw(st.permutations(range(len(hunks)))):
        match data.draw(st.sampled_from(["accept", "apply", "reject", "wait", "wait"])):
            case "accept":
                await server.reviews.accept([live[number]])
                applied.add(number)
                decided.add(number)
            case "apply":
                await server.apply([live[number]])
                applied.add(number)
            case "reject":
                await server.reviews.reject([live[number]])
                decided.add(number)
            case _:
                pass
    server.killed()
    assert path.read_text() == text_with(TEXT, hunks, applied)
    after = server.follow(*["a.py"] * data.draw(st.booleans()))
    found = {item.id: item for item in after.find_hunks(path)}
    left = [number for number in range(len(hunks)) if number not in decided]
    assert {*found} == {live[number].id for number in left}
    for number in data.draw(st.permutations(left)):
        hunk = found[live[number].id]
        assert (hunk.state, hunk.applied) == ("pending", number in applied)
        if data.draw(st.booleans()):
            await after.reviews.accept([hunk])
            applied.add(number)
        else:
            await after.reviews.reject([hunk])
            applied.discard(number)
        assert after.editor.workspace.read(path).text == text_with(TEXT, hunks, applied)
    after.killed()


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_each_is_decided_alone_after_a_restart(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(restarted_while_undecided(data, Path(folder).resolve()))
