"""ServerConfig: the configuration of one server. Resolves it to a program with its environment, or a URL, and a digest.

A server is the user's own (config.toml), or an offer of a project (offers.py). Both start only if their pin matches.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from tark_lsp.errors import McpError
from tark_lsp.mcp.http_requests import is_private_host
from tark_lsp.mcp.server_tools import digest_of
from tark_lsp.mcp_settings import McpServerSettings
from tark_lsp.workspace.programs import find_program

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
WORDS = re.compile(r"[\s;&|<>()'\"`]+")
"""The separators of words in a shell's command line."""
LARGEST_SCRIPT = 50_000_000
"""The most bytes of a file of the workspace that is part of a digest."""
KEY_NAME = re.compile(r"authori[sz]ation|api.?key|token|secret|passw|cookie", re.IGNORECASE)
"""The names of variables and headers whose values probably are keys."""
NOT_PINNED = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "docker", "podman", "deno"})
"""Programs that can run different code each time, even if the digest of their command is the same."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """`source`: the file of an offer; None for the user's own server. `env` and `headers` can contain `${VAR}`."""

    name: str
    settings: McpServerSettings
    source: Path | None = None

    @property
    def is_offer(self) -> bool:
        return self.source is not None

    @property
    def trusted(self) -> bool:
        """Always false for an offer: a project cannot weaken a protection."""
        return self.settings.trusted and not self.is_offer

    def offers(self, tool: str) -> bool:
        """Whether the configuration allows this tool of the server."""
        return self.settings.tools is None or tool in self.settings.tools

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the user's environment variables that the server gets."""
        texts = [*self.settings.env.values(), *self.settings.headers.values()]
        return tuple(dict.fromkeys(found[1] for text in texts for found in VARIABLE.finditer(text)))

    @property
    def scope(self) -> str:
        """Where the server's pin is valid: empty for everywhere, or the file of the offer."""
        return "" if self.source is None else str(self.source)


@dataclass(frozen=True, slots=True)
class Resolved:
    """`argv` and `cwd` of a program, or `url`. `digest` covers everything that the user approves. `scripts`: files of
    the workspace that the command names, each with the SHA-256 of its content, which is part of the digest."""

    digest: str
    argv: tuple[str, ...] = ()
    cwd: Path = Path()
    url: str = ""
    scripts: tuple[tuple[Path, str], ...] = ()
    links: tuple[Path, ...] = ()
    """Files outside the workspace that the command names by links in the workspace."""
    warning: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """The exact command that would be started, or the URL."""
        return self.url or " ".join(map(quoted, self.argv))

    @property
    def shown_scripts(self) -> list[str]:
        """A line for each file of the workspace that is approved with the command."""
        contents = [
            f"  the approval is for the content of {path} (SHA-256 {sha[:12]}...)" for path, sha in self.scripts
        ]
        return contents + [f"  a link of the workspace leads to {path}" for path in self.links]


def resolve(config: ServerConfig, folders: Sequence[Path]) -> Resolved:
    """Raises McpError if the server cannot be started as it is configured."""
    settings = config.settings
    if (settings.command is None) == (settings.url is None):
        raise McpError("it must have either a command or a URL", hint="set command or url")
    parts: dict[str, object] = {
        "env": dict(settings.env),
        "headers": dict(settings.headers),
        "sandbox": [settings.sandbox, settings.network],
        "private": settings.private_host,
    }
    if settings.url is not None:
        _require_safe(settings)
        return Resolved(digest_of({**parts, "url": settings.url}), url=settings.url, warning=_warning(config))
    cwd = _folder(settings.cwd, folders)
    argv = (str(_program(settings.command or "", cwd, folders)), *settings.args)
    named, links = _named_files(argv, cwd, folders)
    scripts = tuple((path, _content(path)) for path in named)
    contents = sorted([*(content for _, content in scripts), *map(str, links)])
    digest = digest_of({**parts, "argv": argv, "cwd": settings.cwd or "", "scripts": contents})
    return Resolved(digest, argv, cwd, scripts=scripts, links=tuple(links), warning=_warning(config))


def expand(text: str, environ: Mapping[str, str]) -> str:
    """Replaces `${VAR}` and `${VAR:-else}`. Raises McpError for a variable that is not set, or has several lines."""

    def value(found: "re.Match[str]") -> str:
        known = environ.get(found[1]) or found[2]
        if known is None:
            raise McpError(f"the variable {found[1]} is not set", hint="set it, and restart your editor or terminal")
        if "\n" in known or "\0" in known:
            raise McpError(f"the variable {found[1]} has several lines, which a server cannot get")
        return known

    return VARIABLE.sub(value, text)


def expand_all(texts: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    return {name: expand(text, environ) for name, text in texts.items()}


def quoted(word: str) -> str:
    """The word, quoted as for a shell if necessary, so that the ends of words are visible."""
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII) else "'" + word.replace("'", "'\\''") + "'"


def _warning(config: ServerConfig) -> str:
    """What the user should know before they approve the server; empty if there is nothing."""
    settings = config.settings
    runner = Path(settings.command or "").stem
    found = [f"{runner} can run another version each time: the approval is of its command"] * (runner in NOT_PINNED)
    values = {**settings.env, **settings.headers}
    plain = [name for name, value in values.items() if KEY_NAME.search(name) and value and "${" not in value]
    if plain and not config.is_offer:
        found.append(
            f"{', '.join(plain)} is plain text in your settings: for a key, write ${{VAR}}, a variable of yours"
        )
    return "; ".join(found)


def _require_safe(settings: McpServerSettings) -> None:
    url = urlsplit(settings.url or "")
    if url.scheme == "http" and not is_private_host(settings.url or ""):
        raise McpError(
            "its URL is not encrypted", hint="use https; http is only for this machine and private addresses"
        )


def _folder(cwd: str | None, folders: Sequence[Path]) -> Path:
    if not folders:
        raise McpError("no folder is open", hint="open a folder: a server runs in the first one")
    path = folders[0] / Path(cwd or "").expanduser()
    if not path.is_dir():
        raise McpError(f"its folder {path} does not exist")
    return path.resolve()


def _program(command: str, cwd: Path, folders: Sequence[Path]) -> Path:
    if os.sep in command or (os.altsep and os.altsep in command):
        path = Path(os.path.normpath(cwd / Path(command).expanduser()))
        if not path.is_file():
            raise McpError(f"its program {path} does not exist")
        return path
    found = find_program(command, folders)
    if found is None:
        raise McpError(f"the program {command} is not installed", hint="install it, or give its whole path")
    return found


def _named_files(argv: Sequence[str], cwd: Path, folders: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that the words of the command name: those in the workspace, and those outside that links in the
    workspace lead to. The words of a shell's command line count, too (`sh -c './server.sh --stdio'`)."""
    words = (part for word in argv for part in (word, *(WORDS.split(word) if WORDS.search(word) else ())))
    named = [Path(os.path.normpath(cwd / word)) for word in words if word and "\0" not in word and len(word) < 4_000]
    roots = [Path(os.path.realpath(folder)) for folder in folders]
    found = {real: path for path in named if (real := Path(os.path.realpath(path))).is_file()}
    scripts = [real for real in found if _is_below(real, roots)]
    return scripts, [real for real, path in found.items() if real not in scripts and _is_below(path, roots)]


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _content(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_SCRIPT:
            raise McpError(f"{path} is too large to be compared with what was approved")
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise McpError(f"{path} cannot be read: {error.strerror}") from error
