"""Names of files that decide what runs on the user's machine or what an agent is told: every edit needs permission."""

import unicodedata
from fnmatch import fnmatchcase
from pathlib import PurePath

PROTECTED = (
    # version control: hooks, filters and settings that execute
    *(".git", ".gitmodules", ".gitattributes", ".gitconfig", ".hg", ".svn", ".jj", ".husky", ".pre-commit-config.y*ml"),
    ".tark",
    # editors: tasks, settings and local files they execute
    *(".vscode", ".idea", ".zed", ".fleet", ".helix", ".nvim*", ".lvimrc", ".vimrc", ".exrc", ".dir-locals*.el"),
    *("*.code-workspace", "*.sublime-project", ".kakrc", ".devcontainer", ".devcontainer.json"),
    # package managers and tools that read settings from the folder
    *(".envrc", ".npmrc", ".yarnrc*", ".pnpmfile.cjs", ".pypirc", ".netrc", ".mise.toml", ".tool-versions"),
    *(".ssh", ".gnupg", ".aws", ".docker", ".kube"),
    # shells
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", "config.fish"),
    # continuous integration
    *(".github", ".gitlab", ".gitlab-ci.y*ml", ".circleci", ".buildkite", ".ci", ".forgejo", ".gitea", ".travis.y*ml"),
    *(".drone.y*ml", ".woodpecker", ".woodpecker.y*ml", ".cirrus.y*ml", ".appveyor.y*ml", "appveyor.y*ml"),
    *("jenkinsfile", "azure-pipelines.y*ml", "bitbucket-pipelines.y*ml"),
    # what agents are told, and their settings
    *("agents.md", "agents.*.md", "agent.md", "claude.md", "claude.*.md", "gemini.md", "copilot-instructions.md"),
    "skill.md",
    *(
        ".claude",
        ".codex",
        ".gemini",
        ".cursor",
        ".cursorrules",
        ".windsurf",
        ".windsurfrules",
        ".clinerules*",
        ".roo*",
    ),
    *(".continue*", ".aider*", ".goosehints", ".junie", ".mcp.json", "mcp.json", ".agents", ".rules"),
    # chats: with the next message, their text counts as the user's words
    "*.tark.md",
    # the short names Windows gives to .git and .tark
    *("git~[0-9]", "tark~[0-9]"),
)
"""Patterns for one name of a path, in lower case."""


def plain_name(name: str) -> str:
    """The name as seen by file systems that ignore case, normal form or invisible characters (NTFS, APFS, HFS+)."""
    visible = "".join(character for character in name if unicodedata.category(character) != "Cf")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", visible).casefold())
    return folded.rstrip(". ") or folded


def is_protected_path(relative: PurePath) -> bool:
    """Whether any name in the path from the workspace folder is protected, including the last one."""
    names = [plain_name(part) for part in relative.parts]
    return any(fnmatchcase(name, pattern) for name in names for pattern in PROTECTED)
