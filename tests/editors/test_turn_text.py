"""The text an edit leaves alone: line endings, a last line without one, characters outside the first plane."""

import pytest

from tests.editors.behaviour import NATIVE, PROFILES, Profile
from tests.editors.conftest import OpenEditor
from tests.editors.question import allow

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

TEXTS = {
    "no last ending": 'é = 1\npies = "🥧🥧"',
    "crlf": 'é = 1\r\npies = "🥧🥧"\r\nend = 2\r\n',
    "mixed": 'é = 1\r\npies = "🥧🥧"\nend = 2\r\n',
    "after emoji": 'cakes = "🍰🍰"\npies = "🥧🥧"\ncakes = "🍰🍰"\n',
}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_every_other_byte_stays(open_editor: OpenEditor, profile: Profile, text: str) -> None:
    editor = await open_editor(profile, *NATIVE)
    editor.policy = allow
    uri = editor.new_file(text)
    end = await editor.end(await editor.turn(f"take one pie from {uri.rpartition('/')[2]}", uri))
    assert editor.text(uri) == text.replace("🥧🥧", "🥧")
    assert end["edits"] == [{"uri": uri, "state": "applied"}]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
async def test_positions_are_in_the_editors_encoding(open_editor: OpenEditor, profile: Profile) -> None:
    """The range that counts comes back as it was sent: its characters stand behind an emoji of two or four units."""
    editor = await open_editor(profile, *NATIVE)
    uri = editor.new_file('pies = "🥧🥧" + more + "🥧"\n')
    selected = editor.documents[uri].find(" + more")
    turn = await editor.turn("say hello", uri, selected)
    await editor.end(turn)
    (start,) = editor.updates(turn, "start")
    assert start["range"] == selected
