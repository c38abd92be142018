"""A command that acts without the user does not start if a setting cannot be used: a rule could be missing."""

import os
from pathlib import Path

from tark_lsp.errors import SettingsError
from tark_lsp.folders import user_config_path, workspace_config_path
from tark_lsp.settings import Settings
from tark_lsp.settings_layers import Layers
from tark_lsp.settings_loading import load_settings

HINT = "nothing was started, because a rule of yours could be missing; correct this first (tark-lsp doctor shows more)"


def load_usable_settings(folder: Path | None = None) -> Settings:
    """The user's own settings. Raises SettingsError if one of them has a problem, or if those of `folder` are broken.

    Other problems in the folder's own file are no errors: it can only make settings stricter, and is not always yours.
    """
    settings, problems = load_settings(user_file=user_config_path(), environ=os.environ)
    if not problems and folder is not None:
        found: list[str] = []
        layers = Layers(found, {})
        layers.read_file(workspace_config_path(folder))
        problems = [] if layers.are_usable else found
    if problems:
        raise SettingsError(problems[0], hint=HINT)
    return settings
