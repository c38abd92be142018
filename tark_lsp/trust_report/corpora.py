"""The corpora with which some promises are measured. They are data outside of this package."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

VARIABLE = "TARK_SHARED"


class CorpusMissing(Exception):
    """A corpus is missing. The text says which one."""


@dataclass(slots=True)
class Corpora:
    """`folder`: None if there are no corpora. `digests`: the SHA-256 of each file that was read, by name."""

    folder: Path | None
    digests: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> Any:
        """The JSON value of a file. Raises CorpusMissing."""
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
    """`given`: the option, which has priority. `shared`: the variable, a folder with `data/corpora`."""
    if given is None and shared:
        given = Path(shared, "data", "corpora")
    return Corpora(given if given is not None and given.is_dir() else None)
