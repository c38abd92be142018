"""`tark-lsp doctor`: what it finds, that it names keys and never shows them, and what makes it fail."""

from pathlib import Path

import pytest

from tests.cli.terminal import configure, environment, without_terminal

pytestmark = pytest.mark.slow  # each test starts a program

OWN = '[providers.mine]\nwire = "openai-chat"\nbaseUrl = "http://127.0.0.1:1"\napiKeyEnv = "MY_KEY"\n'
NOBODY = '[providers.ollama]\nbaseUrl = "http://127.0.0.1:1"\n'


@pytest.mark.parametrize(
    ("toml", "keys", "words", "code"),
    [
        (NOBODY, {}, ["BAD  no model: none is set", "tark-lsp login", "ANTHROPIC_API_KEY", "Ollama"], 1),
        ("", {"OPENAI_API_KEY": "secret-1"}, ["ok   keys: openai (OPENAI_API_KEY)"], 0),
        (OWN, {"MY_KEY": "secret-1"}, ["mine (MY_KEY)"], 0),
        ('model = "xai/b"', {"TARK_MODE": "plan"}, ["model: xai/b; mode: plan; approval: careful"], 0),
        ('model = "opeanai/b"', {}, ["BAD  no model: there is no provider 'opeanai', did you mean openai?"], 1),
        ('model = "ollama/b"', {}, ["ok   keys: none found, and ollama needs none"], 0),
        ('model = "scripted/b"', {}, ["ok   keys: none found, and scripted needs none"], 0),
        ('model = "mistral/b"', {}, ["note keys: none found: run"], 0),
        ('mode = "sleep"', {}, ["BAD ", 'mode is "sleep"'], 1),
        ("mode = ", {}, ["cannot be read as TOML"], 1),
    ],
    ids=[
        "nothing",
        "a key",
        "a provider of one's own",
        "chosen",
        "an unknown provider",
        "local",
        "a script",
        "without its key",
        "a bad setting",
        "broken settings",
    ],
)
def test_findings(tmp_path: Path, toml: str, keys: dict[str, str], words: list[str], code: int) -> None:
    if toml:
        configure(tmp_path, toml)
    done = without_terminal(["doctor"], tmp_path, environment(tmp_path, **keys), fresh=not toml)
    always = ("search: ripgrep", "sandbox: turned off", "note code index: off: ", "the language server starts")
    for word in (*words, *always):
        assert word in done.stdout
    assert (done.returncode, done.stderr) == (code, "")
    assert "secret" not in done.stdout


def test_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"in the way")
    done = without_terminal(["doctor"], tmp_path, environment(tmp_path))
    assert done.returncode == 1
    assert "BAD  state folder" in done.stdout
