"""Takes the pictures of docs/vscode.md in a real workbench, with the scripted model.

    uv run python -m tests.editors.vscode.screens [FOLDER] [SCENE...]

FOLDER is docs/images/vscode by default. Without SCENE, all scenes: those of `scenes.py`, and `setup`.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, expect, sync_playwright

import tark_lsp
from tests.editors.vscode import installed
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.screens.files import write_files
from tests.editors.vscode.screens.scenes import FILE, SCENES
from tests.editors.vscode.screens.studio import SETTINGS, THEMES, WIDTH, Studio
from tests.editors.vscode.windows import FLAGS
from tests.editors.vscode.workbench import PATIENCE, Workbench
from tests.key_provider import RIGHT_KEY, KeyProvider

ROOT = Path(__file__).parents[4]
PROJECT = Path(tark_lsp.__file__).parent / "demo_project" / "shop"
REPLIES = Path(__file__).with_name("replies.toml")
MODEL = {"contextWindow": 200_000, "price": {"input": 1.25, "output": 10}, "images": True}
"""What is known about the scripted model."""
SETUP = "setup"


@contextmanager
def window(browser: Browser, folder: Path, scenario: Path | None, **options: Any) -> Iterator[Studio]:
    with tempfile.TemporaryDirectory(prefix="tark-") as temporary:
        program = Path(temporary) / "tark-lsp"  # the page of the doctor shows its path
        program.symlink_to(Path(sys.executable).with_name("tark-lsp"))
        machine = {"tark.server.command": [str(program)]}
        bench = Workbench(browser, Path(temporary), scenario, machine=machine, **options)
        studio = Studio(bench, folder)
        try:
            studio.resize(1100, 700)
            yield studio
        except BaseException:  # re-raised; keep a picture of it
            bench.page.screenshot(path=folder / "failed.png")
            raise
        finally:
            bench.close()


def take_setup(browser: Browser, folder: Path) -> None:
    """An empty home: the card that sets up a model."""
    with window(browser, folder, None, settings={**SETTINGS, "git.enabled": False}) as studio:
        studio.bench.open()
        chat = Chat(studio.bench)
        chat.button("Try the Demo").wait_for()
        for scheme in THEMES:
            studio.show(scheme)
            studio.shoot_widths(SETUP)


def take_scenes(browser: Browser, folder: Path, names: Sequence[str], provider: KeyProvider) -> None:
    """A Git folder with the demo project, and a scripted model."""
    providers = {
        "scripted": {"scenario": str(REPLIES), "models": {"demo": MODEL}},
        "openrouter": {"baseUrl": provider.url, "models": {"gpt-5.1": MODEL}},
    }
    settings = {**SETTINGS, "tark.model": "scripted/demo", "tark.providers": providers}
    env = {"OPENROUTER_API_KEY": RIGHT_KEY}
    with window(browser, folder, REPLIES, settings=settings, env=env) as studio:
        bench = studio.bench
        shutil.copytree(PROJECT, bench.workspace / "shop", ignore=shutil.ignore_patterns("__pycache__"))
        git = ["git", "-C", str(bench.workspace), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *command], check=True)
        write_files(bench.workspace)
        bench.open()
        bench.open_file(FILE)
        Chat(bench)
        studio.widen(WIDTH)
        failed = []
        for scheme in THEMES:
            studio.show(scheme)
            failed += [name for name in names if not _is_taken(studio, folder, name, SCENES[name])]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; see failed-*.png")


def _is_taken(studio: Studio, folder: Path, name: str, scene: Callable[[Studio], None]) -> bool:
    try:
        scene(studio)
    except (Error, AssertionError) as problem:  # the other pictures are taken all the same
        studio.page.screenshot(path=folder / f"failed-{name}.png")
        print(name, problem, file=sys.stderr, flush=True)
        return False
    return True


def main(folder: Path, names: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=PATIENCE * 1000)
    wanted = names or [SETUP, *SCENES]
    with KeyProvider(public=True) as provider, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed.browser(), args=list(FLAGS))
        if SETUP in wanted:
            take_setup(browser, folder)
        if scenes := [name for name in wanted if name != SETUP]:
            take_scenes(browser, folder, scenes, provider)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "vscode", sys.argv[2:])
