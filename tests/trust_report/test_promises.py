"""Every promise of the report holds here: some cases in a push, all in an exhaustive run."""

import os

import pytest

from tark_lsp.trust_report.corpora import find_corpora
from tark_lsp.trust_report.promise import Promise
from tark_lsp.trust_report.report import lines_of, load_promises, measure
from tests.trust_report import promises

PROMISES = load_promises(promises)
pytestmark = pytest.mark.slow


def name_of(promise: Promise) -> str:
    return promise.measure.__module__.rpartition(".")[2]


async def check(promise: Promise, *, thorough: bool) -> None:
    row = await measure(promise, find_corpora(None, os.environ.get("TARK_SHARED", "../shared")), thorough=thorough)
    shown = "\n".join(lines_of(row))
    print(shown)
    if row.outcome is None and not row.is_error:
        assert not os.environ.get("CI") or "corp" in row.why_not, shown
        pytest.skip(row.why_not)
    assert not (row.is_error if promise.is_timed else row.is_broken), shown


@pytest.mark.parametrize("promise", PROMISES, ids=name_of)
async def test_a_promise(promise: Promise) -> None:
    await check(promise, thorough=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("promise", PROMISES, ids=name_of)
async def test_a_promise_with_all_cases(promise: Promise) -> None:
    await check(promise, thorough=True)
