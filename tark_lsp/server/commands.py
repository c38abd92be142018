"""The commands of `workspace/executeCommand`: features offer them as rows; their argument is validated here.

A command starts what it starts and answers at once.
"""

import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

from pydantic import ValidationError
from pygls.exceptions import CommandAlreadyRegisteredError
from pygls.feature_manager import FeatureManager

from tark_lsp.errors import RequestError
from tark_lsp.server.connection.early_answers import EarlyAnswer, EarlyAnswers
from tark_lsp.server.protocol import incoming, lsp_params
from tark_lsp.server.protocol.capabilities import COMMANDS

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Command:
    """`handler` gets the validated payload and returns JSON.

    `early`: for a command that can wait for a document's text or for a model. `waits`: whether it can with this
    payload.
    """

    id: str
    payload: type[incoming.Payload]
    handler: Callable[[Any], Coroutine[Any, Any, Any]]
    early: EarlyAnswer | None = None
    waits: Callable[[Any], bool] = lambda _: True


class Feature(Protocol):
    """A part of the server that offers commands."""

    def commands(self) -> Iterable[Command]: ...


class Commands:
    """All commands of the server. pygls's feature manager is their registry, to which their ids are enough."""

    def __init__(
        self,
        early: EarlyAnswers,
        features: Callable[[], Iterable[Feature]],
        before: Callable[[str], None],
    ) -> None:
        """`features` is called once, with the first command. `before` is called with the id of each command."""
        self._features = features
        self._before = before
        self._early = early

    @cached_property
    def rows(self) -> Mapping[str, Command]:
        """By id. Raises CommandAlreadyRegisteredError if two features offer the same command."""
        rows: dict[str, Command] = {}
        for feature in self._features():
            for command in feature.commands():
                if command.id in rows:
                    raise CommandAlreadyRegisteredError(command.id)  # type: ignore[no-untyped-call]  # pygls does not annotate it
                rows[command.id] = command
        return rows

    def register(self, manager: FeatureManager) -> None:
        for id_ in COMMANDS:
            manager.command(id_)(partial(self._execute, id_))

    async def _execute(self, id_: str, params: lsp_params.ExecuteCommand) -> Any:
        """Raises RequestError if the argument is malformed."""
        self._before(id_)
        command = self.rows[id_]
        arguments = params.arguments or [{}]
        if len(arguments) != 1 or not isinstance(arguments[0], dict):
            raise RequestError(f"{command.id} takes one JSON object")
        payload = _validated(command, arguments[0], params.work_done_token)
        early = command.early if command.waits(payload) else None
        return await self._early.answer(command.id, command.handler(payload), early)


def _validated(command: Command, argument: dict[str, Any], token: str | int | None) -> incoming.Payload:
    try:
        value = command.payload.model_validate(argument)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg'].removeprefix('Value error, ')}" for item in error.errors()
        )
        raise RequestError(f"{command.id}: {wrong}") from error
    if value.model_extra:
        log.info("%s: ignored %s", command.id, ", ".join(value.model_extra))
    has_token = "work_done_token" in command.payload.model_fields
    return value.model_copy(update={"work_done_token": token}) if has_token else value
