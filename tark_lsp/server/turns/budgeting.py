"""What the next prompt of a session is made of, with tokens, and its history summed up by hand."""

from typing import Any

from tark_lsp.agent import events
from tark_lsp.agent.kinds import KINDS, offered_tools
from tark_lsp.agent.prompt import Surroundings, system_prompt, turn_prompt
from tark_lsp.agent.session import Session
from tark_lsp.agent.told import Told
from tark_lsp.context.budget import COMPACT_AT, Load
from tark_lsp.context.system_part import SystemPart
from tark_lsp.context.tokens import definition_tokens, message_tokens, text_tokens
from tark_lsp.errors import RequestError, SettingsError, TarkError
from tark_lsp.llm.client import Model
from tark_lsp.messages import ToolDefinition, Usage
from tark_lsp.server.documents.uris import uri_from_path
from tark_lsp.server.turns.prepare import Preparation

Json = dict[str, Any]


class Budgeting:
    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation

    async def context(self, session: Session) -> Json:
        """The answer of `tark.session.context`, as a turn of kind agent would be told now. Nothing is asked or sent.

        Where no model can be opened, `contextWindow` and `limit` are None, and the tokens are those of no model.
        """
        from tark_lsp.agent.summary import is_summary

        preparation, estimates = self._preparation, self._preparation.estimates
        model = await self._known_model(session)
        name = session.model or preparation.settings.model or ""
        system, tools = preparation.system_parts(session), self._tools(session)
        summary, history = session.messages[:1], session.messages[1:]
        if not (summary and is_summary(summary[0])):
            summary, history = [], session.messages
        prompt = turn_prompt("", KINDS["agent"], session.mode, preparation.workspace, Surroundings())
        sizes = dict(zip(map(id, session.messages), session.sizes.of(session.messages), strict=True))
        parts = [self._system_part(each, name) for each in system]
        counted: list[tuple[str, str, float, Json]] = [
            (f"{len(tools)} tools", "tools", sum(map(definition_tokens, tools)), {}),
            ("what was said before, summed up", "summary", sum(sizes[id(each)] for each in summary), {}),
            ("what was said", "history", sum(sizes[id(each)] for each in history), {"messages": len(history)}),
            ("what goes with each prompt", "prompt", message_tokens(prompt), {}),
        ]
        parts += [
            {"name": called, "kind": kind, "tokens": estimates.tokens(name, size), **more}
            for called, kind, size, more in counted
            if size
        ]
        tokens = sum(part["tokens"] for part in parts)
        window = None if model is None else estimates.window(name, model.context_window)
        load = Load(window, 0, tokens, None if model is None else model.max_output_tokens)
        limit = None if window is None else max(0, round(window * COMPACT_AT) - load.reserve)
        return {"parts": parts, "tokens": tokens, "contextWindow": window, "limit": limit}

    async def compact(self, session: Session, emit: events.Listener) -> Json:
        """`{tokensBefore, tokensAfter}`. `emit` hears of the request and of what became of the history.

        Raises RequestError where there is nothing to gain, no model, or the model wrote no summary; nothing changed.
        """
        from tark_lsp.agent.aside import ask_aside
        from tark_lsp.agent.compaction import SUMMARY, compact

        preparation = self._preparation
        if not session.messages:
            raise RequestError("nothing was said in this session yet")
        try:
            model = await preparation.models.open(await preparation.model_of(session))

            def count(usage: Usage) -> None:
                session.usage += usage

            told = Told(
                session,
                model,
                system_prompt(preparation.system_parts(session)),
                self._tools(session),
                preparation.estimates,
                preparation.results_of(session.id).keep,
                emit,
            )
            done = await compact(told, None, lambda request: ask_aside(SUMMARY, model, request, 1, emit, count))
        except RequestError:
            raise
        except TarkError as error:
            raise RequestError(f"the session is as it was: {error.message}", hint=error.hint) from error
        return {"tokensBefore": done.before, "tokensAfter": done.after}

    def _tools(self, session: Session) -> list[ToolDefinition]:
        offered = offered_tools(self._preparation.tools(), KINDS["agent"], session.mode, selection=False)
        return [tool.definition for tool in offered.values()]

    def _system_part(self, part: SystemPart, model: str) -> Json:
        tokens = self._preparation.estimates.tokens(model, text_tokens(part.text))
        where = {} if part.path is None else {"uri": uri_from_path(part.path)}
        return {"name": part.name, "kind": part.kind, "tokens": tokens, **where}

    async def _known_model(self, session: Session) -> Model | None:
        """The session's, or the one settings name; nobody is asked for another."""
        name = session.model or self._preparation.settings.model
        try:
            return None if name is None else await self._preparation.models.open(name)
        except SettingsError:  # no key, no such provider: said where the model is used
            return None
