"""What is attached to a prompt: images reach the model on every wire, and files follow the rules of mentions."""

from pathlib import Path

import pytest

from tark_lsp.context.images import LARGEST_IMAGE
from tark_lsp.errors import RequestError
from tark_lsp.llm.scripted.scenario import Reply
from tark_lsp.llm.wire.wire import WIRES
from tests.context.test_images import encoded, jpeg, png
from tests.llm.wire.read_bodies import read_body
from tests.loopback import Loopback
from tests.server.desk import Desk, MakeDesk
from tests.server.scripted import Json

PICTURES = [
    {"type": "image", "name": "shot.png", "mimeType": "image/png", "data": encoded(png())},
    {"type": "image", "mimeType": "image/jpeg", "data": encoded(jpeg())},
]
SEEN = [picture["data"] for picture in PICTURES]


def config(url: str, wire: str, **facts: bool) -> str:
    rows = "".join(f"{name} = {str(value).lower()}\n" for name, value in facts.items())
    return f'[providers.mine]\nwire = "{wire}"\nbaseUrl = "{url}"\napiKeyEnv = "KEY"\n[providers.mine.models.m]\n{rows}'


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "not-a-key")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def notices(desk: Desk, turn: str) -> list[str]:
    """Without the one about a price that nobody knows."""
    found = [update["message"] for update in desk.updates(turn, "notice")]
    return [message for message in found if not message.startswith("the price of")]


async def prompt_of(desk: Desk, *context: Json) -> str:
    end = await desk.end(await desk.start("hello", context=list(context)))
    return str(desk.app.parts.sessions.use(end["sessionId"]).messages[0].text)


@pytest.mark.parametrize("wire", list(WIRES))
@pytest.mark.parametrize("images", [True, False])
async def test_images_reach_the_model(make: MakeDesk, wire: str, *, images: bool) -> None:
    async with Loopback([Reply(text="Two pictures.")]) as server:
        desk = make(config=config(server.url, wire, images=images))
        turn = await desk.start("what is it?", model="mine/m", context=PICTURES)
        end = await desk.end(turn)
        assert (end["stopReason"], end["text"]) == ("end_turn", "Two pictures.")
        said = read_body(wire, server.requests[0].body)
        await desk.stop()
    assert [item.text for item in said if item.kind == "image"] == (SEEN if images else [])
    assert notices(desk, turn) == ([] if images else ["mine/m does not accept images; 2 left out"])


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        ({"mimeType": "image/gif", "data": encoded(png())}, "shot is not a GIF image"),
        ({"mimeType": "image/png", "data": encoded(png(60_000, 60_000))}, "shot has 60,000 by 60,000 pixels"),
        ({"mimeType": "image/png", "data": "A" * 20_000_000}, "shot is larger than 3.75 MB"),
        ({"mimeType": "image/svg+xml", "data": "PHN2Zz4="}, "only PNG, JPEG, GIF and WebP can be sent"),
    ],
)
async def test_a_hostile_image_is_refused_before_a_turn_begins(make: MakeDesk, picture: Json, why: str) -> None:
    desk = make()
    with pytest.raises(RequestError, match=f"context: .*{why}"):
        await desk.start("look", context=[{"type": "image", "name": "shot", **picture}])
    assert (await desk.command("tark.state"))["turns"] == []


async def test_an_attached_file_follows_the_rules_of_a_mention(make: MakeDesk) -> None:
    desk = make(config='[permissions]\ndeny = ["read_file(secret/**)"]\nask = ["read_file(asked.py)"]')
    (desk.folder / "secret").mkdir()
    (desk.folder / "link.py").symlink_to(desk.folder / "secret/key.py")
    beside = desk.folder.parent / "beside.py"
    attached = ["secret/key.py", "asked.py", "link.py", "../beside.py", "open.py"]
    for number, name in enumerate(attached):
        if name != "link.py":
            (desk.folder / name).write_text(f"marked_{number} = 1\n")
    names = [(desk.folder / name).as_uri() for name in attached[:3]]
    names += [beside.as_uri(), (desk.folder / "open.py").as_uri()]
    (desk.folder / "too large.log").write_bytes(b"1" * 10_000_001)
    names += [(desk.folder / "too large.log").as_uri(), "file:///none/such.py"]
    prompt = await prompt_of(desk, *({"type": "file", "uri": uri} for uri in names))
    assert [f"marked_{number}" in prompt for number in range(5)] == [False, False, False, False, True]
    assert prompt.count("[not there: ") == 6
    (turn,) = (params["turnId"] for method, params in desk.connection.told if _is_end(method, params))
    assert len(notices(desk, turn)) == 6
    assert notices(desk, turn)[0] == "secret/key.py: the rule read_file(secret/**) denies it"
    assert notices(desk, turn)[4] == "too large.log: larger than 10 MB", "the file is named once"


def _is_end(method: str, params: Json) -> bool:
    return bool(method == "tark/update" and params["update"]["kind"] == "end")


async def test_lines_of_a_file_with_unsaved_changes(make: MakeDesk) -> None:
    desk = make()
    path: Path = desk.editor.open("a.py", "one\ntwo\nthree\n")
    desk.editor.type(path, (0, 0, "zero\n"))
    span = {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}
    prompt = await prompt_of(desk, {"type": "file", "uri": path.as_uri(), "range": span})
    assert f'a.py:\n<code="{path}" #3:3>\ntwo\n</code>' in prompt


async def test_the_turn_says_which_lines_of_which_file_it_is_about(make: MakeDesk) -> None:
    desk = make()
    path = desk.editor.open("a.py", "one\ntwo\nthree\n")
    span = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    turn = await desk.start("look", path, range=span)
    end = await desk.end(turn)
    (start,) = desk.updates(turn, "start")
    assert (start["uri"], start["range"]) == (path.as_uri(), span)
    opened = await desk.command("tark.session.open", {"sessionId": end["sessionId"]})
    assert [(told["uri"], told["range"]) for told in opened["turns"]] == [(path.as_uri(), span)]
    whole = await desk.start("look", path)
    await desk.end(whole)
    assert "uri" not in desk.updates(whole, "start")[0]


async def test_images_that_a_prompt_mentions_are_sent_by_the_rules_of_reading(make: MakeDesk) -> None:
    async with Loopback([Reply(text="A picture.")]) as server:
        mine = config(server.url, "openai-chat", images=True)
        desk = make(config=f'{mine}[permissions]\ndeny = ["read_file(secret/**)"]')
        (desk.folder / "secret").mkdir()
        for name, content in (("a shot.PNG", png()), ("secret/b.png", png()), ("c.gif", b"text"), ("d.jpg", jpeg())):
            (desk.folder / name).write_bytes(content)
        (desk.folder / "huge.png").write_bytes(png() + bytes(LARGEST_IMAGE))
        words = '@file:"a shot.PNG" @file:secret/b.png @file:c.gif @file:d.jpg @file:huge.png @file:none.png'
        turn = await desk.start(f"look at {words}", model="mine/m")
        await desk.end(turn)
        said = read_body("openai-chat", server.requests[0].body)
        await desk.stop()
    assert [item.text for item in said if item.kind == "image"] == SEEN
    told = notices(desk, turn)
    for notice, why in zip(
        told, ("denies it", "is not a GIF image", "is larger than 3.75 MB", "cannot be read: No such file"), strict=True
    ):
        assert why in notice
