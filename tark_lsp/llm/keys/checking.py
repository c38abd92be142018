"""Asks a provider whether it accepts the key, with a request that needs one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tark_lsp.errors import AuthenticationFailed, BadRequest, ModelError
from tark_lsp.http import HttpTransport
from tark_lsp.llm.client import Models, ProviderOverride
from tark_lsp.llm.keys.credentials import StoredKeys
from tark_lsp.llm.provider_connections import ProviderConnections
from tark_lsp.llm.wire.wire import load_wire

CheckResult = Literal["accepted", "refused", "unchecked"]


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """`unchecked`: the result is unknown, and `message` says why. `model`: the best that the provider lists."""

    result: CheckResult
    message: str = ""
    model: str | None = None


async def check_provider(
    overrides: Mapping[str, ProviderOverride], environ: Mapping[str, str], keys: StoredKeys, name: str
) -> KeyCheck:
    """Checks the current key. A local server without a key is accepted if it answers.

    Raises SettingsError, and MissingKey if there is no key.
    """
    network = HttpTransport()
    models = Models(overrides, environ, keys=keys, network=network)
    try:
        best = await models.find_best_model(name)
        proof = await _prove(ProviderConnections(overrides, environ, None, keys, network), name)
        return KeyCheck(proof.result, proof.message, best)
    except AuthenticationFailed as error:
        return KeyCheck("refused", error.message)
    except ModelError as error:
        return KeyCheck("unchecked", f"{error.message}; {error.hint}" if error.hint else error.message)
    finally:
        await models.aclose()


async def _prove(connections: ProviderConnections, name: str) -> KeyCheck:
    """Call this after the provider has listed its models. This proves nothing if it also lists them without a key.

    Raises ModelError.
    """
    provider = connections.find_provider(name)
    wire = load_wire(provider.routes[-1].wire)
    if provider.key_check_path:
        await connections.asker_for(provider, wire)(provider.key_check_path, None)
        return KeyCheck("accepted")
    if not provider.key_needed:
        return KeyCheck("accepted")
    try:
        await connections.asker_for(provider, wire, with_key=False)(wire.models_path, None)
    except (AuthenticationFailed, BadRequest):
        return KeyCheck("accepted")
    return KeyCheck("unchecked", f"{name} lists its models without a key, so this proves nothing")
