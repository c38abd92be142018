"""Settings from messages and files to their effect, and the messages about invalid ones."""

import logging
from functools import partial
from typing import Any

import pytest

from tests.server.desk import MakeDesk


def give(answer: Any, _: Any) -> Any:
    return answer


async def test_settings_of_the_editor_come_and_go(make: MakeDesk) -> None:
    desk = make()
    assert (await desk.settings())["saveAfterEdit"] is True
    for settings, expected in [
        ({"tark": {"saveAfterEdit": False}}, False),
        ({"tark": {"editReview": "ask"}}, True),
        ({"saveAfterEdit": False, "python.path": "x"}, False),
        ({"tark": {}}, True),
        ({"tark": {"saveAfterEdit": False}}, False),
        ({"tark": None}, True),
        ({"tark": {"saveAfterEdit": False}}, False),
        (None, True),
        ({"tark": {"saveAfterEdit": False}}, False),
        ({}, True),
    ]:
        desk.app.configuration_changed({"settings": settings})
        assert (await desk.settings())["saveAfterEdit"] is expected, settings


@pytest.mark.parametrize("settings", [None, {}, {"tark": {}}, {"tark": None}])
async def test_where_it_says_nothing_the_editor_is_asked(make: MakeDesk, settings: object) -> None:
    desk = make("workspace.configuration")
    for answer, expected in (
        ([{"saveAfterEdit": False}], False),
        ([None], True),
        ([{"saveAfterEdit": False}], False),
        ([], True),
        ({"no": "list"}, True),
    ):
        desk.connection.answers["workspace/configuration"] = partial(give, answer)
        desk.app.configuration_changed({"settings": settings})
        assert (await desk.settings())["saveAfterEdit"] is expected
    assert desk.connection.asked[0][1] == {"items": [{"section": "tark"}]}


async def test_the_editor_is_asked_once_it_is_initialized(make: MakeDesk) -> None:
    desk = make("workspace.configuration")
    desk.connection.answers["workspace/configuration"] = lambda _: [{"saveAfterEdit": False}]
    desk.app.initialized({})
    assert (await desk.settings())["saveAfterEdit"] is False


async def test_a_bad_setting_is_told_once_and_its_default_used(make: MakeDesk) -> None:
    desk = make(config='thinking = "a lot"')
    desk.app.initialized({})
    for _ in range(3):
        desk.app.configuration_changed({"settings": {"tark": {"editReview": "sometimes"}}})
    assert (await desk.settings())["thinking"] == "auto"
    assert (await desk.settings())["editReview"] is None
    notes = desk.connection.notes()
    assert len(notes) == 2
    assert "thinking" in notes[0]
    assert "editReview" in notes[1]


async def test_a_broken_file_makes_everything_ask_and_later_changes_nothing(make: MakeDesk) -> None:
    broken, good = make(config="approval = [broken"), 'approval = "balanced"\n[permissions]\ndeny = ["fetch"]\n'
    broken.app.initialized({})
    assert (await broken.settings())["approval"] == "manual"
    assert any("the approval level is manual" in note for note in broken.connection.notes())
    for text in (good, "approval = [broken"):
        broken.config.write_text(text)
        broken.app.configuration_changed({"settings": {"tark": {"editReview": None}}})
        settings = await broken.settings()
        assert (settings["approval"], settings["permissions"]["deny"]) == ("balanced", ["fetch"])
    assert "the earlier values apply" in broken.connection.notes()[-1]


@pytest.mark.parametrize("settings", [7, "x", [1, 2], {"tark": [1]}, {"tark": "x"}, {"tark": {"limits": []}}])
async def test_settings_that_are_none_do_no_harm(make: MakeDesk, settings: object) -> None:
    desk = make()
    desk.app.configuration_changed({"settings": settings})
    assert (await desk.settings())["mode"] == "build"


async def test_a_repository_loosens_nothing(make: MakeDesk) -> None:
    desk = make()
    (desk.folder / ".tark").mkdir()
    (desk.folder / ".tark" / "config.toml").write_text('model = "evil/model"\nmode = "ask"\napproval = "balanced"\n')
    desk.app.configuration_changed({"settings": {"tark": {"approval": "balanced", "model": "evil/model"}}})
    settings = await desk.settings()
    assert (settings["model"], settings["mode"], settings["approval"]) == ("scripted/desk", "ask", "careful")
    assert len(desk.connection.notes()) == 2


async def test_the_log_level_is_that_of_the_settings(make: MakeDesk) -> None:
    make(config='logLevel = "debug"')
    assert logging.getLogger("tark_lsp").level == logging.DEBUG
    logging.getLogger("tark_lsp").setLevel(logging.NOTSET)
