"""The user's providers and keys, without a server: for login, logout, status and doctor."""

from collections.abc import Mapping

from tark_lsp.folders import keys_folder, user_config_path
from tark_lsp.llm.keys.logins import KeyStatus, Logins
from tark_lsp.llm.keys.store import KeyStore
from tark_lsp.server.provider_override import provider_override
from tark_lsp.settings import Settings
from tark_lsp.settings_loading import load_settings


def logins_of(settings: Settings, environ: Mapping[str, str]) -> Logins:
    overrides = {name: provider_override(provider) for name, provider in settings.providers.items()}
    return Logins(overrides, environ, KeyStore(keys_folder(), environ))


def load_logins(environ: Mapping[str, str]) -> Logins:
    """Uses the user's own settings. `tark-lsp doctor` reports their problems."""
    settings, _ = load_settings(user_file=user_config_path(), environ=environ)
    return logins_of(settings, environ)


def describe(status: KeyStatus) -> str:
    """One line about the key. It never contains a part of the key."""
    match status.state:
        case "ready":
            return f"a key from {status.source}"
        case "unusable":
            return f"{status.source}: {status.hint}" if status.hint else status.source
        case "unneeded":
            return "needs no key"
    return f"no key: {status.hint}"
