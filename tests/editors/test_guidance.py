"""Instructions, rules, skills and memory over a real server: what a model on loopback is sent, now and later.

The model is a script; what it is told is read off the wire.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tark_lsp.llm.scripted.scenario import Reply, Scenario, ScriptedCall
from tests.editors.behaviour import NATIVE, NEOVIM
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SERVER, environment
from tests.loopback import Loopback

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

NOTE = "Releases are tagged by Anna."
SCENARIO = Scenario(
    "guidance",
    (
        Reply(tool="read_skill", text="", calls=(ScriptedCall("save_memory", {"text": NOTE, "tags": ["release"]}),)),
        Reply(tool="save_memory", text="Noted."),
        Reply(tool="search_memory", text="Found."),
        Reply(when=r"says:\s+learn", calls=(ScriptedCall("read_skill", {"name": "release"}),)),
        Reply(when=r"says:\s+recall", calls=(ScriptedCall("search_memory", {"query": "who tags a release"}),)),
        Reply(text="Seen."),
    ),
    wire="anthropic-messages",
)
FILES = {
    "a.py": "x = 1\n",
    "notes.md": "# Notes\n",
    "AGENTS.md": "Project: use tabs.\n",
    ".tark/rules/python.md": "---\nglobs: *.py\n---\nType everything.\n",
    ".tark/rules/bad.md": "---\nglobs: [\n---\nNever.\n",
    ".tark/skills/release/SKILL.md": "---\nname: release\ndescription: how to release\n---\nTag it first.\n",
}


def write_home(home: Path, url: str) -> None:
    folder = home / "config" / "tark"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        'model = "own/some-model"\n[providers.own]\nwire = "anthropic-messages"\napiKeyEnv = "OWN"\n'
        f'baseUrl = "{url}"\n',
        encoding="utf-8",
    )
    (folder / "AGENTS.md").write_text("Person: be brief.\n", encoding="utf-8")


async def started(folder: Path, home: Path) -> MemoryEditor:
    editor = MemoryEditor(NEOVIM, frozenset(NATIVE))
    await editor.start(SERVER, folder=folder, env={**environment(home), "OWN": "test-key-1234"})
    return editor


def system_of(body: Json) -> str:
    system = body["system"]
    return system if isinstance(system, str) else "\n\n".join(block["text"] for block in system)


def results_of(body: Json) -> str:
    blocks = [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]
    return json.dumps(blocks, ensure_ascii=False)


async def bodies(server: Loopback, editor: MemoryEditor, prompt: str, uri: str, **more: Any) -> tuple[Json, list[Json]]:
    """The turn's end, and what the model was sent for it."""
    before = len(server.requests)
    turn = await editor.turn(prompt, uri, **more)
    if prompt == "learn":
        question = await editor.question()
        shown = json.dumps(question.params, ensure_ascii=False)
        assert NOTE in shown
        assert "keeps a note that later sessions read" in shown
        question.allow()
    end = await editor.end(turn)
    assert end["stopReason"] == "end_turn", end
    return {**end, "turnId": turn}, [request.json for request in server.requests[before:] if request.method == "POST"]


async def test_a_rule_by_glob_a_skill_on_demand_and_a_note_in_a_later_session(tmp_path: Path) -> None:
    folder, home = tmp_path.resolve() / "workspace", tmp_path.resolve() / "home"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    async with Loopback(SCENARIO) as server:
        write_home(home, server.url)
        editor = await started(folder, home)
        python, notes = editor.open(folder / "a.py"), editor.open(folder / "notes.md")

        end, sent = await bodies(server, editor, "learn", python)
        assert end["text"] == "Noted."
        system = system_of(sent[0])
        pieces = [
            '<skills from="project">\n- release: how to release\n</skills>',
            'from="person">\nPerson: be brief.\n</instructions>',
            '<instructions file="AGENTS.md" from="project">\nProject: use tabs.\n</instructions>',
            '<rule file=".tark/rules/python.md" for="*.py" from="project">\nType everything.\n</rule>',
        ]
        places = [system.index(piece) for piece in pieces]
        assert places == sorted(places)
        assert "Tag it first." not in json.dumps(sent[0])
        assert "Tag it first." in results_of(sent[1])
        assert "Never." not in system
        assert [system_of(body) for body in sent] == [system] * 3, "the same for the whole turn"
        (bad,) = [update for update in editor.updates(end["turnId"], "notice") if "bad.md" in update["message"]]
        assert bad["message"] == ".tark/rules/bad.md is left out: line 2: the list is not closed by ]"
        (kept,) = [update for update in editor.updates(end["turnId"], "notice") if "kept for" in update["message"]]
        assert NOTE in kept["message"]

        end, sent = await bodies(server, editor, "look", notes)
        assert "Type everything." not in system_of(sent[0])
        assert NOTE in system_of(sent[0]), "a new session is told of the note"
        said = [update["message"] for update in editor.updates(end["turnId"], "notice")]
        assert not any("bad.md" in item for item in said), "each problem is said once"
        assert await editor.close() == 0
        await editor.connection.stop()

        (memory,) = (home / "state" / "tark" / "memory").iterdir()
        memory.write_text(
            memory.read_text(encoding="utf-8") + "\n- The person adds that Bob may, too.\n", encoding="utf-8"
        )
        editor = await started(folder, home)
        _, sent = await bodies(server, editor, "recall", editor.open(folder / "notes.md"))
        assert "Bob may, too." in system_of(sent[0])
        assert "2 notes, best first" in results_of(sent[1])
        assert NOTE in results_of(sent[1])
        assert await editor.close() == 0
        await editor.connection.stop()
    assert not list(folder.rglob("*memory*")), "nothing of it is in the repository"
