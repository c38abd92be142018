"""What the settings say of a provider and its models, in the words of the llm layer, which does not know settings."""

from pathlib import Path

from tark_lsp.llm.catalog.facts import Facts, Price
from tark_lsp.llm.client import ProviderOverride
from tark_lsp.settings import ModelSettings, ProviderSettings, Settings


def overrides(settings: Settings) -> dict[str, ProviderOverride]:
    return {name: provider_override(each) for name, each in settings.providers.items()}


def scenario_of(settings: Settings) -> Path | None:
    """The file that the scripted model plays."""
    scripted = settings.providers.get("scripted")
    return Path(scripted.scenario).expanduser() if scripted is not None and scripted.scenario else None


def provider_override(said: ProviderSettings) -> ProviderOverride:
    return ProviderOverride(
        base_url=said.base_url,
        api_key_env=said.api_key_env,
        headers=said.headers,
        wire=said.wire,
        client_id=said.client_id,
        login_url=said.login_url,
        models={name: _facts(each) for name, each in said.models.items()},
    )


def _facts(said: ModelSettings) -> Facts:
    price = said.price
    return Facts(
        context_window=said.context_window,
        max_output=said.max_output_tokens,
        thinking=said.thinking or "unknown",
        efforts=tuple(dict.fromkeys(said.efforts)),  # two layers of settings may name the same
        price=None if price is None else Price(price.input, price.output, price.cached, price.cache_write),
        tools=said.tools,
        images=said.images,
    )
