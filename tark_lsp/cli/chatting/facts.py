"""What the terminal chat knows of the session it is in."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Facts:
    """What the status line tells. `cost` in dollars, of the turns that ended; None: no price was known."""

    model: str | None = None
    mode: str = ""
    approval: str = ""
    thinking: str = ""
    used: int = 0
    window: int | None = None
    cost: float | None = None
    turn_cost: float | None = None


@dataclass(slots=True)
class Session:
    """`id` None: the next prompt makes one. `last_turn` is what /undo takes back."""

    id: str | None = None
    title: str = ""
    last_turn: str | None = None
    read_only: bool = False
    facts: Facts = field(default_factory=Facts)
