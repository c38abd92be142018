"""`sessions.titles = "model"`: one request after the first turn, which nobody waits for and which may fail."""

import asyncio
from pathlib import Path

import pytest

from tests.patience import AT_ONCE
from tests.server.desk import Desk, MakeDesk
from tests.server.sessions.probe import listed, run, sql

pytestmark = pytest.mark.virtual_clock

CONFIG = '[sessions]\ntitles = "model"\n'
FIRST = """\
wire = "anthropic-messages"

[[reply]]
when = 'The person:\\s'
{reply}

[[reply]]
text = "Hello."
"""


@pytest.fixture
def titled(make: MakeDesk, tmp_path: Path) -> "TitledDesk":
    return TitledDesk(make, tmp_path / "home" / "scenario.toml")


class TitledDesk:
    def __init__(self, make: MakeDesk, scenario: Path) -> None:
        self._make = make
        self._scenario = scenario

    def __call__(self, reply: str, config: str = "") -> Desk:
        desk: Desk = self._make(config=f"{CONFIG}{config}")
        self._scenario.write_text(FIRST.format(reply=reply))
        return desk


async def titles(desk: Desk) -> list[str]:
    """Once nothing is asked any more."""
    async with asyncio.timeout(AT_ONCE):
        await asyncio.gather(*desk.app.parts.titles._asking.values(), return_exceptions=True)
    return [row["title"] for row in await listed(desk)]


def purposes(session: str) -> list[tuple[str, str]]:
    return sql("SELECT purpose, stop FROM usage WHERE session = ? ORDER BY rowid", session)


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ('text = "A greeting"', "A greeting"),
        ("text = '\"A greeting\"'", "A greeting"),
        ("text = '''\n**A greeting**\nand more'''", "A greeting"),
        (f'text = "{"long " * 40}"', f"{('long ' * 12)[:59]}…"),
        ('text = "a\\u202eb"', "a\\u{202e}b"),
        ('text = "  "', "hello"),
        ('text = ""', "hello"),
        ("error = { status = 400 }", "hello"),
        ('text = "Half a ti"\ncut = true', "hello"),
        (f'text = "{"endless " * 2_000}"', "hello"),
    ],
    ids=["words", "quoted", "lines", "long", "hidden", "blank", "empty", "refused", "cut off", "endless"],
)
async def test_the_model_names_it(titled: TitledDesk, reply: str, title: str) -> None:
    desk = titled(reply)
    session = await run(desk, "hello")
    assert await titles(desk) == [title]
    assert [purpose for purpose, _ in purposes(session)] == ["turn", "title"]
    assert desk.app.parts.sessions.use(session).title == title
    await run(desk, "hello", session)
    assert await titles(desk) == [title]
    assert len(purposes(session)) == 3, "once only"


async def test_no_turn_waits_for_it_and_it_can_be_cancelled(titled: TitledDesk) -> None:
    desk = titled('text = "A greeting that takes its time"\nchunk = 1\ndelay_ms = 100')
    session = await run(desk, "hello")
    await run(desk, "again", session)
    assert await desk.command("tark.turn.cancel", {"sessionId": session}) == {"cancelled": []}
    assert await titles(desk) == ["hello"]
    assert ("title", "cancelled") in purposes(session)


@pytest.mark.parametrize("limit", ["turnRequests = 1", "turnUsd = 0.0", "sessionUsd = 0.0"])
async def test_none_where_a_limit_is_reached(titled: TitledDesk, limit: str) -> None:
    desk = titled('text = "A greeting"', f"[limits]\n{limit}\n")
    desk.connection.answers["tark/requestInput"] = lambda _: {"answer": ["go-on"]}
    session = await run(desk, "hello")
    asked = len(desk.connection.asked)
    assert await titles(desk) == ["hello"]
    assert purposes(session) == [("turn", "end_turn")]
    assert len(desk.connection.asked) == asked, "and nobody is asked to go on for it"


async def test_the_person_is_faster(titled: TitledDesk) -> None:
    desk = titled('text = "A greeting"\nchunk = 1\ndelay_ms = 10')
    session = await run(desk, "hello")
    await desk.command("tark.session.rename", {"sessionId": session, "title": "Mine"})
    assert await titles(desk) == ["Mine"]


async def test_a_session_that_is_deleted_gets_none(titled: TitledDesk) -> None:
    desk = titled('text = "A greeting"\nchunk = 1\ndelay_ms = 10')
    await desk.command("tark.session.delete", {"sessionId": await run(desk, "hello")})
    assert await titles(desk) == []
    assert desk.connection.notes() == []


@pytest.mark.parametrize("how", ["named", "cancelled", "words"])
async def test_nobody_is_asked(make: MakeDesk, how: str) -> None:
    desk = make(config="" if how == "words" else CONFIG)
    if how == "named":
        session = (await desk.command("tark.session.new", {"title": "Mine"}))["sessionId"]
        await run(desk, "hello", session)
    elif how == "cancelled":
        started = await desk.command("tark.turn.start", {"prompt": "wait"})
        session = started["sessionId"]
        await asyncio.sleep(0.2)
        await desk.command("tark.turn.cancel", {})
        await desk.end(started["turnId"])
    else:
        session = await run(desk, "hello")
    assert await titles(desk) == [{"named": "Mine", "cancelled": "wait", "words": "hello"}[how]]
    assert [purpose for purpose, _ in purposes(session)] == ["turn"]
