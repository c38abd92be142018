"""`/init` proposes AGENTS.md as an ordinary edit, which is always asked about; a prompt of that name replaces it."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.desk import Desk, MakeDesk, allow
from tests.server.prompting.test_named_prompts import ended, kind_of, told, write

ASK = "tark/requestPermission"
OLD = "# Shapes\n\nBuild: `make`\nTest: `make test`\n"
NEW = OLD.replace("make test", "uv run pytest")
SCENARIO = f"""\
wire = "anthropic-messages"

[[reply]]
tool = "write_file"
text = "Done."

[[reply]]
calls = [{{ name = "write_file", arguments = {{ path = "AGENTS.md", content = '''{NEW}''' }} }}]
"""


def scripted(desk: Desk, scenario: str) -> None:
    (desk.config.parents[2] / "scenario.toml").write_text(scenario)


def texts(hunks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(hunk["oldText"], hunk["newText"]) for hunk in hunks]


@pytest.mark.parametrize("level", ["careful", "balanced"])
async def test_it_asks_for_an_edit_that_keeps_the_rest(make: MakeDesk, level: str) -> None:
    desk = make(config=f'approval = "{level}"')
    scripted(desk, SCENARIO)
    (desk.folder / "AGENTS.md").write_text(OLD)
    asked: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        return allow(params)

    desk.connection.answers[ASK] = answer
    turn = await ended(desk, prompt="/init", noDocument=True)
    assert kind_of(desk, turn) == "init"
    assert told(desk, turn).startswith("Read this repository once")
    ((question,),) = (asked,)
    assert question["why"] == "AGENTS.md is a protected path"
    assert texts(question["edits"][0]["hunks"]) == [("Test: `make test`\n", "Test: `uv run pytest`\n")]
    assert (desk.folder / "AGENTS.md").read_text() == NEW


async def test_a_new_file_and_words_of_the_user(make: MakeDesk) -> None:
    desk = make()
    scripted(desk, SCENARIO)
    desk.connection.answers[ASK] = lambda _: {"outcome": "reject", "reason": "not now"}
    turn = await ended(desk, prompt="/init in German", noDocument=True)
    assert told(desk, turn).endswith("The person says:\n\nin German")
    assert not Path(desk.folder / "AGENTS.md").exists()


@pytest.mark.parametrize("own", [True, False])
async def test_a_prompt_of_that_name_replaces_it(make: MakeDesk, own: bool) -> None:
    desk = make()
    write(desk, "init.md", "Say hello.\n", own=own)
    assert told(desk, await ended(desk, prompt="/init")).endswith("Say hello.")
    assert told(desk, await ended(desk, prompt="", kind="init")).endswith("Say hello.")
    assert desk.connection.notes() == [], "no complaint about its name"
