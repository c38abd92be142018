"""What an editor says it can do: as pytest-lsp recorded it of the real one, and our own flags."""

import json
from typing import Any

from pytest_lsp import client_capabilities

from tests.editors.behaviour import Profile
from tests.editors.connection import Json, converter


def capabilities_of(profile: Profile, flags: frozenset[str]) -> Json:
    """As JSON: what pytest-lsp recorded of the editor, and ours."""
    recorded = converter().unstructure(client_capabilities(profile.client))
    capabilities: Json = json.loads(json.dumps(recorded))  # plain strings for enumerations
    for path in profile.without:
        parent, _, name = path.rpartition(".")
        del capability(capabilities, parent)[name]
    if profile.confirms:
        capabilities["workspace"]["workspaceEdit"].setdefault("changeAnnotationSupport", {"groupsOnLabel": True})
    if flags:
        capabilities["experimental"] = {"tark": {"protocol": 1, **dict.fromkeys(sorted(flags), True)}}
    assert capability(capabilities, "workspace.applyEdit")
    return capabilities


def capability(capabilities: Json, path: str) -> Any:
    value: Any = capabilities
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
