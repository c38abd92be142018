"""`tark.models.list` and `.check`: the models of all providers, and whether a provider lists a model."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from tark_lsp.errors import MissingKey, RequestError, SettingsError, TarkError
from tark_lsp.llm.catalog.facts import ModelFacts, ModelInfo
from tark_lsp.llm.catalog.listed_names import is_listed, near_names
from tark_lsp.prose import prose_line
from tark_lsp.server.asking.text_display import TextDisplay
from tark_lsp.server.commands import Command
from tark_lsp.server.configuration import Configuration
from tark_lsp.server.protocol import command_payloads
from tark_lsp.server.protocol.model_check import CheckModel
from tark_lsp.server.protocol.outgoing import model_json
from tark_lsp.visible import table_cell

CHECK_SECONDS = 5.0
"""How long a provider can take to list its models, when somebody has named one and waits."""
HEAD = "| model | window | dollars for a million tokens: in, out | thinks | sees |\n|---|---|---|---|---|\n"


class ModelList:
    def __init__(self, configuration: Configuration, show: TextDisplay) -> None:
        self._configuration = configuration
        self._show = show

    def commands(self) -> Iterable[Command]:
        yield Command("tark.models.list", command_payloads.ListModels, self.list)
        yield Command("tark.models.check", CheckModel, self.check)

    async def list(self, request: command_payloads.ListModels) -> Any:
        try:
            found = await self._configuration.models.list_models(request.provider, refresh=request.refresh)
        except MissingKey:
            raise
        except SettingsError as error:
            raise RequestError(f"provider: {error.message}", hint=error.hint) from error
        await self._show.command_result("models", model_table(found.models, found.problems))
        return {"models": [model_json(model) for model in found.models], "problems": list(found.problems)}

    async def check(self, request: CheckModel) -> Any:
        """Raises RequestError for an unknown provider."""
        try:
            self._configuration.check_model(request.model)
        except SettingsError as error:
            raise RequestError(f"model: {error.message}", hint=error.hint) from error
        provider, _, name = request.model.partition("/")
        configured = self._configuration.settings.providers.get(provider)
        if self._configuration.models.takes_any_name(provider) or (configured and name in configured.models):
            return _checked(request, True)
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                found = await self._configuration.models.list_models(provider)
        except (TarkError, TimeoutError) as error:
            why = error.message if isinstance(error, TarkError) else f"no answer within {CHECK_SECONDS:g} s"
            return _checked(request, None, f"{name} is not checked, since {provider} does not list its models: {why}")
        names = [model.id.removeprefix(f"{provider}/") for model in found.models]
        if not names:
            return _checked(request, None, f"{name} is not checked, since {provider} lists no models")
        if is_listed(name, names):
            return _checked(request, True)
        near = [f"{provider}/{similar}" for similar in near_names(name, names)]
        return _checked(request, False, f"{provider} lists no model {name}", near)


def _checked(request: CheckModel, listed: bool | None, message: str = "", near: Sequence[str] = ()) -> dict[str, Any]:
    return {"model": request.model, "listed": listed, "near": list(near), "message": message}


def model_table(models: Sequence[ModelInfo], problems: Sequence[str]) -> str:
    """A Markdown table, and the providers that could not be asked. A cell is empty if the fact is unknown."""
    rows = "".join(f"| {table_cell(model.id)} | {_cells(model.facts)} |\n" for model in models)
    notes = "".join(f"\n{prose_line(problem)}\n" for problem in problems)
    table = HEAD + rows if models else "None.\n"
    return f"# Models\n\n{table}{notes}"


def _cells(facts: ModelFacts) -> str:
    window = f"{facts.context_window:,}" if facts.context_window else ""
    price = "" if facts.price is None else f"{facts.price.input:g}, {facts.price.output:g}"
    unset = "always" if facts.off == "never" else "no"
    thinks = {"unknown": "", "none": unset}.get(facts.thinking, ", ".join(facts.efforts) or "yes")
    sees = {None: "", True: "yes", False: "no"}[facts.images]
    return " | ".join((window, price, thinks, sees))
