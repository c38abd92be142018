"""The door to the models: `Models.open("provider/model")` gives a `Model`, and that streams one request."""

import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from tark_lsp.llm.catalog import ModelInfo
from tark_lsp.llm.events import StreamEvent
from tark_lsp.llm.request import ChatRequest

__all__ = ["Model", "ModelInfo", "Models", "ProviderOverride"]


@dataclass(frozen=True, slots=True)
class ProviderOverride:
    """What the person's settings say of a provider; None keeps what the provider's file says."""

    base_url: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    wire: str | None = None


class Model(Protocol):
    """One model, ready to be asked; safe to share between turns."""

    @property
    def name(self) -> str:
        """`<provider>/<model>`."""
        ...

    @property
    def context_window(self) -> int | None:
        """Tokens; None where unknown."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Events up to and with `Done`; raises ModelError after the events that came before.

        Leave it early only under `contextlib.aclosing`: closing the generator closes the socket.
        """
        ...


class Models:
    """All models the person can use; one per server, used from one event loop."""

    def __init__(
        self,
        providers: Mapping[str, ProviderOverride] = MappingProxyType({}),
        environ: Mapping[str, str] = os.environ,
        scenario: Path | None = None,
    ) -> None:
        raise NotImplementedError

    def open(self, ref: str) -> Model:
        """Raises SettingsError for an unknown provider, MissingKey with the variable to set."""
        raise NotImplementedError

    async def find_default(self) -> str | None:
        """The first of anthropic, openai, gemini, openrouter with a key, else an Ollama that answers."""
        raise NotImplementedError

    async def list(self, provider: str | None = None) -> list[ModelInfo]:
        """Of one provider, or of all that have a key."""
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError
