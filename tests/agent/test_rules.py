"""Which calls a permission rule speaks of: widely where it denies or asks, narrowly where it allows."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.agent.rules import Rule, command_parts
from tark_lsp.errors import SettingsError
from tark_lsp.tools.command import Command
from tark_lsp.tools.tool import Location, Preview, Risk, ToolKind
from tark_lsp.workspace.edits import ProposedEdit
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.snapshot import Snapshot
from tests.memory import MemoryBuffers


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace([tmp_path.resolve()], MemoryBuffers())


@pytest.fixture
def several(tmp_path: Path) -> Workspace:
    folders = [tmp_path.resolve() / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    return Workspace(folders, MemoryBuffers())


def reads(workspace: Workspace, name: str, folder: int = 0) -> Preview:
    return Preview("read", ToolKind.READ, Risk.READ_ONLY, (Location(workspace.folders[folder] / name),))


def edits(workspace: Workspace, *names: str) -> Preview:
    made = tuple(
        ProposedEdit.between(Snapshot(workspace.folders[0] / name, "", exists=False), "new\n") for name in names
    )
    return Preview("edit", ToolKind.EDIT, Risk.WRITE, edits=made)


def runs(workspace: Workspace, text: str) -> Preview:
    command = Command(("/bin/bash", "-c", text), text, workspace.folders[0])
    return Preview("run", ToolKind.EXECUTE, Risk.RISKY, command=command)


def searches(workspace: Workspace, *names: str) -> Preview:
    places = tuple(Location(workspace.folders[0] / name) for name in names)
    return Preview("search", ToolKind.SEARCH, Risk.READ_ONLY, places)


PARSED = {
    "read_file": Rule("read_file"),
    " edit_file ( src/** ) ": Rule("edit_file", " src/** "),
    "run_command(pytest *)": Rule("run_command", "pytest *"),
    "run_command(f() { x; })": Rule("run_command", "f() { x; }"),
    "mcp__server__tool": Rule("mcp__server__tool"),
    "*": Rule("*"),
    "mcp__*": Rule("mcp__*"),
}


@pytest.mark.parametrize("text", PARSED)
def test_parse(text: str) -> None:
    assert Rule.parse(text) == PARSED[text]


@pytest.mark.parametrize(
    "text", ["", "()", "read file", "read_file(", "read_file)", "read_file(a) b", "(src/**)", "a(b"]
)
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(SettingsError):
        Rule.parse(text)


EDIT_TOOLS = {
    *("edit_file", "replace_selection", "write_file", "propose_edit", "apply_patch"),
    *("delete_file", "move_file"),
}
READ_TOOLS = {"read_file", "read_files", "search_text"}
CHANGES = {"read_changes"}
MCP = {"mcp__server__tool"}
"""It can do anything, as far as rules know."""
SIBLINGS = [
    ("edit_file", EDIT_TOOLS | MCP),
    ("write_file", EDIT_TOOLS | MCP),
    ("propose_edit", EDIT_TOOLS | MCP),
    ("apply_patch", EDIT_TOOLS | MCP),
    ("delete_file", {"delete_file"}),
    ("move_file", {"move_file"}),
    ("read_file", READ_TOOLS | EDIT_TOOLS | CHANGES | {"read_skill"} | MCP),
    ("search_text", READ_TOOLS | EDIT_TOOLS | CHANGES | {"read_skill"} | MCP),
    ("read_skill", {"read_skill"}),
    ("run_command", {"run_command"} | CHANGES | MCP),
    ("read_changes", CHANGES),
    ("list_directory", {"list_directory"}),
    ("*_file", READ_TOOLS | EDIT_TOOLS | CHANGES | {"read_skill"} | MCP),
    ("mcp__*", MCP),
    ("mcp__server", MCP),
    ("mcp__serve", set()),
    ("*", READ_TOOLS | EDIT_TOOLS | CHANGES | {"run_command", "list_directory", "mcp__server__tool", "read_skill"}),
]


@pytest.mark.parametrize(("rule", "spoken_for"), SIBLINGS)
def test_a_rule_speaks_for_its_siblings(rule: str, spoken_for: set[str], workspace: Workspace) -> None:
    names = READ_TOOLS | EDIT_TOOLS | CHANGES | {"run_command", "list_directory", "mcp__server__tool", "read_skill"}
    preview = reads(workspace, "a")
    assert {name for name in names if Rule(rule).concerns(name, preview, workspace)} == set(spoken_for)


# a rule, and whether it speaks of a call of read_changes for src/ whose .git is at /elsewhere
OF_CHANGES = {
    "run_command(git *)": True,
    "run_command(git diff *)": True,
    "run_command(git push *)": False,
    "run_command(rm *)": False,
    "read_changes(git *)": True,
    "read_file(src)": False,
    "read_changes(*HEAD*)": True,
    "read_file(/elsewhere/**)": True,
    "search_text(**)": True,
    "read_file": True,
    "run_command": True,
    "read_file(*)": False,
    "read_file(*.md)": False,
    "read_file(src/secret)": False,
    "read_file(git *)": False,
    "edit_file(src)": False,
    "*(git *)": True,
}


@pytest.mark.parametrize("rule", OF_CHANGES)
def test_rules_for_commands_and_for_reading_speak_of_read_changes(rule: str, workspace: Workspace) -> None:
    root = workspace.folders[0]
    argv = ("/usr/bin/git", "--no-pager", "-c", "diff.external=", "--git-dir=.git", "diff", "HEAD", "--", "a.md")
    command = Command(argv, " ".join(argv), root)
    places = (Location(root / "src"),)
    preview = Preview("x", ToolKind.READ, Risk.RISKY, places, command=command, outside=(Path("/elsewhere/.git"),))
    assert Rule.parse(rule).concerns("read_changes", preview, workspace) == OF_CHANGES[rule]


# a rule, a call's tool and edits (+ new text, - removed, > moved to): does it speak of them?
OPERATIONS = [
    ("edit_file(src/**)", "delete_file", "-src/a", True),
    ("edit_file(src/**)", "move_file", "src/a > docs/a", True),
    ("edit_file(src/**)", "move_file", "docs/a > src/a", True),
    ("edit_file(src/**)", "move_file", "docs/a > docs/b", False),
    ("edit_file(src/**)", "apply_patch", "+docs/a, -src/a", True),
    ("read_file(src/**)", "move_file", "docs/a > src/a", True),
    ("delete_file(src/**)", "delete_file", "-src/a", True),
    ("delete_file(src/**)", "apply_patch", "+src/b, -src/a", True),
    ("delete_file(src/**)", "apply_patch", "+src/b, -docs/a", False),
    ("delete_file(src/**)", "edit_file", "+src/a", False),
    ("delete_file", "apply_patch", "-src/a", True),
    ("delete_file", "apply_patch", "+src/a", False),
    ("delete_file", "move_file", "src/a > docs/a", False),
    ("move_file(src/**)", "apply_patch", "docs/a > src/a", True),
    ("move_file(src/**)", "apply_patch", "docs/a > docs/b, +src/a", False),
    ("delete_*", "apply_patch", "-src/a", True),
    ("apply_patch(src/**)", "edit_file", "+src/a", True),
]


def operations(workspace: Workspace, words: str) -> Preview:
    root = workspace.folders[0]
    made = []
    for word in words.split(", "):
        name, _, target = word.strip("+-").partition(" > ")
        base = Snapshot(root / name, "old\n")
        if word.startswith("-"):
            made.append(ProposedEdit.removal(base))
        elif target:
            made.append(ProposedEdit(base.path, base, (), target=root / target))
        else:
            made.append(ProposedEdit.between(base, "new\n"))
    return Preview("edit", ToolKind.EDIT, Risk.WRITE, edits=tuple(made))


@pytest.mark.parametrize(("rule", "tool", "words", "expected"), OPERATIONS)
def test_a_rule_speaks_of_what_is_done_to_files(
    rule: str, tool: str, words: str, expected: bool, workspace: Workspace
) -> None:
    assert Rule.parse(rule).concerns(tool, operations(workspace, words), workspace) == expected


def test_a_move_is_allowed_where_both_ends_are(workspace: Workspace) -> None:
    rule = Rule("move_file", "src/**")
    assert rule.allows("move_file", operations(workspace, "src/a > src/b"), workspace)
    assert not rule.allows("move_file", operations(workspace, "src/a > docs/b"), workspace)
    assert not rule.allows("move_file", operations(workspace, "docs/a > src/b"), workspace)


# a specifier, and the files it matches and does not
GLOBS = {
    "src/**": (["src/a", "src/b/c", "src/.x"], ["a", "srcs/a", "b/src/a"]),
    "src/*": (["src/a"], ["src/b/c", "a"]),
    "**/*.pem": (["a.pem", "b/c/a.pem"], ["a.pem/b", "pem"]),
    "**/.env": ([".env", "a/.env"], [".env.local", "a.env"]),
    "a?.py": (["ab.py"], ["a.py", "abc.py", "a/.py"]),
    "[a].py": (["[a].py"], ["a.py"]),
    "./secrets/**": (["secrets/a"], ["a"]),
    "secrets/": (["secrets/a", "secrets/b/c"], ["secret/a"]),
    "**": (["a", "b/c"], []),
    "Secrets/**": (["secrets/a", "SECRETS/a"], []),
    "grüße": ([unicodedata.normalize("NFD", "grüße"), "GRÜSSE"], ["grusse"]),
    "a\nb": (["a\nb"], ["a"]),
}


@pytest.mark.parametrize("specifier", GLOBS)
def test_globs(specifier: str, workspace: Workspace) -> None:
    matching, others = GLOBS[specifier]
    rule = Rule("read_file", specifier)
    assert [name for name in matching if not rule.concerns("read_files", reads(workspace, name), workspace)] == []
    assert [name for name in others if rule.concerns("read_files", reads(workspace, name), workspace)] == []


def test_absolute_names_and_places_outside(workspace: Workspace) -> None:
    root = workspace.folders[0]
    assert Rule("read_file", f"{root}/secrets/**").concerns("read_file", reads(workspace, "secrets/a"), workspace)
    outside = Preview("read", ToolKind.READ, Risk.READ_ONLY, outside=(Path("/etc/passwd"),))
    assert Rule("read_file", "/etc/**").concerns("read_file", outside, workspace)
    assert not Rule("read_file", "etc/**").concerns("read_file", outside, workspace)


@pytest.mark.parametrize("specifier", ["secrets/**", "two:secrets/**"])
def test_a_rule_holds_in_each_of_several_folders(specifier: str, several: Workspace) -> None:
    rule = Rule("read_file", specifier)
    assert rule.concerns("read_file", reads(several, "secrets/a", 1), several)
    assert rule.concerns("read_file", reads(several, "secrets/a", 0), several) == (specifier == "secrets/**")


def test_one_file_of_many_is_enough_to_deny_and_all_are_needed_to_allow(workspace: Workspace) -> None:
    both = edits(workspace, "src/a", "docs/b")
    assert Rule("edit_file", "src/**").concerns("edit_file", both, workspace)
    assert not Rule("edit_file", "src/**").allows("edit_file", both, workspace)
    assert Rule("edit_file", "src/**").allows("edit_file", edits(workspace, "src/a", "src/b"), workspace)
    assert Rule("edit_file").allows("edit_file", both, workspace)


ALLOW_NOT = [
    ("write_file(src/**)", "edit_file", "a sibling"),
    ("*", "edit_file", "a glob over tools"),
    ("edit_file(SRC/**)", "edit_file", "another case"),
    ("edit_file(src/*/x)", "edit_file", "another path"),
]


@pytest.mark.parametrize(("rule", "tool", "why"), ALLOW_NOT)
def test_what_allows_is_read_narrowly(rule: str, tool: str, why: str, workspace: Workspace) -> None:
    assert not Rule.parse(rule).allows(tool, edits(workspace, "src/a"), workspace), why


@pytest.mark.parametrize("rule", ["run_command", "run_command(ls)", "run_command(*)", "run_command(ls *)"])
def test_no_rule_allows_a_command_without_a_sandbox(rule: str, workspace: Workspace) -> None:
    assert not Rule.parse(rule).allows("run_command", runs(workspace, "ls"), workspace)


REACHED = [
    ("secrets/**", (), True),
    ("secrets/**", ("secrets",), True),
    ("secrets/**", ("secrets/deep",), True),
    ("secrets/**", ("src",), False),
    ("secrets/deep/*.pem", ("secrets",), True),
    ("secrets/deep/*.pem", ("secrets/other",), False),
    ("**/*.pem", ("src",), True),
    ("*.pem", (), True),
    (".env", ("src", "."), True),
    ("SECRETS/**", ("secrets",), True),
]


@pytest.mark.parametrize(("specifier", "folders", "expected"), REACHED)
def test_a_search_reaches_what_may_be_below_its_folder(
    specifier: str, folders: tuple[str, ...], expected: bool, workspace: Workspace
) -> None:
    rule = Rule("read_file", specifier)
    assert rule.reaches("search_text", searches(workspace, *folders), workspace) == expected
    assert not rule.reaches("find_files", searches(workspace, *folders), workspace)
    assert not rule.reaches("read_file", reads(workspace, "."), workspace)


# command lines that hold the command `rm` (deny and ask look through all this)
HIDDEN = """rm -rf x
/bin/rm -rf x
ls; rm -rf x
ls && rm -rf x
ls | rm -rf x
ls & rm -rf x
(rm -rf x)
{ rm -rf x; }
$(rm -rf x)
`rm -rf x`
echo "$(rm -rf x)"
X=1 rm -rf x
sudo rm -rf x
sudo -u root rm -rf x
/usr/bin/sudo -n rm -rf x
env -i PATH=/bin rm -rf x
env -u HOME rm -rf x
nohup rm -rf x
timeout 5 rm -rf x
timeout -s KILL 1.5d rm -rf x
nice -n 10 rm -rf x
xargs rm -rf x
find . | xargs -n 1 rm -rf x
find . -exec rm -rf x ;
sh -c 'rm -rf x'
bash -c "rm -rf x"
bash -c rm\\ -rf\\ x
time rm -rf x
exec rm -rf x
command rm -rf x
if true; then rm -rf x; fi
while rm -rf x; do ls; done
for f in a; do rm -rf x; done
! rm -rf x
r''m -rf x
\\rm -rf x
"rm" -rf x
rm$IFS-rf x
2>/dev/null rm -rf x
>out rm -rf x
cat <(rm -rf x)
{rm,-rf,x}
sudo {rm,-rf,x}
{,rm} -rf x
env {A=1,rm} -rf x""".splitlines()


@pytest.mark.parametrize("text", [*HIDDEN, "ls\nrm -rf x", "rm \\\n -rf x", "r\\\nm -rf x", "r\\\r\nm -rf x"])
def test_commands_are_looked_through(text: str, workspace: Workspace) -> None:
    rule = Rule("run_command", "rm *")
    assert rule.concerns("run_command", runs(workspace, text), workspace), command_parts(text)


@pytest.mark.parametrize("text", ["ls -l", "git rm x", "grep rm x", "rmdir x", "echo rm", "./farm x", "cat rm"])
def test_other_commands_are_others(text: str, workspace: Workspace) -> None:
    assert not Rule("run_command", "rm *").concerns("run_command", runs(workspace, text), workspace)


COMMAND_GLOBS = {
    "git push *": (
        ["git push", "git push -f", "ls; git  push origin", "git -C x --no-pager push", "/bin/git -c a=b push -f"],
        ["git pull", "git pushy", "git -C push pull"],
    ),
    "pytest": (["pytest", "sudo pytest"], ["pytest -q"]),
    "npm run *": (["npm run build", "npm run"], ["npm install", "npm running"]),
    "*": (["anything", "a; b"], []),
    "* --force": (["git push --force"], ["git push --force-with-lease"]),
    "git push *--force*": (["git push origin --force-with-lease"], ["git push"]),
    "a.b": (["a.b"], ["axb"]),
}


@pytest.mark.parametrize("specifier", COMMAND_GLOBS)
def test_command_globs(specifier: str, workspace: Workspace) -> None:
    matching, others = COMMAND_GLOBS[specifier]
    rule = Rule("run_command", specifier)
    assert [text for text in matching if not rule.concerns("run_command", runs(workspace, text), workspace)] == []
    assert [text for text in others if rule.concerns("run_command", runs(workspace, text), workspace)] == []


WORDS = st.sampled_from(
    ["ls", "rm", "-rf", "sudo", "x", "'", '"', ";", "&&", "$(", ")", "\\", "\n", "<", ">", "=", "$IFS"]
)


@given(st.lists(WORDS, max_size=12), st.sampled_from(["", " "]))
def test_any_command_line_has_parts(words: list[str], joiner: str) -> None:
    parts = command_parts(joiner.join(words))
    assert all(part.strip() for part in parts)


# Pages


def fetches(url: str) -> Preview:
    return Preview(f"fetch {url}", ToolKind.FETCH, Risk.RISKY, url=url)


PAGES = {
    # rule: what it denies or asks for beside what it allows, what it allows, what it does not speak of
    "fetch": ("http://a.org/", "https://docs.python.org:8443/3/", ""),
    "fetch()": ("https://a.org/", "", ""),
    "fetch(docs.python.org)": (
        "http://docs.python.org/ https://docs.python.org:8443/ https://en.docs.python.org/x",
        "https://docs.python.org/ https://docs.python.org/3/?q=evil.org",
        "https://python.org/ https://evildocs.python.org/ https://docs.python.org.evil.org/ https://evil.org/docs.python.org",
    ),
    "fetch(Docs.Python.org)": ("http://docs.python.org/", "https://docs.python.org/", "https://python.org/"),
    "fetch(docs.python.org.)": ("https://docs.python.org/", "", "https://python.org/"),
    "fetch(*.python.org)": (
        "http://docs.python.org/ https://python.org/ https://docs.python.org:8443/",
        "https://docs.python.org/ https://a.b.python.org/",
        "https://evilpython.org/ https://python.org.evil.org/",
    ),
    "fetch(python.org:8443)": ("https://python.org/", "https://python.org:8443/", "https://docs.org/"),
    "fetch(https://python.org/3/)": ("https://python.org/ https://docs.python.org/", "", "https://evil.org/"),
    "fetch(b\u00fccher.example)": ("https://xn--bcher-kva.example/", "", "https://bucher.example/"),
    "fetch([2606:4700:0::1111]:8443)": ("https://[2606:4700::1111]/", "", "https://[2606:4700::1112]/"),
    "fetch(93.184.216.34)": ("http://93.184.216.34/", "https://93.184.216.34/", "https://93.184.216.3/"),
    "fetch(*)": ("http://a.org/", "https://a.org/ https://a.org:8443/", ""),
    "run_command(curl *)": ("", "", "https://a.org/"),
    "read_file(**)": ("", "", "https://a.org/"),
}


@pytest.mark.parametrize("text", PAGES)
def test_rules_for_pages(text: str, workspace: Workspace) -> None:
    rule = Rule.parse(text)
    denied, allowed, others = (page.split() for page in PAGES[text])
    for url in denied:
        assert rule.concerns("fetch", fetches(url), workspace), url
        assert rule.specifier is None or not rule.allows("fetch", fetches(url), workspace), url
    for url in allowed:
        assert rule.allows("fetch", fetches(url), workspace), url
        assert rule.concerns("fetch", fetches(url), workspace), "what it allows it would deny"
    for url in others:
        assert not rule.concerns("fetch", fetches(url), workspace), url
        assert not rule.allows("fetch", fetches(url), workspace), url


def test_a_rule_for_pages_speaks_of_no_file(workspace: Workspace) -> None:
    assert not Rule.parse("fetch(src)").concerns("read_file", reads(workspace, "src"), workspace)
    assert not Rule.parse("*(src/**)").allows("fetch", fetches("https://src/"), workspace)
