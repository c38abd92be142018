"""How editors differ, as flags: which capabilities they send, what they do with edits (read in their source)."""

from dataclasses import dataclass
from enum import StrEnum


class Stale(StrEnum):
    """What an editor does with an edit whose version is not the buffer's."""

    REFUSE = "refuse"
    SKIP = "skip"
    """Leave the text as it is and answer `applied: true` (Neovim)."""
    APPLY = "apply"
    """Apply it to whatever stands there and answer `applied: true` (Kakoune always, VS Code in a race)."""


class Files(StrEnum):
    """What an editor does with RenameFile and DeleteFile."""

    HONEST = "honest"
    """Carry them out on disk, and with the document."""
    DISK_ONLY = "disk only"
    """The old document stays open (kakoune-lsp)."""
    SKIP = "skip"
    """Leave the file where it is and answer `applied: true` (Neovim, where it finds something at the new name)."""
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """`did_change_delay` is in seconds from the last change, None: at once. `versions`: the editor sends them.

    `first_at_once`: a change is sent at once if none was sent for that time, and the next ones when it is over, or
    later, since the editor is busy.
    """

    name: str
    stale: Stale
    did_change_delay: float | None = None
    versions: bool = True
    files: Files = Files.HONEST
    first_at_once: bool = False


HONEST = Behaviour("honest", Stale.REFUSE)
SKIPS = Behaviour("skips", Stale.SKIP, did_change_delay=0.15)
APPLIES = Behaviour("applies", Stale.APPLY)
UNVERSIONED = Behaviour("unversioned", Stale.APPLY, versions=False)
IDLE = Behaviour("idle", Stale.REFUSE, did_change_delay=0.5)
SOON_IDLE = Behaviour("soon-idle", Stale.REFUSE, did_change_delay=0.2)
"""eglot whose `eglot-send-changes-idle-time` a person has set shorter; here so that the tests are."""
BUSY = Behaviour("busy", Stale.SKIP, did_change_delay=0.15, first_at_once=True)
"""Neovim, whose timers are late if it is busy; for the models of tests/editors/property."""

BEHAVIOURS = (HONEST, SKIPS, APPLIES, UNVERSIONED, IDLE)


@dataclass(frozen=True, slots=True)
class Profile:
    """An editor whose capabilities pytest-lsp knows. `client` is pytest-lsp's name of it; the rest its clientInfo."""

    client: str
    name: str
    version: str
    behaviour: Behaviour
    without: tuple[str, ...] = ()
    """Capabilities it has not, as dotted paths."""
    confirms: bool = False
    """Shows annotated edits for the person to tick, instead of applying them at once."""


NEOVIM = Profile("neovim", "Neovim", "0.11.0", SKIPS)
NEOVIM_12 = Profile("neovim", "Neovim", "0.12.0", SKIPS, confirms=True)
VISUAL_STUDIO_CODE = Profile("visual_studio_code", "Visual Studio Code", "1.65.2", HONEST, confirms=True)
HELIX = Profile("neovim", "helix", "25.7.1", HONEST, without=("window.workDoneProgress",))
"""Nobody recorded Helix; Neovim's capabilities will do, but for progress, so that there is an editor without it."""
EMACS = Profile("emacs", "Emacs (eglot)", "29.1", SOON_IDLE)

NATIVE = ("permission", "updates", "input")
"""What a client of our own says under `experimental.tark`; an editor that says nothing is a plain client."""

PROFILES = (NEOVIM, VISUAL_STUDIO_CODE, EMACS)
