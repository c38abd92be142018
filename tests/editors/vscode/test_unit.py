"""Runs the unit tests of the extension, which need no VS Code, with Node's test runner."""

import shutil
import subprocess
from pathlib import Path

from tests.editors.availability import skip

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"


def test_they_pass() -> None:
    npm = shutil.which("npm")
    if npm is None or not (EXTENSION / "node_modules").is_dir():
        skip("the extension is not installed: npm ci --ignore-scripts in editors/vscode")
    done = subprocess.run([npm, "run", "--silent", "test:unit"], cwd=EXTENSION, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n# tests 0\n" not in done.stdout, "nothing was run"
