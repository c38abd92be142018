"""Nothing of trust_report/attempts gets out of the sandbox; all of it succeeds without, so each attempt counts."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tark_lsp
from tark_lsp.trust_report.attempts import on_files, on_system  # noqa: F401  # they fill the table
from tark_lsp.trust_report.attempts.driver import PROTECTED, VISIBLE
from tark_lsp.trust_report.attempts.table import ATTEMPTS, ROOT_ONLY
from tests.cases import cases
from tests.patience import HANGS
from tests.sandbox.conftest import MISSING

SOURCE = Path(tark_lsp.__file__).parent
NEEDED = ("__init__.py", "processes.py", "sandbox", "workspace", "secrets", "trust_report")
SYSTEM_PYTHON = Path("/usr/bin/python3")
NOBODY = 65534

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


def drive(folder: Path, user: int | None) -> Mapping[str, Any]:
    """What driver.py printed. `user`: who runs it; None for the user of the tests."""
    python, before = sys.executable, []
    source = folder / "source"
    if user is not None:
        python = str(SYSTEM_PYTHON)
        before = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    (source / "tark_lsp").mkdir(parents=True)
    for name in NEEDED:
        copy = shutil.copytree if (SOURCE / name).is_dir() else shutil.copy
        copy(SOURCE / name, source / "tark_lsp" / name)
    ground = folder / "ground"
    ground.mkdir()
    if user is not None:
        os.chown(ground, user, user)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(source), "HOME": str(ground)}
    done = subprocess.run(
        [*before, python, "-m", "tark_lsp.trust_report.attempts.driver", str(ground)],
        env=environment,
        cwd="/",
        stdout=subprocess.PIPE,
        timeout=HANGS,
        check=True,
    )
    result: Mapping[str, Any] = json.loads(done.stdout)
    return result


def judge(result: Mapping[str, Any], is_root: bool) -> None:
    assert "why_not" not in result, result["why_not"]
    with cases() as case:
        for name in ATTEMPTS:
            with case(name):
                if is_root or name not in ROOT_ONLY:
                    assert result["plain"][name] == "done", "without a sandbox it must succeed"
                assert result["results"][name] != "done"
    assert result["changed"] == []
    assert result["protected"] == PROTECTED
    assert result["left"] == [".env", ".git", ".gitmodules", ".npmrc"]
    assert result["failed"] == [""]


def test_no_attempt_succeeds() -> None:
    with tempfile.TemporaryDirectory(dir=VISIBLE) as folder:
        judge(drive(Path(folder), None), is_root=os.geteuid() == 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="there is no Python of the system")
def test_no_attempt_of_another_user_succeeds() -> None:
    version = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import sys; print(sys.version_info >= (3, 11))"], stdout=-1, check=True
    )
    if version.stdout.strip() != b"True":
        pytest.skip("the Python of the system is too old")
    with tempfile.TemporaryDirectory(dir=VISIBLE) as folder:
        Path(folder).chmod(0o755)
        judge(drive(Path(folder), NOBODY), is_root=False)


def test_there_are_at_least_forty() -> None:
    assert len(ATTEMPTS) >= 40
