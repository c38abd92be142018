"""Commands that only read, in `tark-lsp run` with the sandbox on: nobody is asked, and nothing else runs."""

from pathlib import Path

import pytest

from tests.cli.terminal import configure, environment, without_terminal
from tests.sandbox.conftest import MISSING

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]


def test_a_command_that_only_reads_runs_and_another_one_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    calls = ", ".join(
        f'{{ name = "run_command", arguments = {{ command = "{command}" }} }}'
        for command in ("wc -l a.txt && grep -c two a.txt", "touch planted", "cat ../outside")
    )
    scenario = tmp_path / "model.toml"
    scenario.write_text(
        'wire = "openai-chat"\n\n[[reply]]\ntool = "run_command"\ntext = "I have looked."\n\n'
        f'[[reply]]\ntext = "I look. "\ncalls = [{calls}]\n'
    )
    (tmp_path / "outside").write_text("secret")
    configure(tmp_path, f'model = "scripted/m"\n[providers.scripted]\nscenario = "{scenario}"\n')
    env = environment(tmp_path, TARK_SANDBOX="auto", XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = without_terminal(["run", "look"], folder, env)
    read, refused, outside = done.stderr.split("● run_command ")[1:]
    assert "exit 0" in read
    assert "refused" in refused
    assert "refused" in outside
    assert not (folder / "planted").exists()


def test_doctor_says_whether_the_sandbox_works(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    configure(tmp_path, 'model = "scripted/m"\n')
    env = environment(tmp_path, TARK_SANDBOX="auto", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert "ok   sandbox: commands run in it" in without_terminal(["doctor"], folder, env).stdout
    assert not (tmp_path / "cache").exists()
    turned_off = without_terminal(["doctor"], folder, {**env, "TARK_SANDBOX": "off"}).stdout
    assert "note sandbox: turned off in your settings" in turned_off
