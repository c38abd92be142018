"""The corpora that some promises are measured with. They are data, not part of this package."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

VARIABLE = "TARK_SHARED"


class CorpusMissing(Exception):
    """The text says which file is not there."""


@dataclass(slots=True)
class Corpora:
    """`folder`: None if there are none. `digests`: SHA-256 of the bytes of each file that was read, by its name."""

    folder: Path | None
    digests: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> Any:
        """The JSON of a file. Raises CorpusMissing."""
        if self.folder is None:
            raise CorpusMissing("no corpora were given (--corpora FOLDER)")
        try:
            data = (self.folder / name).read_bytes()
            value = json.loads(data)
        except (OSError, ValueError) as error:
            raise CorpusMissing(f"the corpus {name} cannot be read") from error
        self.digests[name] = sha256(data).hexdigest()
        return value


def find_corpora(given: Path | None, shared: str | None) -> Corpora:
    """`given`: the option. `shared`: the variable; its folder has `data/corpora`. The option wins."""
    if given is None and shared:
        given = Path(shared, "data", "corpora")
    return Corpora(given if given is not None and given.is_dir() else None)
