"""The server processes of a test run: started when first needed, shared by tests that can, given up when one fails.

A start costs a second; a test gets files of its own, and afterwards everything it began is cancelled.
"""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.editors.behaviour import Behaviour, Profile
from tests.editors.memory_editor import MemoryEditor

SERVER = (sys.executable, "-m", "tark_lsp")
SCENARIO = Path(__file__).with_name("scenario.toml")


def write_settings(home: Path, scenario: Path = SCENARIO, *, review: str = "") -> None:
    """The person's own config.toml below `home`, as any editor's user would write it. `review`: `editReview`."""
    folder = home / "config" / "tark"
    folder.mkdir(parents=True)
    when = f'editReview = "{review}"\n' if review else ""
    text = f"model = \"scripted/editors\"\n{when}[providers.scripted]\nscenario = '{scenario}'\n"
    (folder / "config.toml").write_text(text)


def environment(home: Path) -> dict[str, str]:
    """Everything the server looks up about the person lies below `home`; no key of the real one is seen."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_KEY") and "TARK" not in name}
    folders = {f"XDG_{folder.upper()}_HOME": str(home / folder) for folder in ("config", "state", "cache", "data")}
    return {**kept, **folders, "HOME": str(home), "TARK_KEYRING": "off", "TARK_SANDBOX": "off"}


@dataclass(frozen=True, slots=True)
class Kind:
    """Tests that agree in these can share a server."""

    profile: Profile
    flags: frozenset[str]
    scenario: Path = SCENARIO


@dataclass(slots=True)
class Pool:
    """`folder` is given to one run of tests; each server has its own workspace and home in it."""

    folder: Path
    editors: dict[Kind, MemoryEditor] = field(default_factory=dict)
    lent: list[MemoryEditor] = field(default_factory=list)
    started: int = 0

    async def lend(
        self, profile: Profile, flags: frozenset[str], behaviour: Behaviour, scenario: Path = SCENARIO
    ) -> MemoryEditor:
        kind = Kind(profile, flags, scenario)
        editor = self.editors.get(kind) or await self.start(profile, flags, behaviour, scenario=scenario)
        self.editors[kind] = editor
        editor.behaviour = behaviour
        self.lent.append(editor)
        return editor

    async def give(self, profile: Profile, flags: frozenset[str]) -> MemoryEditor:
        """One that the test may end; other tests will not get it any more."""
        editor = await self.lend(profile, flags, profile.behaviour)
        del self.editors[Kind(profile, flags)]
        return editor

    async def lend_fresh(
        self, profile: Profile, flags: frozenset[str], behaviour: Behaviour, scenario: Path | None
    ) -> MemoryEditor:
        """One that no other test has or will have."""
        editor = await self.start(profile, flags, behaviour, scenario=scenario or SCENARIO)
        self.lent.append(editor)
        return editor

    async def start(
        self,
        profile: Profile,
        flags: frozenset[str],
        behaviour: Behaviour,
        *,
        process_id: int | None = None,
        scenario: Path = SCENARIO,
    ) -> MemoryEditor:
        self.started += 1
        home = self.folder / f"home-{self.started}"
        workspace = self.folder / f"workspace-{self.started}"
        workspace.mkdir()
        write_settings(home, scenario)
        editor = MemoryEditor(profile, flags, behaviour)
        await editor.start(SERVER, folder=workspace, env=environment(home), process_id=process_id)
        return editor

    async def take_back(self, *, failed: bool) -> None:
        """After each test. Raises AssertionError where the server broke its contract with the editor."""
        lent, self.lent = self.lent, []
        for editor in lent:
            shared = editor in self.editors.values()
            if failed or not shared:
                self.editors = {kind: other for kind, other in self.editors.items() if other is not editor}
                await editor.connection.stop()
            else:
                await editor.come_to_rest()
            assert not editor.contract.violations, editor.contract.violations

    async def close(self) -> None:
        for editor in self.editors.values():
            await editor.close()
            await editor.connection.stop()
