"""Names of files that decide what runs on the user's machine or what an agent is told: every edit needs permission."""

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase, translate
from functools import cache, lru_cache
from pathlib import PurePath

PROTECTED = (
    # version control: hooks, filters and settings that execute
    *(".git", ".gitmodules", ".gitattributes", ".gitconfig", ".hg", ".svn", ".jj", ".husky", ".pre-commit-config.y*ml"),
    ".tark",
    # editors: tasks, settings and local files they execute
    *(".vscode", ".idea", ".zed", ".fleet", ".helix", ".nvim*", ".lvimrc", ".vimrc", ".gvimrc", ".exrc", ".vim"),
    *(".config/nvim", ".config/helix", ".config/zed", ".emacs", ".emacs.d", ".config/emacs", ".dir-locals*.el"),
    *("*.code-workspace", "*.sublime-project", ".kakrc", ".devcontainer", ".devcontainer.json"),
    # package managers and tools that read settings from the folder
    *(".envrc", ".npmrc", ".yarnrc*", ".pnpmfile.cjs", ".pypirc", ".netrc", ".tool-versions", ".cargo/config*"),
    *("mise.toml", ".mise.toml", "mise.*.toml", ".mise", ".config/mise*", ".asdfrc", ".direnvrc", ".config/direnv"),
    *("lefthook.*", "lefthook-local.*", ".lefthook*", ".githooks", ".pylintrc", "pylintrc", "bunfig.toml", ".gradle"),
    *(".mvn", ".bazelrc", ".bundle", ".config/git", ".config/pip", "pip.conf", ".config/uv"),
    *(".ssh", ".gnupg", ".aws", ".docker", ".kube"),
    # shells
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".xonshrc"),
    *("config.fish", "conf.d/*.fish", ".config/fish", ".config/nushell", ".config/powershell"),
    # what a login starts
    *(".config/autostart", ".config/systemd", ".config/environment.d", ".xprofile", ".xinitrc", ".xsession"),
    *(".pam_environment", "library/launchagents", "library/launchdaemons"),
    # continuous integration
    *(".github", ".gitlab", ".gitlab-ci.y*ml", ".circleci", ".buildkite", ".ci", ".forgejo", ".gitea", ".travis.y*ml"),
    *(".drone.y*ml", ".woodpecker", ".woodpecker.y*ml", ".cirrus.y*ml", ".appveyor.y*ml", "appveyor.y*ml"),
    *("jenkinsfile", "azure-pipelines.y*ml", "bitbucket-pipelines.y*ml"),
    # what agents are told, and their settings
    *("agents.md", "agents.*.md", "agent.md", "claude.md", "claude.*.md", "gemini.md", "qwen.md", "skill.md"),
    *("copilot-instructions.md", ".claude", ".codex", ".gemini", ".cursor", ".cursorrules", ".windsurf"),
    *(".windsurfrules", ".clinerules*", ".roo*", ".continue*", ".aider*", ".goosehints", ".junie", ".mcp.json"),
    *("mcp.json", ".agents", ".rules", "opencode.json*", ".opencode", ".kiro", ".qwen", ".trae", ".amazonq"),
    ".augment*",
    # chats: with the next message, their text counts as the user's words
    "*.tark.md",
    # the short names Windows gives to .git and .tark
    *("git~[0-9]", "tark~[0-9]"),
)
"""Patterns for one name of a path, or several in a row, in lower case: what they match and everything below it."""

HEAD = "HEAD"
"""With a file of this name, git takes a folder for a bare repository, whose `config` can execute programs. Only this
spelling is protected, because many folders are named `head`."""


def plain_name(name: str) -> str:
    """The name as seen by file systems that ignore case, normal form or invisible characters (NTFS, APFS, HFS+)."""
    visible = "".join(character for character in name if unicodedata.category(character) != "Cf")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", visible).casefold())
    return folded.rstrip(". ") or folded


PATTERNS = tuple(tuple(pattern.split("/")) for pattern in PROTECTED)
ONE_NAME = "|".join(translate(pattern[0]) for pattern in PATTERNS if len(pattern) == 1)
SEVERAL_NAMES = tuple(pattern for pattern in PATTERNS if len(pattern) > 1)


def is_protected_path(relative: PurePath) -> bool:
    """Whether any name in the path relative to the workspace folder is protected, including the last name."""
    if relative.name == HEAD:
        return True
    parts = relative.parts
    return any(_is_protected_alone(part) for part in parts) or any(
        begins_with([plain_name(part) for part in parts[start : start + len(pattern)]], pattern)
        for start, part in enumerate(parts)
        for pattern in _begun_by(part)
    )


@cache  # compiled when it is first needed: it takes 2 ms
def _one_name() -> re.Pattern[str]:
    return re.compile(ONE_NAME)


@lru_cache(maxsize=4096)  # cached, because the paths of a workspace share most of their names
def _is_protected_alone(name: str) -> bool:
    return _one_name().fullmatch(plain_name(name)) is not None


@lru_cache(maxsize=4096)
def _begun_by(name: str) -> tuple[Sequence[str], ...]:
    """The patterns of several names whose first pattern matches the name."""
    return tuple(pattern for pattern in SEVERAL_NAMES if fnmatchcase(plain_name(name), pattern[0]))


def begins_with(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the first names match the patterns, one for one."""
    return len(names) >= len(pattern) and all(map(fnmatchcase, names, pattern))  # `map` ends with the pattern
