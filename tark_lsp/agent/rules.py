"""Permission rules, `tool` or `tool(specifier)`, and the calls that each rule covers. Pure.

A deny or ask rule is interpreted widely: it covers siblings of the tool, every part of a command, and every name of a
path. An allow rule is interpreted narrowly: it covers only the tool that it names, and must match the whole call. It
covers a command only if that runs in the sandbox, cannot access more than the workspace, and its words are certain.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tark_lsp.commands.patterns import ANY, matches
from tark_lsp.errors import SettingsError
from tark_lsp.tools import load_tools
from tark_lsp.tools.command import Command
from tark_lsp.tools.danger import KEYWORDS, WRAPPERS
from tark_lsp.tools.facts import STRICTEST
from tark_lsp.tools.tool import Preview, Tool, ToolKind
from tark_lsp.tools.urls import plain_host
from tark_lsp.workspace.edits import Operation
from tark_lsp.workspace.files import Workspace
from tark_lsp.workspace.globs import expand_braces, folded
from tark_lsp.workspace.wildcards import command_pattern, path_pattern

STARTERS = WRAPPERS | {"sudo", "doas", "su", "pkexec", "run0", "runas", "chroot", "nsenter"}
"""Programs that start other programs, so any word after one of them can be a program."""

GIT_TAKES = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"})
"""Options of git that come before its subcommand and take the next word as their value."""


LONGEST_COMMAND, MOST_CHARACTERS = 20_000, 500_000
"""The most characters of a command that is compared with rules, and of all its parts together. The parts can be longer
than the command, because each word after `sudo` begins a part."""

MOST_BRACES = 64
"""The most braces in a word of a command, and the most words that it can expand to."""

MCP = "mcp__"
HASHED_END = re.compile(r"_[0-9a-f]{8}$")
"""The end of an MCP tool's name that contains a digest (mcp/names.py)."""

REDIRECTION = re.compile(r"(?<!\d)\d*(?:>>?|<)[&|]?\s*[^\s;&|<>()]+")


UNLIKELY_NAME = "\x01no pattern names this\x01"


class CommandTooLong(Exception):
    """The command is too long to be compared with rules, so the user must be asked."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`specifier` is a glob over workspace paths, command lines, or hosts of URLs.

    As a deny or ask rule, `fetch(python.org)` covers that host on every port, and all its subdomains
    (`docs.python.org`). As an allow rule, it covers only that host, with https. `fetch(*.python.org)` allows the
    subdomains, `fetch(python.org:8443)` another port.
    """

    tool: str
    specifier: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Raises SettingsError if `text` is not a rule."""
        found = re.fullmatch(r"\s*([A-Za-z0-9_*-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
        if not found:
            raise SettingsError(f"not a permission rule: {text!r}", hint="write tool or tool(specifier)")
        return cls(found[1], found[2])

    def __str__(self) -> str:
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"

    def is_about(self, tool: str) -> bool:
        """For deny and ask: whether the rule names the tool, or a tool whose rules also cover it (tools/facts.py)."""
        called = load_tools().get(tool)
        facts = STRICTEST if called is None else called.facts  # a tool of an MCP server can do anything
        return self._names(tool) or any(named.facts.rule_covers(facts) for named in self._named_tools())

    @property
    def is_about_reading(self) -> bool:
        """For deny and ask: whether the rule covers all tools that show text of files."""
        return any(named.facts.reads and named.facts.rule_subject == "siblings" for named in self._named_tools())

    def concerns(self, tool: str, preview: Preview, workspace: Workspace) -> bool:
        """For deny and ask: whether the rule covers any part of the call. Raises CommandTooLong."""
        named = self.is_about(tool)
        edits = [edit for edit in preview.edits if named or self._is_about_operation(edit.operation)]
        if not named and not edits:
            return False
        if self.specifier is None or (preview.mcp is not None and self._names(tool)):
            return True  # the argument that the specifier means is unknown
        if preview.url and named and _names_host(self.specifier, urlsplit(preview.url).hostname or ""):
            return True
        if preview.command is not None and self._names_commands(tool):
            pattern = command_pattern(self.specifier)
            lines = (preview.command.text, *command_parts(preview.command.text))
            if any(pattern.fullmatch(line) for line in lines):
                return True
        paths = [path for edit in edits for path in edit.paths]
        if named:
            # A tool that runs Tark's own command leaves out single files below its location, not the whole location.
            places = [place.path for place in preview.locations] if preview.command is None else []
            paths += [*places, *preview.outside]
            if any(self._covers_folder(path, workspace) for path in places):
                return True
        return any(self.matches(path, workspace) for path in paths)

    def _names(self, tool: str) -> bool:
        """Whether the rule names the tool. `mcp__SERVER` names all tools of that server."""
        names = (tool, HASHED_END.sub("", tool), server_part(tool)) if tool.startswith(MCP) else (tool,)
        return any(path_pattern(self.tool).fullmatch(name) for name in names if name)

    def _named_tools(self) -> list[Tool[Any]]:
        return [tool for tool in load_tools().values() if self._names(tool.name)]

    def _names_commands(self, tool: str) -> bool:
        """Whether the specifier applies to command lines of this tool: the rule names the tool, or `run_command`."""
        return self._names(tool) or any(
            named.facts.runs and named.facts.rule_subject == "siblings" for named in self._named_tools()
        )

    def _is_about_operation(self, operation: Operation) -> bool:
        """Whether the rule is about this operation: a rule for `delete_file` covers a patch that deletes a file."""
        return any(self.is_about(tool.name) for tool in load_tools().values() if tool.facts.rule_subject == operation)

    def reaches(self, tool: str, preview: Preview, workspace: Workspace) -> bool:
        """Whether the call searches a folder that can contain files that the rule covers."""
        if self.specifier is None or preview.kind is not ToolKind.SEARCH or not self.is_about(tool):
            return False
        folders = [place.path for place in preview.locations] or workspace.folders
        return self.can_match_below(folders, workspace)

    def can_match_below(self, folders: Iterable[Path], workspace: Workspace) -> bool:
        """Whether the rule can match a path below any of these folders, even if no such file exists."""
        return any(_may_hold(name, pattern) for folder in folders for name, pattern in self._pairs(folder, workspace))

    def _covers_folder(self, path: Path, workspace: Workspace) -> bool:
        """Whether the rule matches everything below the path, so that a search there can show nothing."""
        return self.matches(path / UNLIKELY_NAME, workspace) and self.matches(path / UNLIKELY_NAME / "x", workspace)

    def matches(self, path: Path, workspace: Workspace) -> bool:
        """Whether any name of the path matches, ignoring case and Unicode form. For these rules, too many matches are
        safe."""
        return any(path_pattern(pattern).fullmatch(name) for name, pattern in self._pairs(path, workspace))

    def allows(self, tool: str, preview: Preview, workspace: Workspace) -> bool:
        """Whether the rule covers the whole call, and names this tool, its MCP server, or a tool that runs the same
        commands."""
        called = load_tools().get(tool)
        if self.tool not in {tool, server_part(tool), called.facts.allowed_as if called is not None else tool}:
            return False
        if preview.command is not None:
            return _covers_command(self.specifier or ANY, preview.command)
        if self.specifier is None:
            return True
        if preview.url:
            parts = urlsplit(preview.url)
            return parts.scheme == "https" and path_pattern(self.specifier.lower()).fullmatch(parts.netloc) is not None
        pattern = path_pattern(_whole(self.specifier))
        paths = [*(path for edit in preview.edits for path in edit.paths), *preview.outside]
        return bool(paths) and all(pattern.fullmatch(workspace.display(path)) for path in paths)

    def _pairs(self, path: Path, workspace: Workspace) -> list[tuple[str, str]]:
        """Every name of the path, with the pattern to match it against."""
        pattern = _whole(self.specifier or "**")
        names = {workspace.display(path), path.as_posix()}
        names |= {path.relative_to(one).as_posix() for one in workspace.folders if path.is_relative_to(one)}
        return [pair for name in names for pair in ((name, pattern), (folded(name), folded(pattern)))]


def server_part(tool: str) -> str:
    """`mcp__SERVER` for the tool of an MCP server; empty for other tools."""
    server, separator, _ = tool.removeprefix(MCP).partition("__")
    return f"{MCP}{server}" if tool.startswith(MCP) and separator else ""


@lru_cache(maxsize=8)
def command_parts(command: str) -> tuple[str, ...]:
    """The simple commands of a command line, including those after wrappers. Good enough for deny and ask rules, but
    not for allow rules.

    Quoting is ignored on purpose: quoted text can also be run (`sh -c`), and a deny rule that matches too often is
    safe. Raises CommandTooLong if the command, or all its parts together, are too long to be compared with rules.
    """
    if len(command) > LONGEST_COMMAND:
        raise CommandTooLong
    parts: dict[str, None] = {}
    room = MOST_CHARACTERS
    for text in _readings(command):
        for piece in re.split(r"[;&|\n(){}`'\"]", REDIRECTION.sub(" ", text)):
            for words in _programs(piece.split()):
                name = re.split(r"[/\\]", words[0])[-1] or words[0]
                for rest in (words[1:], _after_git_options(words[1:]) if name == "git" else words[1:]):
                    part = " ".join([name, *rest])
                    room -= len(part)
                    if room < 0:
                        raise CommandTooLong
                    parts[part] = None
    return tuple(parts)


def _readings(command: str) -> Iterator[str]:
    """The ways in which a shell could read the command: with and without quotes, line continuations, `$IFS`, braces."""
    spaced = re.sub(r"\\\r?\n|\$IFS\b|\$\{IFS\}", " ", command)
    yield spaced
    unquoted = re.sub(r"['\"\\]", "", spaced)
    yield unquoted
    if (joined := re.sub(r"['\"]|\\(?:\r?\n)?", "", command)) != unquoted:
        yield joined
    if "{" in joined and "," in joined:
        yield " ".join(word for text in joined.split(" ") for word in _expanded(text))


def _expanded(word: str) -> Iterator[str]:
    if word.count("{") > MOST_BRACES:
        raise CommandTooLong
    for number, text in enumerate(expand_braces(word)):
        if number == MOST_BRACES:
            raise CommandTooLong
        yield text


def _after_git_options(words: list[str]) -> list[str]:
    """The words from git's subcommand on, so that `git -c x=y push` counts as `git push`."""
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in GIT_TAKES else 1 :]
    return words


def _programs(words: list[str]) -> list[list[str]]:
    """The words from every position where a program can be: after keywords and assignments, and after a wrapper."""
    while words and (words[0] in KEYWORDS or re.match(r"[A-Za-z_]\w*\+?=|\$$", words[0])):
        words = words[1:]
    if not words:
        return []
    if words[0].rsplit("/", 1)[-1] not in STARTERS:
        return [words]
    return [words[place:] for place in range(len(words))]


def _covers_command(pattern: str, command: Command) -> bool:
    """Whether each part of the command matches the pattern, word for word."""
    if not command.confined or command.beyond or not command.parts:
        return False
    return all(matches(pattern, part) for part in command.parts)


def _names_host(specifier: str, host: str) -> bool:
    """Whether the specifier names the host or a parent domain. Case, scheme, port and path are ignored."""
    named = re.sub(r"^\w+://", "", folded(specifier.strip())).split("/")[0].removeprefix("*.")
    if (bare := re.fullmatch(r"\[(.*)\](?::\d*)?|([^:]*):\d*", named)) is not None:
        named = bare[1] or bare[2] or ""
    with suppress(ValueError):  # if it is a pattern, or not a host, it is compared unchanged
        named = plain_host(named)
    return not named or any(path_pattern(pattern).fullmatch(host) for pattern in (named, f"*.{named}"))


def _whole(specifier: str) -> str:
    """`./src/` means everything in `src`."""
    specifier = specifier.removeprefix("./")
    return f"{specifier}**" if specifier.endswith("/") else specifier


def _may_hold(folder: str, pattern: str) -> bool:
    """Whether the pattern can match a path below the folder."""
    steps = pattern.split("/")
    for name, step in zip([] if folder in (".", "") else folder.split("/"), steps, strict=False):
        if "**" in step:
            return True
        if not path_pattern(step).fullmatch(name):
            return False
    return True
