"""`Listeners`: lets one part of the program react to events of another part that does not know it."""

from collections.abc import Callable
from typing import Generic, TypeVar

E = TypeVar("E")


class Listeners(Generic[E]):
    """Calls every listener for every event, in the order in which they began to listen."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[E], object]] = []

    def listen(self, listener: Callable[[E], object]) -> Callable[[], None]:
        """Call `listener` for each event from now on. Returns a function that removes it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def emit(self, event: E) -> None:
        """Call all listeners. They must not fail: their exceptions are raised here."""
        for listener in tuple(self._listeners):
            listener(event)
