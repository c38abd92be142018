"""Converts the settings of providers and models to values of the llm layer, which does not know settings."""

from pathlib import Path

from tark_lsp.llm.catalog.facts import ModelFacts, Price
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.settings import ModelSettings, ProviderSettings, Settings


def overrides(settings: Settings) -> dict[str, ProviderOverride]:
    return {name: provider_override(provider) for name, provider in settings.providers.items()}


def scenario_of(settings: Settings) -> Path | None:
    """The scenario file of the scripted model, if any."""
    scripted = settings.providers.get("scripted")
    return Path(scripted.scenario).expanduser() if scripted is not None and scripted.scenario else None


def provider_override(provider: ProviderSettings) -> ProviderOverride:
    return ProviderOverride(
        base_url=provider.base_url,
        api_key_env=provider.api_key_env,
        headers=provider.headers,
        wire=provider.wire,
        client_id=provider.client_id,
        login_url=provider.login_url,
        models={name: _facts(model) for name, model in provider.models.items()},
    )


def _facts(model: ModelSettings) -> ModelFacts:
    price = model.price
    return ModelFacts(
        context_window=model.context_window,
        max_output=model.max_output_tokens,
        thinking=model.thinking or "unknown",
        efforts=tuple(dict.fromkeys(model.efforts)),  # two layers of settings may name the same
        price=None if price is None else Price(price.input, price.output, price.cached, price.cache_write),
        tools=model.tools,
        images=model.images,
    )
