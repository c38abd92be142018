"""Turns with secrets in the files: the model sees tokens, and edits write what was there."""

import json
import subprocess
from pathlib import Path

import pytest

from tark_lsp.agent.approval import Policy
from tark_lsp.agent.edit_review import EditReview
from tark_lsp.agent.events import CallChanged
from tark_lsp.agent.rules import Rule
from tark_lsp.agent.user_interface import Rejected
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.secrets.masks import SecretMasks
from tark_lsp.secrets.tokens import TOKEN
from tark_lsp.tools.editor import Diagnostic
from tark_lsp.tools.tool import ToolContext
from tests.agent.bench import Bench
from tests.agent.script import answer, call
from tests.secrets.keys import anthropic_key, body_of, github_token, private_key

TEXT = f'"""Settings."""\n\nTOKEN = "{github_token()}"\nNAME = "first"\nKEY = "{anthropic_key()}"\n'
CRLF_KEY = private_key(ending="\r\n")


def code_of(result: str) -> str:
    """The text in the one snippet of a result."""
    return result.partition(">\n")[2].rpartition("</code>")[0]


async def read(bench: Bench, name: str = "settings.py") -> str:
    """What the model sees of the file."""
    await bench.run(answer(call("read_file", path=name)), answer("done"))
    return code_of(bench.results()[-1])


def tokens_of(text: str) -> list[str]:
    return [found[0] for found in TOKEN.finditer(text)]


def assert_nothing_leaked(bench: Bench) -> None:
    """Of what the model was sent, and the user's list of calls."""
    told = json.dumps([repr(request) for request in bench.model.requests])
    told += "".join(
        f"{event.text}{event.title}{event.arguments}" for event in bench.heard if isinstance(event, CallChanged)
    )
    for secret in (github_token(), anthropic_key(), *body_of(CRLF_KEY)):
        assert secret not in told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("settings.py", TEXT),
        ("key.pem", CRLF_KEY),
        ("tests/key.pem", f"a\n{private_key()}b\n"),
        (".env", "NAME=Web\nPASSWORD=lower\nTOKEN=abc12345\nX='a b'\n"),
        ("seen.md", f"{TEXT}The token [masked-secret:github-token:00000000] is shown.\n"),
    ],
)
async def test_a_file_that_is_read_and_written_back_does_not_change(bench: Bench, name: str, text: str) -> None:
    path = bench.write(name, text)
    shown = await read(bench, name)
    assert tokens_of(shown) != []
    await bench.run(answer(call("write_file", path=name, content=shown)), answer("done"))
    assert path.read_bytes() == text.encode()
    await bench.run(answer(call("write_file", path=name, content=f"{shown}# more\n")), answer("done"))
    ending = "\r\n" if "\r\n" in text else "\n"
    assert path.read_bytes() == f"{text}# more{ending}".encode()
    assert_nothing_leaked(bench)


async def test_an_edit_beside_a_secret_is_placed(bench: Bench) -> None:
    path = bench.write("settings.py", TEXT)
    shown = await read(bench)
    token = tokens_of(shown)[0]
    old = f'TOKEN = "{token}"\nNAME = "first"'
    await bench.run(
        answer(call("edit_file", path="settings.py", old_text=old, new_text=old.replace("first", "second"))),
        answer("done"),
    )
    assert path.read_text() == TEXT.replace("first", "second")
    (request,) = bench.user.asked
    assert github_token() not in request.title
    assert_nothing_leaked(bench)


async def test_the_user_sees_what_is_written(bench: Bench) -> None:
    path = bench.write("settings.py", TEXT)
    token = tokens_of(await read(bench))[0]
    old, new = f'TOKEN = "{token}"', f'SECRET = "{token}"'
    await bench.run(answer(call("edit_file", path="settings.py", old_text=old, new_text=new)), answer("done"))
    (edit,) = bench.user.asked[0].edits
    assert f'SECRET = "{github_token()}"' in edit.after
    assert path.read_text() == TEXT.replace("TOKEN", "SECRET")
    assert_nothing_leaked(bench)


async def test_the_error_of_an_edit_shows_no_secret(bench: Bench) -> None:
    """Of a file that nobody has read yet: the error shows the nearest lines."""
    bench.write(".env", "NAME=Web\nPASSWORD=lowercase\n")
    bench.write("a.py", "name = 'x'\npassword = \"tr0ub4dor&3\"\n")
    await bench.run(
        answer(
            call("edit_file", path=".env", old_text="NAME=Web\nPASSWORD=uppercase", new_text="x"),
            call("edit_file", path="a.py", old_text="name = 'x'\npassword = \"other\"", new_text="x"),
        ),
        answer("done"),
    )
    assert bench.errors() == ["not_found", "not_found"]
    told = "".join(bench.results())
    assert len(tokens_of(told)) >= 2
    assert "lowercase" not in told
    assert "tr0ub4dor" not in told


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_file", {"path": "other.py", "old_text": "x = 1", "new_text": "x = '{}'"}),
        ("write_file", {"path": "other.py", "content": "x = '{}'\n"}),
        ("write_file", {"path": "new.py", "content": "x = '{}'\n"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: other.py\n@@\n-x = 1\n+x = '{}'\n*** End Patch"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: new.py\n+x = '{}'\n*** End Patch"}),
    ],
)
async def test_a_token_of_another_file_is_refused(bench: Bench, tool: str, arguments: dict[str, str]) -> None:
    bench.write("settings.py", TEXT)
    bench.write("other.py", "x = 1\n")
    token = tokens_of(await read(bench))[0]
    filled = {key: value.replace("{}", token) for key, value in arguments.items()}
    await bench.run(answer(call(tool, **filled)), answer("done"))
    assert bench.errors()[-1] == "invalid_arguments"
    assert f"{token} is not a secret of" in bench.results()[-1]
    assert (bench.root / "other.py").read_text() == "x = 1\n"
    assert not (bench.root / "new.py").exists()
    assert bench.user.asked == []


async def test_propose_edit_restores_too(bench: Bench) -> None:
    bench.mode = Mode.ASK
    bench.write("settings.py", TEXT)
    token = tokens_of(await read(bench))[0]
    edit = call("propose_edit", path="settings.py", old_text=f'TOKEN = "{token}"', new_text=f'T = "{token}"')
    await bench.run(answer(edit), answer("done"))
    assert f'T = "{github_token()}"' in bench.user.shown[0].edits[0].after


async def test_a_line_can_move_within_its_file_in_two_calls(bench: Bench) -> None:
    path = bench.write("settings.py", TEXT)
    line = f'TOKEN = "{tokens_of(await read(bench))[0]}"\n'
    await bench.run(
        answer(
            call("edit_file", path="settings.py", old_text=line, new_text=""),
            call("edit_file", path="settings.py", old_text='NAME = "first"\n', new_text=f'NAME = "first"\n{line}'),
        ),
        answer("done"),
    )
    lines = TEXT.splitlines(keepends=True)
    assert path.read_text() == "".join([*lines[:2], lines[3], lines[2], lines[4]])


async def test_a_patch_that_moves_and_changes_a_file(bench: Bench) -> None:
    bench.write("settings.py", TEXT)
    token = tokens_of(await read(bench))[0]
    patch = (
        "*** Begin Patch\n*** Update File: settings.py\n*** Move to: config.py\n@@\n"
        f' TOKEN = "{token}"\n-NAME = "first"\n+NAME = "{token}"\n*** End Patch'
    )
    await bench.run(answer(call("apply_patch", patch=patch)), answer("done"))
    assert (bench.root / "config.py").read_text() == TEXT.replace("first", github_token())


@pytest.mark.parametrize(
    ("source", "target", "asks"),
    [
        (".env", "notes.txt", True),
        ("a/key.pem", "tests/key.pem", True),
        (".env", ".env.example", True),
        (".env", "a/.env", False),
        ("a.txt", ".env", False),
    ],
)
async def test_a_name_that_would_no_longer_hide_the_keys_is_asked_about(
    bench: Bench, source: str, target: str, asks: bool
) -> None:
    bench.write(source, "FLAG=correct-horse-1\n")
    bench.rules = Policy(ApprovalLevel.CAREFUL, edit_review=EditReview("after"))
    move = call("move_file", source=source, target=target)
    await bench.run(answer(move), answer("ok"), decisions=[Rejected()])
    assert [asked.why for asked in bench.user.asked] == (
        [f"{source} holds keys, which its new name would no longer hide"] if asks else []
    )
    assert (bench.root / source).exists() is asks


async def test_a_selection_is_restored_unless_it_cuts_a_secret(bench: Bench) -> None:
    path = bench.open("settings.py", TEXT)
    bench.kind = "edit"
    start = TEXT.index("TOKEN")
    bench.select(path, start, TEXT.index("NAME"))
    token = tokens_of(bench.context.masks.mask_file(path, TEXT).text)[0]
    await bench.run(answer(call("replace_selection", new_text=f'SECRET = "{token}"\n')), answer("done"))
    assert bench.text("settings.py") == TEXT.replace("TOKEN", "SECRET")

    bench.buffers.open(path, TEXT)
    bench.select(path, start, TEXT.index(github_token()) + 9)
    await bench.run(answer(call("replace_selection", new_text=f'SECRET = "{token}')), answer("done"))
    assert bench.errors()[-1] == "invalid_arguments"


async def test_tokens_hold_after_a_restart(bench: Bench) -> None:
    path = bench.write("settings.py", TEXT)
    token = tokens_of(await read(bench))[0]
    bench.context.masks = SecretMasks()  # with the same key, and nothing known
    bench.session.seen.clear()
    edit = call("edit_file", path="settings.py", old_text=f'TOKEN = "{token}"', new_text=f'T = "{token}"')
    await bench.run(answer(edit), answer("done"))
    assert path.read_text() == TEXT.replace("TOKEN", "T")


RULED = Policy(ApprovalLevel.CAREFUL, allow=(Rule.parse("read_file(tests/**)"), Rule.parse("read_file(/outside/**)")))


async def test_an_allow_rule_with_a_specifier_shows_the_secrets_of_a_file(bench: Bench) -> None:
    bench.rules = RULED
    bench.write("tests/a.py", TEXT)
    bench.write("src/a.py", f'x = "{github_token(5)}"\n')
    assert await read(bench, "tests/a.py") == TEXT
    await bench.run(answer(call("search_text", pattern="TOKEN")), answer("done"))
    assert github_token() in bench.results()[-1]
    assert github_token(5) not in await read(bench, "src/a.py")


@pytest.mark.parametrize("rule", ["read_file", "read_files(tests/**)", "search_text", "edit_file(tests/**)"])
async def test_other_allow_rules_show_no_secrets(bench: Bench, rule: str) -> None:
    bench.rules = Policy(ApprovalLevel.CAREFUL, allow=(Rule.parse(rule),))
    bench.write("tests/a.py", TEXT)
    assert github_token() not in await read(bench, "tests/a.py")


async def test_an_allow_rule_for_a_file_outside_only_allows_to_read_it(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(TEXT)
    bench.rules = Policy(ApprovalLevel.CAREFUL, allow=(Rule.parse(f"read_file({outside})"),))
    shown = await read(bench, str(outside))
    assert bench.user.asked == []
    assert tokens_of(shown) != []
    assert github_token() not in shown


async def test_no_result_shows_a_secret(bench: Bench) -> None:
    """Files, lists, searches, commands, long results that are read later, diagnostics and errors."""
    text = f"{TEXT}{CRLF_KEY}"
    bench.write("settings.py", text)
    bench.write(".env", "PASSWORD=lowercase\n")
    bench.write("long.txt", "".join(f"{number} {github_token()}\n" for number in range(3000)))
    bench.context.result_tokens = 500
    message = f"invalid token {github_token()}"
    bench.editor.problems = [Diagnostic(bench.root / "settings.py", 2, 0, 1, message)]
    line = body_of(CRLF_KEY)[5][:20].replace("+", "\\+")
    await bench.run(
        answer(
            call("read_files", paths=["settings.py", "long.txt"]),
            call("read_file", path="settings.py", start_line=9, end_line=12),
            call("search_text", pattern="ghp_"),
            call("search_text", pattern=line),
            call("search_text", pattern="PASSWORD", glob=".env"),
            call("search_text", pattern=line, context_lines=2),
            call("read_diagnostics"),
            call("edit_file", path="settings.py", old_text='TOKEN = "nothing like it"', new_text="x"),
        ),
        answer(call("run_command", command="cat settings.py long.txt settings.py; ls -a")),
        answer("done"),
    )
    results = bench.results()
    assert "[masked-secret:private-key:" in results[3]
    assert tokens_of(results[5]) != []
    kept = [
        part.partition("result:")[2][:16] for result in results for part in result.split("path=") if "result:" in part
    ]
    assert kept
    for one in kept:
        assert github_token() not in (bench.context.results.find_result(one) or "")
    await bench.run(answer(*(call("read_file", path=f"result:{one}") for one in set(kept))), answer("done"))
    assert_nothing_leaked(bench)
    assert "lowercase" not in "".join(bench.results())


def test_a_context_masks_without_any_setup(bench: Bench) -> None:
    """Fail closed: nobody has to remember to turn it on."""
    assert isinstance(bench.context, ToolContext)
    assert github_token() not in bench.context.masks.mask_text(TEXT)


def commit_all(folder: Path) -> None:
    who = ("-c", "user.name=Me", "-c", "user.email=me@example.org")
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


async def test_changes_show_no_secret(bench: Bench) -> None:
    """Also of a file whose values have no shape."""
    bench.write(".env", "NAME=Web\n")
    bench.write("settings.py", "x = 1\n")
    commit_all(bench.root)
    bench.write(".env", "NAME=Web\nPASSWORD=lowercase\n")
    bench.write("settings.py", f"{TEXT}{CRLF_KEY}")
    await bench.run(answer(call("read_changes")), answer("done"))
    (result,) = bench.results()
    assert "+PASSWORD=[masked-secret:value:" in result
    assert len(tokens_of(result)) == 4 + len(body_of(CRLF_KEY)) - 1
    assert_nothing_leaked(bench)
