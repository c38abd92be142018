"""The values of each layer of settings. A layer that cannot be used never makes the settings looser."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tark_lsp.settings import Settings
from tark_lsp.settings_cleaning import clean_layer, without_nulls
from tark_lsp.settings_file import read_toml

GUARDS = ("approval", "editReview", "hooks", "mode", "permissions", "sandbox", "workspaceTrusted")
"""The settings about safety: if the value of one is invalid, its default can allow more than the user wanted."""

LayerValues = dict[str, Any]


class Layers:
    """Reads and cleans layers. `problems` gets a sentence for each problem.

    A layer is broken if its file cannot be read, or if a setting in GUARDS is invalid. Then its last usable values are
    used. If it has none, `are_usable` becomes false.
    """

    def __init__(self, problems: list[str], last_usable: dict[str, LayerValues]) -> None:
        """`last_usable`: the values by source, from earlier calls. It is updated."""
        self.are_usable = True
        self._problems = problems
        self._last_usable = last_usable

    def read_file(self, file: Path) -> LayerValues:
        before = len(self._problems)
        values = read_toml(file, self._problems)
        return self.clean(str(file), values, is_readable=len(self._problems) == before)

    def clean(self, source: str, values: Mapping[str, Any], *, is_readable: bool = True) -> LayerValues:
        """The values without nulls and without invalid ones. `source` is named in the problems."""
        cleaned = clean_layer(Settings, values, source, self._problems)
        wanted = without_nulls(values)
        if is_readable and all(cleaned.get(key) == wanted.get(key) for key in GUARDS):
            self._last_usable[source] = cleaned
            return cleaned
        if source in self._last_usable:
            self._problems.append(f"{source}: the earlier values apply until you correct this")
            return self._last_usable[source]
        self.are_usable = False
        self._problems.append(
            f"{source}: because of this, the approval level is manual, and no allow rule applies; correct it, and "
            "restart Tark"
        )
        return cleaned
