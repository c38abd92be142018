"""Runs the tests of editors/vscode/test/host in the extension host: every command, and possible failures.

A push runs the files of `CORE`, an exhaustive run all of them, and `HOST_TESTS="undo review" pytest -m exhaustive` two.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests import exhaustive
from tests.editors.availability import skip
from tests.editors.vscode.hands import Hands
from tests.editors.vscode.installed import EXTENSION, OLDEST
from tests.editors.vscode.windows import Begin
from tests.editors.vscode.workbench import Workbench
from tests.loopback import Loopback, Raw
from tests.mcp.servers import PLAIN

FAKE = Path(__file__).parents[1] / "neovim" / "plugin" / "fake_server.py"
FILES = sorted(path.name.removesuffix(".test.ts") for path in (EXTENSION / "test" / "host").glob("*.test.ts"))
CHOSEN = os.environ.get("HOST_TESTS", "").split() or [*FILES, "commands"]
"""`commands`: did the tests run each command?"""
CORE = ("turns", "sessions", "waiting", "mcp")
"""The files that try most commands in the least time. The others restart the server often, or do what other files of
this folder do in a push, too.
"""
METADATA = "Metadata-Version: 2.1\nName: tark-lsp\nVersion: 0.0.1\n"
HANDS_OVER = "import os, sys\ndef main(): os.execv({0!r}, [{0!r}, '-m', 'tark_lsp', *sys.argv[1:]])\n"


@pytest.fixture(scope="module")
def results(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, str]]]:
    """The results of the tests: in a window with a folder, and in one without.

    In the oldest VS Code, also in an exhaustive run: the newest one for browsers starts no tests in its extension host.
    """
    _bundle()
    hands = Hands()
    folder = tmp_path_factory.mktemp("host")
    wanted = [file for file in CHOSEN if file in CORE or exhaustive.is_exhaustive()]
    env = {
        "TARK_TEST_HANDS": str(hands.port),
        "TARK_TEST_FILES": " ".join(wanted),
        "TARK_TEST_FAKE": str(FAKE),
        "TARK_TEST_WHEEL": str(_wheel(folder)),
        "TARK_TEST_BIN": str(_python_alone(folder)),
        "TARK_TEST_MCP": json.dumps(
            {"command": sys.executable, "args": ["-S", "-E", PLAIN], "changed": str(folder / "changed")}
        ),
    }
    with Loopback([Raw()], models=["small", "big"]).in_thread() as provider:
        own = {"wire": "openai-chat", "baseUrl": f"{provider.url}/v1"}
        offline = {name: {"baseUrl": "http://127.0.0.1:1/v1"} for name in ("groq", "deepseek")}  # their keys are set
        settings = {"tark.providers": {"own": own, **offline}, "tark.editReview": "ask"}
        bench = begin(Path(__file__).with_name("host.toml"), env=env, settings=settings, version=OLDEST)
        prompt = bench.workspace / ".tark" / "prompts" / "haiku.md"
        prompt.parent.mkdir(parents=True)
        prompt.write_text("Write a haiku about it.\n")
        results = _run(bench, hands, f"folder={bench.workspace}")
        yield [*results, *_run(bench, hands, "ew=true")] if "noFolder" in wanted else results
    hands.close()


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=() if file in CORE else pytest.mark.exhaustive) for file in CHOSEN]
)
def test_in_the_extension_host(results: list[dict[str, str]], file: str) -> None:
    own = [result for result in results if result["file"] == file]
    assert own, "no test was run"
    problems = [f"{result['title']}: {result['problem']}" for result in own if result["problem"]]
    assert not problems, "\n\n".join(problems)


def _bundle() -> None:
    node = shutil.which("node")
    if node is None or not (EXTENSION / "node_modules").is_dir():
        skip("the extension is not installed: npm ci --ignore-scripts in editors/vscode")
    subprocess.run([node, "esbuild.mjs", "--host-tests"], cwd=EXTENSION, check=True)


def _run(bench: Workbench, hands: Hands, query: str) -> list[dict[str, str]]:
    def remote(path: Path) -> str:
        return f"vscode-remote://127.0.0.1:{bench.port}{path}"

    payload = [
        ["extensionDevelopmentPath", remote(bench.extension)],
        ["extensionTestsPath", remote(EXTENSION / "out" / "host" / "index.js")],
    ]
    bench.page.goto(f"{bench.origin}/?{query}&payload={quote(json.dumps(payload))}")
    return hands.work(bench.page)


def _wheel(folder: Path) -> Path:
    """A package that starts the server of these tests, so that an installation works without a network."""
    path = folder / "tark_lsp-0.0.1-py3-none-any.whl"
    info = "tark_lsp-0.0.1.dist-info"
    files = {
        "handed_over.py": HANDS_OVER.format(sys.executable),
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntark-lsp = handed_over:main\n",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"]))
    return path


def _python_alone(folder: Path) -> Path:
    """A folder for PATH with Python and without a server."""
    path = folder / "bin" / "python3"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path.parent
