"""For all tests: which of them run and in what order; and nothing of the user's own settings, keys or proxies."""

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import pytest

from tests import exhaustive, forked, groups, tables
from tests.virtual_clock import virtual_loop

REAL_CLOCK = {"real clock": asyncio.new_event_loop}
VIRTUAL_CLOCK = {"virtual clock": virtual_loop}


def pytest_configure(config: pytest.Config) -> None:
    exhaustive.configure(config)
    # A shell without job control lets its background jobs ignore Ctrl-C, and all that they start.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish() -> None:
    forked.disconnect()


def pytest_report_header() -> str | None:
    return exhaustive.repeated_by()


def pytest_xdist_auto_num_workers() -> int:
    return groups.workers()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> groups.GroupScheduling:
    return groups.GroupScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Without looking for garbage: half of the time of a collection is spent on that, in each process.

    What is collected stays to the end, so it is not looked through later either.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    return tables.as_one((yield), collector.config.args)


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    exhaustive.choose(config, items)
    groups.arrange(items)


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    virtual = item.get_closest_marker("virtual_clock") and not item.get_closest_marker("real_clock")
    return VIRTUAL_CLOCK if virtual else REAL_CLOCK


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            ours = name.startswith("TARK_") and name != "TARK_SHARED"
            if ours or name.endswith("_API_KEY") or name.lower().endswith("_proxy"):
                patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.setenv("TARK_KEYRING", "off")
        patch.setenv("TARK_SANDBOX", "off")  # most tests are about questions; those of the sandbox turn it on
        yield
