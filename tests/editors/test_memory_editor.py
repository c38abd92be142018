"""The in-memory editor itself: what each behaviour does with an edit made for the version before."""

from pathlib import Path

import pytest

from tests.editors.behaviour import BEHAVIOURS, HONEST, NEOVIM, PROFILES, Behaviour, Profile, Stale
from tests.editors.capabilities import capabilities_of
from tests.editors.connection import Json, Message
from tests.editors.contract import Contract
from tests.editors.document import Document
from tests.editors.memory_editor import MemoryEditor

URI = Path("/project/a.py").as_uri()
AFTER_AN_EDIT = {Stale.REFUSE: "typed\none\ntwo\n", Stale.SKIP: "typed\none\ntwo\n", Stale.APPLY: "typed\n1\ntwo\n"}


def versioned(version: int | None, line: int, text: str) -> Json:
    ends = {side: {"line": line, "character": character} for side, character in (("start", 0), ("end", 3))}
    return {
        "documentChanges": [
            {"textDocument": {"uri": URI, "version": version}, "edits": [{"range": ends, "newText": text}]}
        ]
    }


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
async def test_a_stale_edit(behaviour: Behaviour) -> None:
    editor = MemoryEditor(NEOVIM, behaviour=behaviour)
    editor.documents[URI] = Document(URI, "one\ntwo\n", "utf-8")
    editor.documents[URI].edit([{"range": {"start": at(0), "end": at(0)}, "newText": "typed\n"}])
    answer = editor.apply(versioned(1 if behaviour.versions else None, 1, "1"))
    assert answer["applied"] == (behaviour.stale is not Stale.REFUSE)
    assert editor.text(URI) == AFTER_AN_EDIT[behaviour.stale]


def at(line: int) -> Json:
    return {"line": line, "character": 0}


async def test_an_edit_of_the_version_that_is_there() -> None:
    editor = MemoryEditor(NEOVIM, behaviour=HONEST)
    editor.documents[URI] = Document(URI, "one\ntwo\n", "utf-8")
    assert editor.apply(versioned(1, 1, "2")) == {"applied": True}
    assert (editor.text(URI), editor.documents[URI].version) == ("one\n2\n", 2)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.client)
def test_capabilities_are_those_of_the_editor_and_ours(profile: Profile) -> None:
    capabilities = capabilities_of(profile, frozenset({"permission"}))
    assert capabilities["experimental"]["tark"] == {"protocol": 1, "permission": True}
    assert "tark" not in capabilities_of(profile, frozenset()).get("experimental", {})


@pytest.mark.parametrize(
    ("bodies", "violation"),
    [
        ([{"id": 1, "method": "tark/requestPermission", "params": {}}], "experimental.tark.permission"),
        ([{"id": 1, "method": "window/showMessageRequest", "params": {"message": "x" * 301}}], "301 characters"),
        ([{"id": n, "method": "window/showMessageRequest", "params": {"message": ""}} for n in (1, 2)], "same time"),
        ([{"method": "$/progress", "params": {"token": "t", "value": {"kind": "end"}}}], "which is unknown"),
        ([{"id": 1, "method": "workspace/applyEdit", "params": {"edit": {"changes": {}}}}], "without a label"),
    ],
)
def test_what_breaks_the_contract_is_noticed(bodies: list[Json], violation: str) -> None:
    contract = Contract(capabilities_of(NEOVIM, frozenset()))
    for body in bodies:
        contract.see(Message("server", 0.0, body))
    assert violation in "; ".join(contract.violations)
