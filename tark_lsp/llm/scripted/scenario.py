"""Scenario files: what a script answers, and when. docs/providers.md describes the format."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tark_lsp.errors import SettingsError
from tark_lsp.llm.wire.wire import WIRES

GROUP = re.compile(r"\\g<(\w+)>")
"""A reference to a group. Other backslashes in a reply's strings are kept."""


class ScriptedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`arguments_json` is sent unchanged, even if it is broken. Otherwise `arguments` is sent as JSON."""

    name: str
    arguments: dict[str, Any] = {}
    arguments_json: str | None = None


class ScriptedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An HTTP error instead of an answer. `retry_after`: seconds."""

    status: int
    message: str = "scripted error"
    retry_after: float | None = None


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`when`, `tool` and `times` are the conditions. `chunk`: characters per delta. `cut`: no terminal event."""

    when: str | None = None
    tool: str | None = None
    times: int | None = None
    thinking: str = ""
    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    chunk: int = 16
    delay_ms: int = 0
    error: ScriptedError | None = None
    cut: bool = False


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wire: str = "openai-chat"
    reply: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    replies: tuple[Reply, ...]
    wire: str = "openai-chat"


@dataclass(frozen=True, slots=True)
class LastMessage:
    """A reply is chosen by the text of the last message, and by the tools whose results it holds."""

    text: str
    tools: tuple[str, ...] = ()


class Player:
    """Plays a scenario: it chooses replies and counts how often each was used."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._used = [0] * len(scenario.replies)

    def choose_reply(self, asked: LastMessage) -> Reply:
        """Returns the first reply whose conditions hold, with the groups of its regular expression filled in."""
        for index, reply in enumerate(self._scenario.replies):
            if reply.times is not None and self._used[index] >= reply.times:
                continue
            if reply.tool is not None and reply.tool not in asked.tools:
                continue
            match = re.search(reply.when or "", asked.text)
            if match is None:
                continue
            self._used[index] += 1
            return _expanded(reply, match)
        return Reply(
            text=f"This is the script {self._scenario.name}, not a model. No reply of it matches the last message: "
            'add one with a matching `when`, or choose a real model (setting "model").'
        )


def _expanded(reply: Reply, match: re.Match[str]) -> Reply:
    calls = (msgspec.structs.replace(call, arguments=_expand(call.arguments, match)) for call in reply.calls)
    return msgspec.structs.replace(reply, text=_expand(reply.text, match), calls=tuple(calls))


def _expand(value: Any, match: re.Match[str]) -> Any:
    match value:
        case str():
            return GROUP.sub(lambda group: match[_group_key(group[1])] or "", value)
        case dict():
            return {name: _expand(item, match) for name, item in value.items()}
        case list():
            return [_expand(item, match) for item in value]
    return value


def _group_key(name: str) -> str | int:
    return int(name) if name.isdigit() else name


def load_scenario(path: Path) -> Scenario:
    """Raises SettingsError, which names the file and the field, for anything that is not valid."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise SettingsError(
            f"the scenario {path} cannot be read: {error.strerror}", hint="set providers.scripted.scenario to a file"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the scenario {path} is not TOML: {error}") from error
    return read_scenario(table, path.stem)


def read_scenario(table: Mapping[str, Any], name: str) -> Scenario:
    """`table` as TOML gives it. Raises SettingsError."""
    try:
        file = msgspec.convert(table, _File)
    except msgspec.ValidationError as error:
        raise SettingsError(f"scenario {name}: {error}") from error
    if file.wire not in WIRES:
        raise SettingsError(
            f"scenario {name}: there is no wire {file.wire!r}", hint=f"use one of {', '.join(sorted(WIRES))}"
        )
    for number, reply in enumerate(file.reply, 1):
        problem = _problem(reply)
        if problem:
            raise SettingsError(f"scenario {name}: reply {number}: {problem}")
    return Scenario(name, file.reply, file.wire)


def _problem(reply: Reply) -> str:
    if reply.chunk < 1:
        return "chunk must be at least 1"
    try:
        pattern = re.compile(reply.when or "")
    except re.error as error:
        return f"when is not a regular expression: {error}"
    strings = repr((reply.text, [call.arguments for call in reply.calls])).replace("\\\\", "\\")
    for name in GROUP.findall(strings):
        group = _group_key(name)
        if group not in pattern.groupindex and not (isinstance(group, int) and group <= pattern.groups):
            return f"\\g<{name}> is not a group of its `when`"
    return ""
