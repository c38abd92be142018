"""No command escapes from the sandbox. tests/sandbox/test_escapes.py shows that each attempt succeeds without it."""

import tempfile
from pathlib import Path

from tark_lsp.trust_report.attempts.driver import PROTECTED, SYSTEM_PYTHON, VISIBLE, run_inside
from tark_lsp.trust_report.promise import Ground, NotMeasured, Outcome, Promise


async def measure(ground: Ground) -> Outcome:  # noqa: ARG001  # its folder would be hidden inside
    if not Path(SYSTEM_PYTHON).exists():
        raise NotMeasured(f"{SYSTEM_PYTHON} is not installed")
    with tempfile.TemporaryDirectory(dir=VISIBLE, ignore_cleanup_errors=True) as name:
        found = await run_inside(Path(name).resolve())
    if "why_not" in found:
        raise NotMeasured(str(found["why_not"]))
    results, changed = found["results"], found["changed"]
    assert isinstance(results, dict)
    assert isinstance(changed, list)
    failures = [name for name, result in results.items() if result == "done"]
    failures += [f"changed outside: {path}" for path in changed]
    if found["protected"] != PROTECTED:
        failures.append("a protected file was changed")
    return Outcome("attempts to write, read, connect, trace and persist outside", len(results), tuple(failures))


PROMISE = Promise(40, "No command gets out of the sandbox", measure)
