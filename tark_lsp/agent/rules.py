"""Permission rules: `tool` or `tool(specifier)`, and which calls each of them speaks of. Pure.

What denies or asks is read widely: siblings of the tool, every part of a command, every name of a path. What allows is
read narrowly: that very tool, the whole call, never a command.
"""

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from tark_lsp.errors import SettingsError
from tark_lsp.tools.danger import KEYWORDS, WRAPPERS
from tark_lsp.tools.tool import Preview, ToolKind
from tark_lsp.tools.urls import plain_host
from tark_lsp.workspace.edits import Operation
from tark_lsp.workspace.files import Workspace

TEXT_TOOLS = frozenset({"edit_file", "replace_selection", "write_file", "propose_edit", "apply_patch"})
EDIT_TOOLS = TEXT_TOOLS | {"delete_file", "move_file"}
READ_TOOLS = frozenset({"read_file", "read_files", "search_text"})
CHANGES = frozenset({"read_changes"})
SPEAKS_FOR = (
    dict.fromkeys(TEXT_TOOLS, EDIT_TOOLS)
    | dict.fromkeys(READ_TOOLS, READ_TOOLS | EDIT_TOOLS | CHANGES | {"read_skill"})
    | {"run_command": CHANGES | {"run_command"}}
)
"""A deny or ask rule for one tool speaks for its siblings: else the model would take those. One for reading speaks for
editing, too: who edits a file gets to see its lines. Those for deleting and moving speak of that alone, by any tool.
Changes are read by commands of ours, so rules for commands speak of them as much as those for reading do."""

ACTS_AS: dict[Operation, str] = {"remove": "delete_file", "move": "move_file"}
"""A rule for these tools is one for what they do: a patch that deletes a file is as good as `delete_file`."""

STARTERS = WRAPPERS | {"sudo", "doas", "su", "pkexec", "run0", "runas", "chroot", "nsenter"}
"""Programs that start others, so that any word after one of them may be a program."""

GIT_TAKES = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"})
"""Options before git's own command that take the next word."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`specifier` is a glob over workspace paths, over command lines, or over the hosts of URLs.

    `fetch(python.org)` denies or asks for that host, whatever the port, and all below it (`docs.python.org`); it allows
    that very host alone, by https. `fetch(*.python.org)` allows those below it, `fetch(python.org:8443)` another port.
    """

    tool: str
    specifier: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Rule":
        """Raises SettingsError where `text` is not a rule."""
        found = re.fullmatch(r"\s*([A-Za-z0-9_*-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
        if not found:
            raise SettingsError(f"not a permission rule: {text!r}", hint="write tool or tool(specifier)")
        return cls(found[1], found[2])

    def __str__(self) -> str:
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"

    def names(self, tool: str) -> bool:
        """Does it speak of the tool, itself or as a sibling?"""
        named = _glob(self.tool)
        return any(named.fullmatch(name) and tool in SPEAKS_FOR.get(name, {name}) for name in {tool, *SPEAKS_FOR})

    def concerns(self, tool: str, preview: Preview, workspace: Workspace) -> bool:
        """For deny and ask: does it touch any part of the call?"""
        named = self.names(tool)
        edits = [edit for edit in preview.edits if named or self._acts(edit.operation)]
        if not named and not edits:
            return False
        if self.specifier is None:
            return True
        if preview.url and named and self._holds(urlsplit(preview.url).hostname or ""):
            return True
        if preview.command is not None and self._names_any(tool, "run_command"):
            pattern = _command_glob(self.specifier)
            lines = (preview.command.text, *command_parts(preview.command.text))
            if any(pattern.fullmatch(line) for line in lines):
                return True
        paths = [path for edit in edits for path in edit.paths]
        if named:
            # What a command of ours reads below its place is kept back file by file, not as a whole.
            places = preview.locations if preview.command is None else ()
            paths += [*(place.path for place in places), *preview.outside]
        return any(self.matches(path, workspace) for path in paths)

    def _names_any(self, *tools: str) -> bool:
        return any(_glob(self.tool).fullmatch(name) for name in tools)

    def _acts(self, operation: Operation) -> bool:
        return operation in ACTS_AS and self.names(ACTS_AS[operation])

    def reaches(self, tool: str, preview: Preview, workspace: Workspace) -> bool:
        """Does the call search a folder that may hold files the rule speaks of?"""
        if self.specifier is None or preview.kind is not ToolKind.SEARCH or not self.names(tool):
            return False
        folders = [place.path for place in preview.locations] or workspace.folders
        return any(_may_hold(name, pattern) for folder in folders for name, pattern in self._pairs(folder, workspace))

    def matches(self, path: Path, workspace: Workspace) -> bool:
        """By any of the path's names, case and Unicode form aside: a rule that holds once too often is safe."""
        return any(_glob(pattern).fullmatch(name) for name, pattern in self._pairs(path, workspace))

    def allows(self, tool: str, preview: Preview, workspace: Workspace) -> bool:
        """Does it name this very tool and cover the whole call? Commands are never allowed by rule yet."""
        if self.tool != tool or preview.command is not None:
            return False
        if self.specifier is None:
            return True
        if preview.url:
            parts = urlsplit(preview.url)
            return parts.scheme == "https" and _glob(self.specifier.lower()).fullmatch(parts.netloc) is not None
        pattern = _glob(_whole(self.specifier))
        paths = [*(path for edit in preview.edits for path in edit.paths), *preview.outside]
        return bool(paths) and all(pattern.fullmatch(workspace.display(path)) for path in paths)

    def _holds(self, host: str) -> bool:
        """Is it the host the rule names, or below it? Case, and what stands around the name, do not matter."""
        named = re.sub(r"^\w+://", "", _plain((self.specifier or "").strip())).split("/")[0].removeprefix("*.")
        if (bare := re.fullmatch(r"\[(.*)\](?::\d*)?|([^:]*):\d*", named)) is not None:
            named = bare[1] or bare[2] or ""
        with suppress(ValueError):  # a pattern, or no host at all: compared as it is
            named = plain_host(named)
        return not named or any(_glob(pattern).fullmatch(host) for pattern in (named, f"*.{named}"))

    def _pairs(self, path: Path, workspace: Workspace) -> list[tuple[str, str]]:
        """Each name of the path with the pattern to compare it with."""
        pattern = _whole(self.specifier or "**")
        names = {workspace.display(path), path.as_posix()}
        names |= {path.relative_to(one).as_posix() for one in workspace.folders if path.is_relative_to(one)}
        return [pair for name in names for pair in ((name, pattern), (_plain(name), _plain(pattern)))]


def command_parts(command: str) -> tuple[str, ...]:
    """The simple commands of a command line, wrappers looked through: enough to deny and ask by, never to allow.

    Quoting is not honoured on purpose: what is inside quotes may be run all the same (`sh -c`), and a deny rule that
    matches once too often is safe.
    """
    parts: dict[str, None] = {}
    plain = re.sub(r"\\\r?\n|\$IFS\b|\$\{IFS\}", " ", command)
    unquoted = re.sub(r"['\"\\]", "", plain)
    for text in (plain, unquoted):
        for piece in re.split(r"[;&|\n(){}`'\"]", re.sub(r"\d*(?:>>?|<)[&|]?\s*[^\s;&|<>()]+", " ", text)):
            for words in _programs(piece.split()):
                name = re.split(r"[/\\]", words[0])[-1] or words[0]
                for rest in (words[1:], _after_git_options(words[1:]) if name == "git" else words[1:]):
                    parts[" ".join([name, *rest])] = None
    return tuple(parts)


def _after_git_options(words: list[str]) -> list[str]:
    """From git's own command on, so that `git -c x=y push` is a `git push`."""
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in GIT_TAKES else 1 :]
    return words


def _programs(words: list[str]) -> list[list[str]]:
    """The words from where a program may begin: after keywords and assignments, and anywhere after a wrapper."""
    while words and (words[0] in KEYWORDS or re.match(r"[A-Za-z_]\w*\+?=|\$$", words[0])):
        words = words[1:]
    if not words:
        return []
    if words[0].rsplit("/", 1)[-1] not in STARTERS:
        return [words]
    return [words[place:] for place in range(len(words))]


def _whole(specifier: str) -> str:
    """`./src/` means all that is in `src`."""
    specifier = specifier.removeprefix("./")
    return f"{specifier}**" if specifier.endswith("/") else specifier


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _may_hold(folder: str, pattern: str) -> bool:
    """Whether the pattern can match a path below the folder."""
    steps = pattern.split("/")
    for name, step in zip([] if folder in (".", "") else folder.split("/"), steps, strict=False):
        if "**" in step:
            return True
        if not _glob(step).fullmatch(name):
            return False
    return True


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    """`*` within one path segment, `**` across segments, `?` one character."""
    pieces = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile(
        "".join(pieces.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern)), re.DOTALL
    )


@lru_cache(maxsize=256)
def _command_glob(pattern: str) -> re.Pattern[str]:
    """`*` matches anything; a trailing ` *` also matches the command with no arguments."""
    if pattern.endswith(" *"):
        return re.compile(re.escape(pattern[:-2]).replace(r"\*", ".*") + r"(?:\s.*)?", re.DOTALL)
    return re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL)
