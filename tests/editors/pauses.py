"""Pauses processes at random, as a busy machine does: an editor's timers and a server's answers are late then."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random

import psutil

BETWEEN_SECONDS = 0.05
"""The longest time between two pauses."""


@contextmanager
def paused_at_random(processes: Sequence[psutil.Process], longest: float, random: Random) -> Iterator[None]:
    """Pauses one of the processes at a time, for at most `longest` seconds; short pauses are more frequent."""
    over = threading.Event()

    def pause() -> None:
        while not over.is_set():
            process = random.choice(processes)
            with suppress(psutil.NoSuchProcess):
                process.suspend()
                over.wait(random.random() ** 2 * longest)
                process.resume()
            over.wait(random.random() * BETWEEN_SECONDS)

    thread = threading.Thread(target=pause)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
