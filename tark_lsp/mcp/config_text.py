"""Adds and removes `[mcp.servers.NAME]` in config.toml as text, so that the rest, with its comments, stays as it is."""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tark_lsp.errors import SettingsError
from tark_lsp.mcp_settings import McpServerSettings

HEADER = re.compile(r"\s*\[\[?\s*([^\]]*?)\s*\]\]?\s*(?:#.*)?$")


def table_text(name: str, settings: McpServerSettings) -> str:
    """The settings that differ from the defaults, as TOML."""
    values = settings.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    lines = [f"[mcp.servers.{name}]"]
    lines += [f"{key} = {_value(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def add_server(file: Path, name: str, settings: McpServerSettings) -> str:
    """Returns the text that was added. Raises SettingsError and leaves the file unchanged if that fails."""
    text, table = _read(file), table_text(name, settings)
    if name in _servers(text, file):
        raise SettingsError(f"{file} has a server {name} already", hint=f"remove it first: tark-lsp mcp remove {name}")
    separator = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    added = f"{text}{separator}{table}"
    try:
        known = _servers(added, file)
    except SettingsError:
        known = {}
    if name not in known:
        raise SettingsError(f"{file} cannot be extended by a table", hint=f"add it yourself:\n{table}")
    _write(file, added)
    return table


def remove_server(file: Path, name: str) -> bool:
    """Whether the server was there. Raises SettingsError if it cannot be removed without changing something else."""
    text = _read(file)
    if name not in _servers(text, file):
        return False
    kept, removed = _split(text, name)
    try:
        only = _without(tomllib.loads(removed), name) == _without({}, name)
        exact = only and _without(_loads(kept), name) == _without(_loads(text), name)
    except tomllib.TOMLDecodeError:
        exact = False
    if not exact or name in _servers(kept, file):
        raise SettingsError(f"{name} cannot be removed from {file}", hint="remove it yourself")
    _write(file, kept)
    return True


def configured(file: Path) -> tuple[str, ...]:
    """The names of the servers in the file. Empty if it cannot be read: the settings report that."""
    try:
        return tuple(_servers(_read(file), file))
    except SettingsError:
        return ()


def _split(text: str, name: str) -> tuple[str, str]:
    """The lines outside the server's tables, and those inside. Comments above the next table are outside."""
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    """Whether the lines are inside, and the lines."""
    for line in text.splitlines(keepends=True):
        if (found := HEADER.match(line.rstrip("\r\n"))) is not None:
            path = [part.strip().strip("\"'") for part in found[1].split(".")]
            inside = path[:3] == ["mcp", "servers", name]
            if inside != parts[-1][0]:
                parts.append((inside, []))
        parts[-1][1].append(line)
    kept: list[str] = []
    removed: list[str] = []
    for number, (inside, lines) in enumerate(parts, 1):
        end = _end(lines, is_last=number == len(parts)) if inside else 0
        removed += lines[:end]
        while inside and end < len(lines) and not lines[end].strip() and not (kept and kept[-1].strip()):
            end += 1  # an empty line less, if there is one above the table
        kept += lines[end:]
    return "".join(kept), "".join(removed)


def _end(lines: Sequence[str], *, is_last: bool) -> int:
    """How many of the lines from a table's header on are about the table. The comments below its last value are not,
    except those that touch the value and nothing else."""
    end = len(lines)
    while lines[end - 1].lstrip()[:1] in ("", "#"):
        end -= 1
    first_empty = next((place for place in range(end, len(lines)) if not lines[place].strip()), None)
    return first_empty if first_empty is not None else len(lines) if is_last else end


def _without(value: dict[str, Any], name: str) -> dict[str, Any]:
    """The settings without the server `name`."""
    mcp = dict(value.get("mcp", {}))
    servers = {key: one for key, one in mcp.pop("servers", {}).items() if key != name}
    return {**value, "mcp": {**mcp, "servers": servers}}


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # a TOML basic string
    return json.dumps(value)


def _loads(text: str) -> dict[str, Any]:
    """Raises tomllib.TOMLDecodeError."""
    return tomllib.loads(text.removeprefix("\ufeff"))


def _servers(text: str, file: Path) -> dict[str, Any]:
    try:
        value = _loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} cannot be read as TOML: {error}", hint="correct it first") from error
    mcp = value.get("mcp")
    servers = mcp.get("servers") if isinstance(mcp, dict) else None
    return dict(servers) if isinstance(servers, dict) else {}


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()  # not `read_text`, which changes the ends of lines
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error


def _write(file: Path, text: str) -> None:
    """Replaces the file atomically. A symbolic link stays a link, and the mode stays."""
    target = Path(os.path.realpath(file))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        descriptor, temporary = tempfile.mkstemp(prefix=".", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(descriptor)
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
        except BaseException:  # raised again after the partial file is removed
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}") from error
