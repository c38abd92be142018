"""Several servers, one after the other or at once, on one workspace and one home: what the person's machine is."""

from pathlib import Path

from tests.editors.behaviour import VISUAL_STUDIO_CODE
from tests.editors.memory_editor import MemoryEditor
from tests.editors.pool import SERVER, environment, write_settings


def write_home(home: Path, scenario: str) -> None:
    """The person's settings; the model plays `scenario`."""
    home.mkdir(parents=True)
    path = home / "scenario.toml"
    path.write_text(scenario)
    write_settings(home, path)


async def open_on(folder: Path, home: Path) -> MemoryEditor:
    editor = MemoryEditor(VISUAL_STUDIO_CODE, frozenset({"permission", "updates"}))
    await editor.start(SERVER, folder=folder, env=environment(home))
    return editor
