"""Prices and context windows from the price library, which runs in its own process (price_lookup.py says why)."""

import asyncio
import ipaddress
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tark_lsp.llm.catalog.facts import NO_FACTS, ModelFacts, Price

log = logging.getLogger(__name__)

PROGRAM = (sys.executable, "-P", "-m", "tark_lsp.llm.catalog.price_lookup")
"""-P: the current folder is the user's workspace, and nothing may be imported from there."""

ENVIRONMENT = ("PATH", "SYSTEMROOT", "HOME", "APPDATA")
"""The variables that the program gets besides PYTHON...; none of them holds a key."""

SECONDS = 30.0
PERIOD = 1800
"""Seconds after which prices are looked up again: some depend on the hour of the day (DeepSeek)."""


class Prices:
    """What the library knows in the current half hour. One per `Models`. Without a program it is never asked."""

    def __init__(self, program: Sequence[str] = PROGRAM, clock: Callable[[], float] = time.time) -> None:
        self._program = program
        self._clock = clock
        self._known: dict[tuple[str, str], ModelFacts] = {}
        self._period = 0
        self._turn = asyncio.Lock()

    def stored_facts(self, base_url: str, model: str) -> ModelFacts | None:
        """None: not looked up yet in the current half hour."""
        if not self._program or is_local(base_url):
            return NO_FACTS
        return self._known.get((base_url, model)) if self._period == self._now() else None

    async def look_up_prices(self, wanted: Collection[tuple[str, str]]) -> None:
        """`wanted`: pairs of base URL and model. A model that the library does not know gets no facts; if the library
        cannot be asked, none of them does, and a warning is logged.
        """
        async with self._turn:
            if self._period != self._now():
                self._period, self._known = self._now(), {}
            missing = [pair for pair in dict.fromkeys(wanted) if self.stored_facts(*pair) is None]
            if not missing:
                return
            try:
                answers = await self._ask(missing)
            except (OSError, ValueError, subprocess.TimeoutExpired) as error:
                log.warning("prices are not known: %s", error)
                answers = [None] * len(missing)
            self._known |= {pair: _facts(answer) for pair, answer in zip(missing, answers, strict=True)}

    async def _ask(self, wanted: list[tuple[str, str]]) -> list[Any]:
        """Raises OSError, ValueError, TimeoutExpired."""
        process = self._start()
        try:
            # Not asyncio's subprocess: cancelled early, it can wait forever. A thread ends when its process does.
            output, errors = await asyncio.to_thread(process.communicate, json.dumps(wanted).encode(), SECONDS)
        finally:
            if process.poll() is None:
                process.kill()
        if process.returncode:
            raise OSError(f"the price lookup failed: {errors.decode(errors='replace')[-500:]}")
        answers = json.loads(output)
        if not (isinstance(answers, list) and len(answers) == len(wanted)):
            raise ValueError("the price lookup printed something unexpected")
        return answers

    def _now(self) -> int:
        return int(self._clock() // PERIOD)

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        environment = {
            name: value for name, value in os.environ.items() if name.startswith("PYTHON") or name in ENVIRONMENT
        }
        return subprocess.Popen(self._program, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)


def is_local(base_url: str) -> bool:
    """Whether the server is on this machine or its local network, where no price list applies."""
    host = urlsplit(base_url).hostname or "localhost"
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local")) or "." not in host


def _facts(answer: Mapping[str, Any] | None) -> ModelFacts:
    if answer is None:
        return NO_FACTS
    row = answer["price"]
    return ModelFacts(context_window=answer["context_window"], price=None if row is None else _price(row))


def _price(row: Mapping[str, Any]) -> Price:
    above = tuple((tokens, _price(more)) for tokens, more in row["above"])
    return Price(row["input"], row["output"], row["cached"], row["cache_write"], above)
