"""Measures the parts of a session's next prompt in tokens, and compacts its history on demand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tark_lsp.agent import events
from tark_lsp.agent.kinds import KINDS, Kind, mode_of, offered_tools
from tark_lsp.agent.prompt import PromptContext, system_prompt, turn_prompt
from tark_lsp.agent.prompt_budget import PromptBudget
from tark_lsp.agent.session import Session
from tark_lsp.context.budget import COMPACT_AT, PromptLoad
from tark_lsp.context.system_part import SystemPart
from tark_lsp.context.tokens import definition_tokens, format_tokens, message_tokens, text_tokens
from tark_lsp.errors import RequestError, SettingsError, TarkError
from tark_lsp.messages import Text, ToolDefinition, Usage
from tark_lsp.server.protocol.outgoing import range_json
from tark_lsp.server.turns.preparation import Preparation
from tark_lsp.workspace.uris import uri_from_path

if TYPE_CHECKING:
    from tark_lsp.context.automatic_snippets import Snippet
    from tark_lsp.llm.client import Model

Json = dict[str, Any]


class ContextBudget:
    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation

    async def measure_context(self, session: Session) -> Json:
        """The answer of `tark.session.context`, for a turn of kind agent. Asks the user nothing, and sends nothing.

        If no model can be opened, `contextWindow` and `limit` are None, and the tokens are a general estimate.
        """
        from tark_lsp.agent.summary import is_summary
        from tark_lsp.context.automatic_snippets import LATE, LATE_NAME, LATE_REASON, told_snippets

        preparation, estimates = self._preparation, self._preparation.estimates
        kind = self._kind(session)
        mode = mode_of(kind, session.mode)
        name = self._model_name(session, kind) or ""
        model = await self._known_model(name)
        window = None if model is None else model.context_window
        system, tools = preparation.system_parts(session), self._tools(session, kind, name, window)
        system += [] if kind.agent is None else [kind.agent.part]
        told = [tool for tool in tools if tool.loading != "deferred"]
        rest = [tool for tool in tools if tool.loading == "deferred"]
        saved = format_tokens(estimates.model_tokens(name, sum(map(definition_tokens, rest))))
        on_demand = f"; {len(rest)} more on demand, {saved} tokens if they were sent" if rest else ""
        summary, history = session.messages[:1], session.messages[1:]
        if not (summary and is_summary(summary[0])):
            summary, history = [], session.messages
        prompt = turn_prompt("", kind, mode, preparation.workspaces.whole, PromptContext())
        sizes = dict(zip(map(id, session.messages), session.sizes.sizes_of(session.messages), strict=True))
        texts = [[part.text for part in said.parts if isinstance(part, Text)] for said in history]
        added = [snippet for one in texts for snippet in told_snippets(one)]
        late = text_tokens(LATE) * sum(LATE in one for one in texts)
        parts = [self._system_part(part, name) for part in system]
        others = sum(sizes[id(said)] for said in history) - sum(one.tokens for one in added) - late
        counted: list[tuple[str, str, float, Json]] = [
            (f"{len(told)} tools{on_demand}", "tools", sum(map(definition_tokens, told)), {}),
            ("summary of earlier messages", "summary", sum(sizes[id(said)] for said in summary), {}),
            *((self._place(one), "automatic", one.tokens, _why_json(one)) for one in added),
            (LATE_NAME, "automatic", late, {"reason": LATE_REASON}),
            ("messages", "history", others, {"messages": len(history)}),
            ("added to each prompt", "prompt", message_tokens(prompt), {}),
        ]
        parts += [
            {"name": title, "kind": kind, "tokens": estimates.model_tokens(name, size), **more}
            for title, kind, size, more in counted
            if size
        ]
        tokens = sum(part["tokens"] for part in parts)
        window = None if model is None else estimates.known_window(name, window)
        load = PromptLoad(window, 0, tokens, None if model is None else model.max_output_tokens)
        limit = None if window is None else max(0, round(window * COMPACT_AT) - load.reserve)
        return {"parts": parts, "tokens": tokens, "contextWindow": window, "limit": limit}

    async def compact_history(self, session: Session, emit: events.EventListener) -> Json:
        """Returns `{tokensBefore, tokensAfter}`. `emit` gets the events of the request and of the new history.

        Raises RequestError if a compaction would free too little, if there is no model, or if it wrote no summary. Then
        nothing has changed.
        """
        from tark_lsp.agent.compaction import SUMMARY_REQUEST, compact_messages
        from tark_lsp.agent.side_request import send_side_request

        preparation = self._preparation
        if not session.messages:
            raise RequestError("this session has no messages yet")
        try:
            model = await preparation.configuration.models.open_model(await preparation.models.model_of(session))

            def count(usage: Usage) -> None:
                session.usage += usage

            told = PromptBudget(
                session,
                model,
                system_prompt(preparation.system_parts(session)),
                self._tools(session, KINDS["agent"], model.name, model.context_window),
                preparation.estimates,
                preparation.contexts.results_of(session.id).keep_result,
                emit,
            )
            done = await compact_messages(
                told, None, lambda request: send_side_request(SUMMARY_REQUEST, model, request, 1, emit, count)
            )
        except RequestError:
            raise
        except TarkError as error:
            raise RequestError(f"the session is unchanged: {error.message}", hint=error.hint) from error
        return {"tokensBefore": done.before, "tokensAfter": done.after}

    def _kind(self, session: Session) -> Kind:
        """The kind with the agent of the session. If the agent cannot be used, without it: turns would be refused."""
        try:
            return self._preparation.models.agents.in_session(KINDS["agent"], session)
        except RequestError:
            return KINDS["agent"]

    def _model_name(self, session: Session, kind: Kind) -> str | None:
        own = "" if kind.agent is None else self._preparation.models.agents.model_of(kind.agent)
        return own or session.model or self._preparation.configuration.settings.model

    def _tools(self, session: Session, kind: Kind, model: str, window: int | None) -> Sequence[ToolDefinition]:
        """The tools that the next turn sends, even if the session has not deferred any tools yet."""
        from tark_lsp.agent.deferring import sent_definitions, tools_to_defer, with_search  # with the first turn

        tools = self._preparation.contexts.tools()
        deferred = session.deferred or tools_to_defer(tools, model, window, self._preparation.estimates)
        offered = offered_tools(with_search(tools, deferred), kind, session.mode, selection=False)
        return sent_definitions(offered, deferred)

    def _system_part(self, part: SystemPart, model: str) -> Json:
        tokens = self._preparation.estimates.model_tokens(model, text_tokens(part.text))
        uri = {} if part.path is None else {"uri": uri_from_path(part.path)}
        return {"name": part.name, "kind": part.kind, "tokens": tokens, **uri}

    def _place(self, snippet: "Snippet") -> str:
        """`src/shapes.py:10-20`"""
        return f"{self._preparation.workspaces.whole.display(snippet.path)}:{snippet.start}-{snippet.end}"

    async def _known_model(self, name: str) -> "Model | None":
        """The model of this name; None if it cannot be opened. The user is not asked for one."""
        try:
            return await self._preparation.configuration.models.open_model(name) if name else None
        except SettingsError:  # no key, or no such provider: reported when the model is used
            return None


def _why_json(snippet: "Snippet") -> Json:
    lines = range_json(snippet.start - 1, 0, snippet.end, 0)
    return {"uri": uri_from_path(snippet.path), "range": lines, "reason": snippet.why}
