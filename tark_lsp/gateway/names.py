"""Maps a client's name of a model to `<provider>/<model>`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tark_lsp.errors import SettingsError, TarkError
from tark_lsp.gateway.problems import INVALID, Problem, invalid
from tark_lsp.gateway.reading import short
from tark_lsp.llm.catalog.listed_names import near_names
from tark_lsp.llm.client import Models

MAX_NAME = 256


@dataclass(frozen=True, slots=True)
class ModelNames:
    """`default`: the model for requests that name none; "" if there is none. `aliases`: names that the user chose.

    `check_provider` raises SettingsError for a `<provider>/<model>` of an unknown provider.
    """

    default: str
    check_provider: Callable[[str], None]
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def find(self, name: str) -> str:
        """The name can be an alias, a `<provider>/<model>`, or the last part of a configured model. Raises Problem."""
        if not name:
            if self.default:
                return self.default
            message = "model is missing: name one in the request, or start the gateway with --model"
            raise invalid(message, "model", "missing_required_parameter")
        known = self.known
        if name in known:
            return known[name]
        if len(name) > MAX_NAME:
            raise invalid(f"model has more than {MAX_NAME} characters", "model")
        why = f"there is no model {short(name)}; write it as provider/model"
        if "/" in name:
            try:
                self.check_provider(name)
            except SettingsError as error:
                why = error.message
            else:
                return name
        raise not_found(why, near_names(name, known))

    @property
    def known(self) -> Mapping[str, str]:
        refs = [*filter(None, [self.default]), *self.aliases.values()]
        return {**{ref.rpartition("/")[2]: ref for ref in reversed(refs)}, **{ref: ref for ref in refs}, **self.aliases}


def not_found(why: str, near: list[str]) -> Problem:
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return Problem(404, INVALID, "model_not_found", f"{why}{meant}", "model")


async def near_models(models: Models, ref: str) -> list[str]:
    """Similar names in the provider's own listing; none if it has no listing."""
    try:
        listing = await models.list_models(ref.partition("/")[0])
    except TarkError:
        return []
    return near_names(ref, [model.id for model in listing.models])
