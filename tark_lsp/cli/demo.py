"""`tark-lsp demo`: the main job, for real, on a temporary copy of a tiny project, with a script in place of a model."""

import asyncio
import os
import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from tark_lsp.cli.screen import Screen
from tark_lsp.cli.session import at_terminal, finish, new_console, server
from tark_lsp.cli.turn import DONE, NOT_DONE, run_turn
from tark_lsp.cli.visible import visible

PROMPT = "An empty basket must not crash this."
FILE = "shop/prices.py"
SELECTED_LINES = (8, 10)
"""`average()` in that file, counted from 0, both included."""
TESTS = [sys.executable, "-B", "-m", "unittest"]


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(
        "tark-lsp demo", description="See the main job: no key, no network, nothing of yours touched."
    )
    parser.add_argument("--yes", action="store_true", help="answer yes to the question; for scripts")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="tark-demo-")).resolve()
    screen = Screen(new_console(), folder / "project")
    return finish(_demo(folder, screen, yes=options.yes), screen)


async def _demo(folder: Path, screen: Screen, *, yes: bool) -> int:
    project, scenario = _copy(folder)
    screen.line(
        "This demo plays a script, not a model. Everything else is real: the server, the tools, the edit.", "bold"
    )
    screen.line(f"It works on a temporary copy: {project}")
    if not yes and not at_terminal():
        screen.line("Not a terminal, so nobody can be asked: the answer will be yes.", "yellow")
        yes = True
    before = _bytes(project)
    screen.line("\n$ python -m unittest", "bold")
    await _run_tests(project, screen)
    screen.line(f"\n{FILE}, lines {SELECTED_LINES[0] + 1}-{SELECTED_LINES[1] + 1}: {PROMPT}\n", "bold")
    settings = {
        "model": "scripted/demo",
        "mode": "build",
        "approval": "careful",
        "providers": {"scripted": {"scenario": str(scenario)}},
    }
    async with server(project, screen, yes=yes, settings=settings, environ=_environment(folder)) as (client, person):
        document = client.documents.open(project / FILE)
        first, last = SELECTED_LINES
        start = {
            "prompt": PROMPT,
            "textDocument": {"uri": document.uri, "version": document.version},
            "range": {
                "start": {"line": first, "character": 0},
                "end": {"line": last, "character": len(document.lines[last].rstrip())},
            },
        }
        code = await run_turn(client, screen, person, start)
    if _bytes(project) == before:
        screen.line("Nothing was changed: every byte is as it was.")
        return NOT_DONE
    screen.line("\n$ python -m unittest", "bold")
    passed = await _run_tests(project, screen)
    screen.line(f"\nThe changed copy is in {project}. Next: tark-lsp doctor, then your editor (README.md).")
    return DONE if passed and code == DONE else NOT_DONE


def _copy(folder: Path) -> tuple[Path, Path]:
    """The project to work on, and beside it the scenario, which the "model" must not find in its workspace."""
    with as_file(files("tark_lsp.cli") / "demo_project") as bundled:
        shutil.copytree(bundled, folder / "project", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "project", Path(shutil.move(folder / "project" / "scenario.toml", folder))


def _environment(folder: Path) -> dict[str, str]:
    """The person's own, but none of their settings of tark: the demo goes the same way everywhere."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TARK_")}
    return own | {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}


def _bytes(project: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


async def _run_tests(project: Path, screen: Screen) -> bool:
    """Run the project's tests and show what they say; whether they pass."""
    process = await asyncio.create_subprocess_exec(
        *TESTS, cwd=project, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    passed = process.returncode == 0
    screen.line(visible(output.decode("utf-8", "replace").strip()), "green" if passed else "red")
    return passed
