"""`--json` of subcommands that list by default: before and after the name of the list, and nowhere else."""

import pytest

from tark_lsp.cli.json_option import parse_with_json
from tark_lsp.cli.subcommands import module_of

LISTS = {"index": "status", "permissions": "list", "mcp": "list", "hooks": "list", "agents": "list"}


@pytest.mark.parametrize(("name", "listing"), LISTS.items())
def test_json_is_an_option_of_the_default(name: str, listing: str) -> None:
    parser = module_of(name).new_parser()
    for words in (["--json"], ["--json", listing], [listing, "--json"]):
        assert parse_with_json(parser, words, listing).json
    for words in ([], [listing]):
        assert not parse_with_json(parser, words, listing).json


@pytest.mark.parametrize(
    "words", ["index --json clear", "permissions --json trust", "mcp --json remove x", "hooks --json remove x"]
)
def test_json_is_refused_for_everything_else(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *arguments = words.split()
    with pytest.raises(SystemExit, match="2"):
        module_of(name).main(arguments)
    assert f"--json works only with {LISTS[name]}" in capsys.readouterr().err
