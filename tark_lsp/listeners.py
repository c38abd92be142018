"""Functions that listen to events: with it, one part hears of another that does not know it."""

from collections.abc import Callable
from typing import Generic, TypeVar

E = TypeVar("E")


class Listeners(Generic[E]):
    """Calls every listener for every event, in the order in which they began to listen."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[E], object]] = []

    def listen(self, listener: Callable[[E], object]) -> Callable[[], None]:
        """Call `listener` for each event from now on. Returns the function that ends it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def emit(self, event: E) -> None:
        """An exception of a listener is raised: no listener may fail."""
        for listener in tuple(self._listeners):
            listener(event)
