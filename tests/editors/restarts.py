"""A workspace and a home that real servers come and go in, with a scripted model that makes the calls it is given."""

import json
from pathlib import Path

from tests.editors.behaviour import HONEST, Profile
from tests.editors.connection import Json
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SERVER, environment

PLAIN = Profile("neovim", "Neovim", "0.11.0", HONEST, without=("workspace.workspaceEdit.resourceOperations",))
TEXT = "".join(f"line {n}\n" for n in range(30))
ALL_DONE = '[[reply]]\ntext = "All done."\n'


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder.resolve() / "workspace", folder.resolve() / "home"
        self.folder.mkdir()
        for name in ("a.py", "b.py", "c.py", "d.py"):
            (self.folder / name).write_text(TEXT)

    def write_home(self, *calls: Json, settings: str = "", prompts: dict[str, Json] | None = None) -> None:
        """A model that makes all the calls in its first answer, or those of a prompt as often as it comes."""
        config = self.home / "config" / "tark"
        config.mkdir(parents=True)
        replies = [f"[[reply]]\ntimes = 1\ncalls = [{', '.join(map(_row, calls))}]\n{ALL_DONE}"] if calls else []
        for prompt, call in (prompts or {}).items():
            replies.append(f"[[reply]]\nwhen = 'says:\\s+{prompt}'\ncalls = [{_row(call)}]\n")
        if not calls:
            replies.insert(0, '[[reply]]\ntool = "edit_file"\ntext = "All done."\n')
        scenario = self.home / "scenario.toml"
        scenario.write_text("".join(['wire = "anthropic-messages"\n', *replies]))
        (config / "config.toml").write_text(
            f"model = \"scripted/restart\"\n{settings}\n[providers.scripted]\nscenario = '{scenario}'\n"
        )

    async def editor(self, *names: str, flags: tuple[str, ...] = ("permission", "updates")) -> MemoryEditor:
        editor = MemoryEditor(PLAIN, frozenset(flags))
        await editor.start(SERVER, folder=self.folder, env=environment(self.home))
        for name in names:
            editor.open(self.folder / name)
        return editor

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def read(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_text() if path.exists() else None


def edit(path: str, old: str, new: str) -> Json:
    return {"name": "edit_file", "arguments": {"path": path, "old_text": old, "new_text": new}}


async def ended(editor: MemoryEditor) -> None:
    assert await editor.close() == 0
    await editor.connection.stop()
    assert not editor.contract.violations, editor.contract.violations


def _row(call: Json) -> str:
    arguments = json.dumps(json.dumps(call["arguments"]))
    return f"{{ name = {json.dumps(call['name'])}, arguments_json = {arguments} }}"
